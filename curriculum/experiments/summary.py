"""What the runs of one cell come to: a mean and the interval that it lies in with 95%.

A share of runs gets Wilson's interval, which is right for few runs and at 0 and 1; any other
metric gets Student's. A metric that is the same in every run has no interval: it is what it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from curriculum.experiments.metrics import METRICS
from curriculum.experiments.plan import Experiment
from curriculum.experiments.results import Row
from curriculum.experiments.settings import Value

Z = 1.959964
# Two-sided 95% quantiles of Student's t, by degrees of freedom from 1 (standard tables).
T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)


@dataclass(frozen=True)
class Estimate:
    """A mean of `count` runs, from `low` to `high`."""

    mean: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Line:
    """One cell of the experiment: its levels, and an estimate of each metric reported."""

    cell: tuple[Value, ...]
    estimates: dict[str, Estimate]


# region: interval
def estimate(values: Sequence[float], is_share: bool = False) -> Estimate:
    """The mean of at least one value, with its 95% interval."""
    count = len(values)
    mean = math.fsum(values) / count
    if is_share and count > 1:
        centre = mean + Z * Z / (2 * count)
        half = Z * math.sqrt(mean * (1 - mean) / count + Z * Z / (4 * count * count))
        scale = 1 + Z * Z / count
        low, high = (centre - half) / scale, (centre + half) / scale
        return Estimate(mean, max(0.0, min(mean, low)), min(1.0, max(mean, high)), count)
    if count < 2 or min(values) == max(values):
        return Estimate(mean, mean, mean, count)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    half = t_quantile(count - 1) * math.sqrt(variance / count)
    return Estimate(mean, mean - half, mean + half, count)


def t_quantile(freedom: int) -> float:
    """Student's quantile; beyond the table the two leading terms of its expansion."""
    return T[freedom - 1] if freedom <= len(T) else Z + (Z**3 + Z) / (4 * freedom)


# endregion


def summarise(experiment: Experiment, rows: Iterable[Row]) -> list[Line]:
    """One line for each cell that has runs, in the order of the experiment."""
    by_cell: dict[tuple[Value, ...], list[Row]] = {}
    for row in rows:
        by_cell.setdefault(tuple(row[axis] for axis in experiment.axes), []).append(row)
    lines = []
    for cell in experiment.cells():
        found = {}
        for metric in experiment.metrics:
            values = [float(row[metric]) for row in by_cell.get(cell, ()) if metric in row]
            if values:
                found[metric] = estimate(values, METRICS[metric].is_share)
        if cell in by_cell:
            lines.append(Line(cell, found))
    return lines


def shown(found: Estimate | None) -> str:
    """An estimate as text: the mean, and its interval if it has one."""
    if found is None:
        return "-"
    if found.low == found.high:
        return short(found.mean)
    return f"{short(found.mean)} ({short(found.low)} to {short(found.high)})"


def short(value: float) -> str:
    """A number with three significant digits, or whole from 100 on."""
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def level(value: Value) -> str:
    """A level of a setting, as a file writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
