"""A plot as SVG, drawn by matplotlib: the same estimates give the same bytes on one machine.

One metric over one axis of the experiment, which stands evenly spaced whatever it is; a row of
points for every combination of the other axes, with its interval as a whisker at each. A line joins
them where the axis is one of numbers: between two words there is nothing. Text stays text.
What is not a line of data has the colour of the text round the picture, so that it can be read on
a dark page as well.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from io import StringIO
from typing import Any

from curriculum.experiments.metrics import METRICS
from curriculum.experiments.plan import Experiment
from curriculum.experiments.settings import Value
from curriculum.experiments.summary import Estimate, Line, level, short

INK = "#010203"  # stands for the colour of the text, which only the page knows
# Told apart also by people who do not see red and green alike (Okabe and Ito), and by marks.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", INK, "#8a8a8a")
MARKS = "os^Dvx"
DASHES = ("-", "--", ":", "-.")
LOOK: Any = {
    "svg.hashsalt": "experiment",
    "svg.fonttype": "none",
    "text.parse_math": False,  # a dollar sign in a name is a dollar sign
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so its widths are known anywhere
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "errorbar.capsize": 2.5,
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "grid.color"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), INK),
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.alpha": 0.15,
    "legend.frameon": False,
}


# region: plot
def plot(experiment: Experiment, lines: Sequence[Line], metric: str) -> str:
    """The metric as one SVG element; "" if no cell has it. Raises ImportError."""
    series = _series(experiment, lines, metric)
    if not series:
        return ""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # a home that cannot be written, ...
    from matplotlib import rc_context, rcdefaults, rcParams
    from matplotlib.figure import Figure

    axes = experiment.axes
    levels = experiment.levels[axes.index(experiment.x)] if axes else ("all runs",)
    is_scale = all(type(one) in (int, float) for one in levels)
    unit = METRICS[metric].unit
    title = f"{metric} ({unit})" if unit not in ("", metric) else metric
    with rc_context():
        rcdefaults()  # whatever the reader has set for other plots
        rcParams.update(LOOK)
        figure = Figure(figsize=(5.6, 2.8 + 0.19 * len(series)), layout="constrained")
        panel = figure.add_subplot(title=title, xlabel=experiment.x)
        for number, (name, row) in enumerate(series):
            shift = (number - (len(series) - 1) / 2) * min(0.05, 0.5 / len(series))
            found = [(at + shift, point) for at, point in enumerate(row) if point]
            panel.errorbar(
                [at for at, _ in found],
                [point.mean for _, point in found],
                [[p.mean - p.low for _, p in found], [p.high - p.mean for _, p in found]],
                label=name,
                color=COLOURS[number % len(COLOURS)],
                marker=MARKS[number % len(MARKS)],
                linestyle=DASHES[number // len(COLOURS) % len(DASHES)] if is_scale else "none",
            )
        panel.set_xticks(range(len(levels)), [level(one) for one in levels])
        panel.set_xlim(-0.5, len(levels) - 0.5)
        panel.yaxis.set_major_formatter(lambda value, _: short(value))
        low, high = panel.get_ylim()
        if METRICS[metric].is_share or not any(p.high for _, row in series for p in row if p):
            low, high = -0.03, 1.03
        panel.set_ylim(min(0.0, low), high)
        if len(series) > 1:
            figure.legend(loc="outside lower left", fontsize=9)
        file = StringIO()
        about = {"Title": f"{title} by {experiment.x}", "Date": None, "Creator": None}
        figure.savefig(file, format="svg", transparent=True, metadata=about)
    return as_element(file.getvalue())


# endregion


def as_element(document: str) -> str:
    """A document as an element of a page: no prologue, no names that other pictures have too."""
    svg = document[document.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r' <metadata>.*?</metadata>\n|(?<=<g) id="[^"]*"', "", svg, flags=re.S)
    return svg.replace("<svg", '<svg role="img"', 1)


def _series(
    experiment: Experiment, lines: Sequence[Line], metric: str
) -> list[tuple[str, list[Estimate | None]]]:
    """For each combination of the other axes: its name, and an estimate at each level of x."""
    axes = experiment.axes
    if not axes:
        found_all = [line.estimates.get(metric) for line in lines]
        return [("all runs", found_all)] if any(found_all) else []
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
