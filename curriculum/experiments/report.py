"""What an experiment came to: a table on the terminal and in files, plots, a page with all of it.

The files hold no time and no machine, and so are the same bytes for the same runs. The page needs
no network: its plots are in it, and it has no script.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from curriculum.core.visible import escape as visible
from curriculum.experiments.metrics import METRICS
from curriculum.experiments.plan import Experiment
from curriculum.experiments.plot import plot
from curriculum.experiments.results import Row, as_csv, as_parquet, replace_file
from curriculum.experiments.settings import SETTINGS, ExperimentError
from curriculum.experiments.summary import Line, level, shown, summarise

STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;"
    "padding:0 1rem;color:#111;background:#fff}div{overflow-x:auto}"
    "table{border-collapse:collapse;font-size:14px}"
    "th,td{border-bottom:1px solid #8888;padding:.25rem .75rem;text-align:left;white-space:nowrap}"
    "dl{overflow-wrap:anywhere}dt{font-weight:bold}"
    "svg{display:block;width:100%;max-width:40rem;height:auto;margin:1rem 0}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#16181d}}"
)
METHOD = (
    "Each cell is the mean of its runs; in brackets the interval that holds the true mean with 95% "
    "(Wilson for shares of runs, Student otherwise; none if all runs agree). Repetition n has the "
    "same seed in every cell. Every trace was validated."
)


# region: write
def write_report(folder: Path, experiment: Experiment, rows: Sequence[Row]) -> list[Line]:
    """Write the tables, plots/*.svg and report.html. Raises ExperimentError.

    Whatever needs a library that is not installed is left out, and one line says so.
    """
    lines = summarise(experiment, rows)
    files, absent = {"results.csv": as_csv(rows, experiment.axes)}, []
    extras: dict[str, Callable[[], dict[str, bytes]]] = {
        "results.parquet (pyarrow)": lambda: {"results.parquet": as_parquet(rows, experiment.axes)},
        "plots (matplotlib)": lambda: draw(experiment, lines),
    }
    for what, make in extras.items():
        try:
            files |= make()
        except ImportError:
            absent.append(what)
    if absent:
        how = "run `make locked` in a checkout, then `report` with .venv/bin/python"
        print(f"experiments: without {' and '.join(absent)}; {how}", file=sys.stderr)
    pictures = [data.decode() for name, data in files.items() if name.endswith(".svg")]
    files["report.html"] = as_html(experiment, lines, pictures, len(rows)).encode()
    try:
        (folder / "plots").mkdir(exist_ok=True)
        for name, data in files.items():
            replace_file(folder / name, data)
    except OSError as fault:
        raise ExperimentError(f"{folder}: {fault.strerror}; make room and try again", 74) from None
    return lines


def draw(experiment: Experiment, lines: Sequence[Line]) -> dict[str, bytes]:
    """A picture of each metric that any run has. Raises ImportError."""
    found = {metric: plot(experiment, lines, metric) for metric in experiment.metrics}
    return {f"plots/{metric}.svg": svg.encode() for metric, svg in found.items() if svg}


# endregion


def as_html(experiment: Experiment, lines: Sequence[Line], plots: Sequence[str], runs: int) -> str:
    """The page."""
    total = len(experiment.tasks())
    head = "".join(f"<th scope=col>{escape(name)}</th>" for name in _header(experiment))
    body = "".join(
        "<tr>"
        + "".join(f"<td>{escape(text)}</td>" for text in _cells(experiment, line))
        + "</tr>\n"
        for line in lines
    )
    knobs = {**experiment.fixed}
    fixed = "".join(
        f"<dt>{escape(name)} = {escape(level(value))}</dt><dd>{escape(SETTINGS[name].about)}</dd>\n"
        for name, value in knobs.items()
        if name != "model.cassette"
    )
    axes = "".join(
        f"<dt>{escape(name)} = {escape(', '.join(map(level, levels)))}</dt>"
        f"<dd>{escape(SETTINGS[name].about)}</dd>\n"
        for name, levels in zip(experiment.axes, experiment.levels, strict=True)
    )
    told = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(METRICS[name].about)}</dd>\n"
        for name in experiment.metrics
    )
    about = "".join(f"<p>{_prose(part)}</p>\n" for part in experiment.about.split("\n\n") if part)
    part = "" if runs == total else f"<p><strong>{runs} of {total} runs are done.</strong></p>\n"
    shown_plots = f"<h2>Plots</h2>\n{''.join(plots)}" if plots else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width"><title>{escape(experiment.name)}'
        f"</title>\n<style>{STYLE}</style></head>\n<body><main>\n"
        f"<h1>{escape(experiment.question)}</h1>\n{about}{part}"
        f"<h2 id=results>Results</h2>\n<div tabindex=0 role=region aria-labelledby=results>"
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
        f"<p>{escape(METHOD)} {runs} runs, {experiment.repetitions} a cell, seed "
        f"{experiment.seed}.</p>\n{shown_plots}"
        f"<h2>What was measured</h2>\n<dl>{told}</dl>\n<h2>What was varied</h2>\n<dl>{axes}</dl>\n"
        f"<h2>What stayed the same</h2>\n<dl>{fixed}</dl>\n</main></body></html>\n"
    )


def _prose(text: str) -> str:
    """Escaped text, with names in backquotes set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _header(experiment: Experiment) -> list[str]:
    units = [METRICS[name].unit for name in experiment.metrics]
    told = [
        f"{n} ({u})" if u and u != n else n for n, u in zip(experiment.metrics, units, strict=True)
    ]
    return [*experiment.axes, "runs", *told]


def _cells(experiment: Experiment, line: Line) -> list[str]:
    runs = max((found.count for found in line.estimates.values()), default=0)
    found = [shown(line.estimates.get(metric)) for metric in experiment.metrics]
    return [*map(level, line.cell), str(runs), *found]


# region: terminal
def show_summary(experiment: Experiment, lines: Sequence[Line]) -> None:
    """The table on standard output, with rich where it is installed.

    On a terminal that has no room for it each line of it is a block, so that nothing is cut off.
    """
    header = _header(experiment)
    table = [[visible(text) for text in _cells(experiment, line)] for line in lines]
    print(visible(experiment.question))
    widths = [max(map(len, column)) for column in zip(header, *table, strict=True)]
    if sys.stdout.isatty():
        frame = 3 * len(widths) + 1  # of rich: a line and two blanks for each column, a line
        if sum(widths) + frame > shutil.get_terminal_size().columns:
            _show_blocks(header, table, len(experiment.axes))
            return
        try:
            from rich.console import Console
            from rich.table import Table
            from rich.text import Text
        except ImportError:
            pass
        else:
            shown_table = Table(*header)
            for row in table:
                shown_table.add_row(*map(Text, row))
            Console().print(shown_table)
            return
    for row in (header, *table):
        print(
            "  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
        )


def _show_blocks(header: Sequence[str], table: Sequence[Sequence[str]], axes: int) -> None:
    """Each row under the levels of its cell, a value a line."""
    width = max(map(len, header[axes:]))
    for row in table:
        cell = ", ".join(f"{a} {v}" for a, v in zip(header[:axes], row[:axes], strict=True))
        print(f"\n{cell or 'all runs'}")
        for name, text in zip(header[axes:], row[axes:], strict=True):
            print(f"  {name:<{width}}  {text}")
    print()


# endregion
