"""How far a class is: a bar on a terminal that has rich, else a line for each submission."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from curriculum.core.visible import escape
from curriculum.grading.submission.grading import Report

Show = Callable[[int, int, Report], None]


def progress_shown(stream: Any = None) -> Show:
    """Call it with how many are done, how many there are, and the newest report."""
    stream = stream or sys.stderr
    if stream.isatty():
        try:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
        except ImportError:
            pass
        else:
            bar = Progress(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            task = bar.add_task("grading")
            bar.start()

            def draw(done: int, count: int, report: Report) -> None:
                bar.update(task, completed=done, total=count, refresh=True)
                if done == count:
                    bar.stop()

            return draw
    began = time.monotonic()

    def tell(done: int, count: int, report: Report) -> None:
        told = report.fault or f"{report.passed} of {len(report.results)} passed"
        line = f"{done}/{count}  {time.monotonic() - began:.0f} s  {report.submission}: {told}"
        print(_one_line(line), file=stream, flush=True)

    return tell


def _one_line(text: str) -> str:
    return escape(text).replace("\n", " ").replace("\t", " ")
