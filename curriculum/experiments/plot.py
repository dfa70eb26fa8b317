"""A plot as SVG, written by hand: the same estimates give the same bytes, everywhere.

One metric over one axis of the experiment, which stands evenly spaced whatever it is; a line for
every combination of the other axes, with its interval as a whisker at each point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from curriculum.experiments.metrics import METRICS
from curriculum.experiments.plan import Experiment
from curriculum.experiments.settings import Value
from curriculum.experiments.summary import Estimate, Line, level, short

# Told apart also by people who do not see red and green alike (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
DASHES = ("", "6 3", "2 3", "8 3 2 3")
WIDTH, HEIGHT, LEFT, TOP, BOTTOM, LEGEND = 720, 300, 76, 34, 52, 18


# region: plot
def plot(experiment: Experiment, lines: Sequence[Line], metric: str) -> str:
    """The metric as one SVG document; "" if no cell has it."""
    series = _series(experiment, lines, metric)
    points = [point for _, line in series for point in line if point]
    if not points:
        return ""
    axes = experiment.axes
    levels = experiment.levels[axes.index(experiment.x)] if axes else ("all runs",)
    low, high, step = _scale(points, METRICS[metric].is_share)
    height = HEIGHT + LEGEND * len(series)
    inner = WIDTH - LEFT - 20

    def x(at: int, shift: float = 0.0) -> float:
        return LEFT + inner * (at + 0.5) / len(levels) + shift

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low)

    unit = METRICS[metric].unit
    title = f"{metric} ({unit})" if unit not in ("", metric) else metric
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12">',
        f"<title>{escape(f'{title} by {experiment.x}')}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="18" font-size="14">{escape(title)}</text>',
    ]
    for number in range(round((high - low) / step) + 1):
        value = low + step * number
        out.append(
            f'<path d="M{LEFT} {y(value):.1f}H{WIDTH - 20}" stroke="#dddddd"/>'
            f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{short(value)}</text>'
        )
    for at, name in enumerate(levels):
        out.append(
            f'<text x="{x(at):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
            f"{escape(level(name))}</text>"
        )
    out.append(
        f'<text x="{LEFT + inner / 2:.1f}" y="{HEIGHT - BOTTOM + 38}" text-anchor="middle" '
        f'fill="#555555">{escape(experiment.x)}</text>'
    )
    for number, (name, line) in enumerate(series):
        colour = COLOURS[number % len(COLOURS)]
        dash = DASHES[number // len(COLOURS) % len(DASHES)]
        shift = (number - (len(series) - 1) / 2) * min(6.0, inner / len(levels) / len(series) / 2)
        placed = [(x(at, shift), point) for at, point in enumerate(line) if point]
        way = "L".join(f"{px:.1f} {y(point.mean):.1f}" for px, point in placed)
        style = f'fill="none" stroke="{colour}"' + (f' stroke-dasharray="{dash}"' if dash else "")
        out.append(f'<path d="M{way}" {style} stroke-width="1.5"/>')
        for px, point in placed:
            out.append(
                f'<path d="M{px:.1f} {y(point.low):.1f}V{y(point.high):.1f}" stroke="{colour}"/>'
                f'<circle cx="{px:.1f}" cy="{y(point.mean):.1f}" r="3.5" fill="{colour}"/>'
            )
        row = HEIGHT + LEGEND * number
        out.append(
            f'<path d="M{LEFT} {row}h24" {style} stroke-width="2"/>'
            f'<text x="{LEFT + 32}" y="{row + 4}">{escape(name)}</text>'
        )
    return "\n".join([*out, "</svg>"]) + "\n"


# endregion


def _series(
    experiment: Experiment, lines: Sequence[Line], metric: str
) -> list[tuple[str, list[Estimate | None]]]:
    """For each combination of the other axes: its name, and an estimate at each level of x."""
    axes = experiment.axes
    if not axes:
        return [("all runs", [line.estimates.get(metric) for line in lines])]
    at = axes.index(experiment.x)
    levels = experiment.levels[at]
    found: dict[tuple[Value, ...], list[Estimate | None]] = {}
    for line in lines:
        rest = line.cell[:at] + line.cell[at + 1 :]
        row = found.setdefault(rest, [None] * len(levels))
        row[levels.index(line.cell[at])] = line.estimates.get(metric)
    others = axes[:at] + axes[at + 1 :]
    return [
        (", ".join(f"{a} {level(v)}" for a, v in zip(others, rest, strict=True)) or "all runs", row)
        for rest, row in found.items()
        if any(row)
    ]


def _scale(points: Sequence[Estimate], is_share: bool) -> tuple[float, float, float]:
    """(low, high, step) of the y axis: from 0 if nothing is below, in round steps."""
    if is_share:
        return 0.0, 1.0, 0.25
    low = min(0.0, *(point.low for point in points))
    high = max(0.0, *(point.high for point in points)) or 1.0
    rough = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough)
    return math.floor(low / step) * step, math.ceil(high / step) * step, step
