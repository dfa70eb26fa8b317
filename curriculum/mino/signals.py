"""What a signal does: the first Ctrl+C ends the turn, a second one the program, SIGTERM all of it.

While a turn runs, a signal only raises the cancel token: every step looks at it, so nothing is
torn in the middle. While a person is being waited for, it ends the waiting by an exception. Several
Ctrl+C at once while a turn runs (a key that bounces) are one.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from curriculum.core.deadline import DeadlineToken
from curriculum.core.seams import CancelToken

BOUNCE_SECONDS = 0.1
ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class TerminatedError(BaseException):
    """Somebody ends the program: not an Exception, as no step may carry on after it.

    Its one argument is the number of the signal.
    """


class TurnToken(CancelToken):
    """A cancel token of one turn after the other: raised for the rest of a turn, then renewed.

    It is raised by hand, or by the deadline of the turn.
    """

    def __init__(self) -> None:
        super().__init__()
        self._deadline: DeadlineToken | None = None

    def renew(self) -> None:
        """A new turn begins, without a deadline."""
        self.by = self._deadline = None

    def take_deadline(self, deadline: DeadlineToken) -> None:
        """From now on this turn ends when that token says so, too."""
        self._deadline = deadline

    @property
    def cancelled(self) -> bool:
        """Whether somebody, or the clock, has asked for the end."""
        if self.by is None and self._deadline and self._deadline.cancelled:
            self.by = "policy"
        return self.by is not None

    def check(self) -> None:
        """Raise CancelledError if the end was asked for; its message says who or what did."""
        if self.cancelled and self._deadline and self.by == "policy":
            self._deadline.check()
        super().check()


class Signals:
    """The signals of one program. `ending` is the number of the signal that ends it, or 0."""

    def __init__(self, token: TurnToken) -> None:
        self.token = token
        self.ending = 0
        self.interrupts = 0  # Ctrl+C in this turn
        self._last = -BOUNCE_SECONDS  # when Ctrl+C last ended a turn
        self._waiting = False

    # region: handle
    def install(self) -> None:
        """Handle Ctrl+C, SIGTERM and SIGHUP from now on."""
        signal.signal(signal.SIGINT, self._interrupt)
        for number in ENDING:
            signal.signal(number, self._end)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._last < BOUNCE_SECONDS:
            return
        self.interrupts += 1
        if self._waiting:
            raise KeyboardInterrupt
        self._last = now
        self.token.cancel("user")
        if self.interrupts > 1:  # whatever does not look at the token is left by force
            raise KeyboardInterrupt

    def _end(self, number: int, frame: FrameType | None) -> None:
        again, self.ending = bool(self.ending), number
        self.token.cancel("harness")
        if self._waiting or again:
            raise TerminatedError(number)

    # endregion

    def hang_up(self) -> None:
        """The terminal is gone: the same as SIGHUP, seen from inside a turn."""
        self.ending = self.ending or signal.SIGHUP
        self.token.cancel("harness")

    def begin_turn(self) -> None:
        """A turn begins: Ctrl+C means this one. Raises TerminatedError if the end was asked for."""
        self.interrupts = 0
        self.token.renew()
        self._check_ending()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Around waiting for a person: a signal raises KeyboardInterrupt or TerminatedError."""
        try:
            self._waiting = True
            self._check_ending()
            if self.token.by == "user":  # it came just before
                raise KeyboardInterrupt
            yield
        finally:
            self._waiting = False

    def _check_ending(self) -> None:
        if self.ending:
            raise TerminatedError(self.ending)
