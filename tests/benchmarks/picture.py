"""All comparisons as one SVG: a point for each ratio, its middle half, and its aim."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import Any

PEER, OTHER, AIM = "#0072b2", "#595959", "#d55e00"


def draw(ratios: Sequence[dict[str, Any]]) -> str:
    """The picture; left of 1 ours takes less."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    look = {"svg.hashsalt": "bench", "svg.fonttype": "none", "font.size": 8}
    with rc_context(look):
        figure = Figure(figsize=(9, 1 + 0.19 * len(ratios)), layout="constrained")
        panel = figure.add_subplot(title="ours takes so many times as long (or as much)")
        for at, found in enumerate(ratios):
            colour = PEER if found["is_peer"] else OTHER
            ends = [[found["ratio"] - found["low"]], [found["high"] - found["ratio"]]]
            panel.errorbar([found["ratio"]], [at], xerr=ends, fmt="o", color=colour, markersize=4)
            if found["aim"] is not None:
                panel.plot([found["aim"]], [at], "|", color=AIM, markersize=10, markeredgewidth=2)
        names = [f"{found['measure']} / {found['against']}" for found in ratios]
        panel.set_yticks(range(len(ratios)), names)
        panel.set_ylim(len(ratios) - 0.5, -0.5)
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        panel.axvline(1, color=OTHER, linewidth=0.8)
        panel.grid(axis="x", alpha=0.3)
        panel.set_xlabel(
            "less than 1: ours takes less; blue: beside a peer, grey: beside a limit, bar: the aim"
        )
        file = StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()
