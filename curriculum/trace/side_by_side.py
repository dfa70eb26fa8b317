"""Many files validated at a time, each in a process of its own; the reports come in order.

Standard input has one reader: it is validated in this process when its turn comes.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache

from curriculum.trace.command_validate import validate_file
from curriculum.trace.engines import Engine, make_engine
from curriculum.trace.validate import Options, Report

Result = Report | tuple[str, int]


def validate_side_by_side(
    files: Sequence[str], engine: str, options: Options, jobs: int
) -> Iterator[Result]:
    """The result of each file, `jobs` at a time."""
    # Not forked: a fork would share what this process has read of standard input.
    workers = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin)
    try:
        waiting = [
            None if name == "-" else workers.submit(_work, name, engine, options) for name in files
        ]
        for name, future in zip(files, waiting, strict=True):
            yield future.result() if future else validate_file(name, _engine(engine), options)
    finally:
        workers.shutdown(wait=True, cancel_futures=True)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    gc.set_threshold(100_000)


@cache
def _engine(name: str) -> Engine:
    return make_engine(name)


def _work(name: str, engine: str, options: Options) -> Result:
    return validate_file(name, _engine(engine), options)
