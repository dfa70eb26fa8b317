"""Ctrl+C, which a terminal sends to every process of a command: only the first one is to hear it.

A process is born with the signal mask of the thread that starts it. So SIGINT is blocked while
children are started, and they never hear it, not even while they are still importing; here it is
heard as soon as the mask is as before.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any


@contextmanager
def deaf_children() -> Iterator[None]:
    """Processes and threads that are started inside do not hear Ctrl+C."""
    _start_tracker()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_tracker() -> None:
    """Before the mask is set: starting it, Python unblocks SIGINT.

    It has the warning flags of this process. If this one is killed the tracker takes away what the
    pool had of the system, and there is nothing in that to warn of.
    """
    flag = "ignore:resource_tracker:UserWarning"
    sys.warnoptions.append(flag)
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.remove(flag)


def dask_setup(worker: Any) -> None:
    """In a worker of a cluster of ours, which names this module as its `preload`.

    It hears Ctrl+C and does nothing; what it starts itself is born with a mask and a handler like
    those of any other process.
    """
    signal.signal(signal.SIGINT, lambda number, frame: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
