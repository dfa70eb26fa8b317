"""A Dask cluster: reached or told why not, waited for with an ear for Ctrl+C, known to be lost."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from importlib import import_module
from typing import Any

from curriculum.experiments.interrupts import deaf_children

CONNECT_SECONDS = 5  # that a scheduler may take to answer
LOOK_SECONDS = 0.02  # between two looks for what has ended
# What a client raises for a scheduler that went, in the order of how soon it noticed.
GONE = (OSError, CancelledError, TimeoutError, RuntimeError)


class ClusterError(Exception):
    """Why there is no cluster to work on; one line."""


class Connection:
    """A client of the scheduler at that address; `local` is a cluster on this machine.

    Ctrl+C interrupts only `next_ended`, or the opening once that is done: distributed drops a
    KeyboardInterrupt that Python raises in one of its finalizers. A second one is raised at once.
    """

    def __init__(self, address: str, processes: int = 1) -> None:
        """Raises ClusterError, KeyboardInterrupt."""
        self._cluster: Any = None
        self._is_interrupted = False
        self._handlers = {
            number: signal.signal(number, self._interrupt)
            for number in (signal.SIGINT, signal.SIGTERM)
            if signal.getsignal(number) is signal.default_int_handler
        }
        try:
            self._connect(address, processes)
        except BaseException:
            self._restore()
            raise
        if self._is_interrupted:
            self.close()
            raise KeyboardInterrupt

    def _connect(self, address: str, processes: int) -> None:
        try:
            self._distributed: Any = import_module("distributed")
        except ImportError:
            raise ClusterError(
                "--dask needs the package distributed; run `make locked` in a checkout, then the"
                " same command with .venv/bin/python"
            ) from None
        for name in logging.root.manager.loggerDict:
            if name.startswith("distributed"):
                logging.getLogger(name).setLevel(logging.CRITICAL)  # we say it ourselves
        try:
            if address == "local":
                with deaf_children():
                    self._cluster = self._distributed.LocalCluster(
                        n_workers=processes,
                        threads_per_worker=1,
                        dashboard_address=None,
                        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # 8787 may be taken
                        silence_logs=logging.CRITICAL,
                        preload=["curriculum.experiments.interrupts"],
                    )
            self.client: Any = self._distributed.Client(
                self._cluster or address, timeout=CONNECT_SECONDS, set_as_default=False
            )
        except (OSError, ValueError, TimeoutError) as fault:
            raise ClusterError(
                f"--dask {address}: no scheduler answers ({fault}); start one"
            ) from None
        self._ended = self._distributed.as_completed(loop=self.client.loop)

    def submit(self, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """The future of a call, which `next_ended` gives when it has one."""
        future = self.client.submit(call, *arguments, **options)
        self._ended.add(future)
        return future

    def next_ended(self) -> Any:
        """Waits for one of the futures. Raises KeyboardInterrupt."""
        while True:
            if self._is_interrupted:
                raise KeyboardInterrupt
            if self._ended.has_ready():
                return next(self._ended)
            time.sleep(LOOK_SECONDS)

    def close(self) -> None:
        """Also one that is lost."""
        try:
            with suppress(*GONE):  # nobody may be there to hear it
                self.client.close()
            if self._cluster:
                self._cluster.close()
        finally:
            self._restore()

    def _interrupt(self, number: int, frame: object) -> None:
        self._is_interrupted = True
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
