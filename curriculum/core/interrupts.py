"""Ctrl+C in a run: it ends what the loop waits for, and never tears a step of the loop itself.

Python raises KeyboardInterrupt between any two instructions, also between a record and the
message that follows from it. So while a run lasts, Ctrl+C only raises the cancel token, which
every step looks at; around foreign code that may take its time (a model, a tool, a person) it is
raised as ever. Only Python's own handler is replaced, and only in the main thread.
"""

from __future__ import annotations

# The module `signal` gives these names enumerations, which cost more to import than all of this.
from _signal import (  # type: ignore[import-not-found]
    SIGINT,
    default_int_handler,
    getsignal,
    signal,
)

from curriculum.core.values import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec, TypeVar

    from curriculum.core.seams import CancelToken

    P = ParamSpec("P")
    T = TypeVar("T")


class Interrupts:
    """Used as a context around a run; `call` is for foreign code in it."""

    def __init__(self, cancel: CancelToken) -> None:
        self._cancel = cancel
        self._depth = 0
        self._is_ours = False

    def __enter__(self) -> None:
        self._depth += 1
        if self._depth == 1:
            self._is_ours = getsignal(SIGINT) is default_int_handler
            self.close()

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._open()
            self._is_ours = False

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `function` returns; Ctrl+C while it runs is a KeyboardInterrupt."""
        self._open()
        try:
            return function(*args, **kwargs)
        finally:
            self.close()

    def close(self) -> None:
        """From now on Ctrl+C only raises the token."""
        if self._is_ours:
            try:
                signal(SIGINT, self._raise_token)
            except ValueError:  # not the main thread: Ctrl+C does not come here
                self._is_ours = False

    def _open(self) -> None:
        if self._is_ours:
            signal(SIGINT, default_int_handler)

    def _raise_token(self, number: int, frame: object) -> None:
        self._cancel.cancel("user")
