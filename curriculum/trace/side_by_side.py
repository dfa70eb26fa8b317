"""Many files validated at a time, each in a process of its own; the reports come in order.

Standard input has one reader: it is validated in this process when its turn comes. Ctrl+C reaches
this process only; whatever ends it early, its workers are killed, since a file may never end.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache

from curriculum.trace.command_validate import validate_file
from curriculum.trace.engines import Engine, make_engine
from curriculum.trace.inputs import IO_FAULT
from curriculum.trace.report import shown_name
from curriculum.trace.validate import Options, Report

Result = Report | tuple[str, int]


def validate_side_by_side(
    files: Sequence[str], engine: str, options: Options, jobs: int
) -> Iterator[tuple[str, Result]]:
    """Each file with its result, `jobs` at a time."""
    # Not forked: a fork would share what this process has read of standard input.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _begin) as workers:
        try:
            with _interrupts_held():  # a worker that is only starting would show a traceback
                waiting = [
                    (name, None if name == "-" else workers.submit(_work, name, engine, options))
                    for name in files
                ]
            for name, future in waiting:
                try:
                    result = future.result() if future else _work(name, engine, options)
                except BrokenProcessPool:
                    said = f"{shown_name(name)}: a process that validates was killed"
                    result = said, IO_FAULT
                yield name, result
        except BaseException:
            for worker in multiprocessing.active_children():
                worker.kill()
            raise


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl+C comes after this. Processes that start meanwhile never see it: they inherit that."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    gc.set_threshold(100_000)


@cache
def _engine(name: str) -> Engine:
    return make_engine(name)


def _work(name: str, engine: str, options: Options) -> Result:
    return validate_file(name, _engine(engine), options)
