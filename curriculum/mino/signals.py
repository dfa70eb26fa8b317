"""What a signal does: the first Ctrl+C ends the turn, a second one the program, SIGTERM all of it.

While a turn runs, a signal only raises the cancel token: every step looks at it, so nothing is
torn in the middle. While a person is being waited for, it ends the waiting by an exception. Several
Ctrl+C at once while a turn runs (a key that bounces) are one. A signal that was ignored when mino
started, as `nohup` and a script's background jobs have it, stays ignored. A terminal that was
stopped (Ctrl+S) or a pipe that nobody reads holds up no end: what is being written is given up.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from curriculum.core.deadline import DeadlineToken
from curriculum.core.seams import CancelToken

BOUNCE_SECONDS = 0.1
ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
STUCK_SECONDS = 1.0  # how long after such a signal a write may wait for its reader
NUDGE_SECONDS = 0.2  # between the pushes from then on: there may be several writes


class TerminatedError(BaseException):
    """Somebody ends the program: not an Exception, as no step may carry on after it.

    Its one argument is the number of the signal.
    """


class StuckError(OSError):
    """Nobody takes what is being written, and the program is to end."""


class ContinuedError(Exception):
    """The program was stopped while it waited for a line, and goes on: the screen has changed."""


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
        self.continued = 0  # how often the program was stopped (Ctrl+Z) and went on
        self._last = -BOUNCE_SECONDS  # when a signal last ended something
        self._waiting = self._for_line = False
        self._writing = 0

    # region: handle
    def install(self) -> None:
        """Handle Ctrl+C, SIGTERM and SIGHUP from now on, unless they are ignored."""
        handlers = {signal.SIGINT: self._interrupt} | dict.fromkeys(ENDING, self._end)
        for number, handler in handlers.items():
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, handler)
        signal.signal(signal.SIGCONT, self._continue)
        signal.signal(signal.SIGALRM, self._nudge)
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        pusher = threading.Thread(
            target=self._push, args=(reader, threading.get_ident()), daemon=True
        )
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        pusher.start()  # with all signals blocked: they are to interrupt this thread
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

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
        now = time.monotonic()
        again, self.ending = bool(self.ending) and now - self._last >= BOUNCE_SECONDS, number
        self._last = now
        self.token.cancel("harness")
        if self._waiting or again:
            raise TerminatedError(number)

    def _continue(self, number: int, frame: FrameType | None) -> None:
        self.continued += 1
        if self._for_line and not self.ending:  # a terminal that is closed sends SIGHUP and this
            raise ContinuedError

    def _nudge(self, number: int, frame: FrameType | None) -> None:
        if self.ending and self._writing:
            raise StuckError("the program is to end, and nobody takes what it says")

    # endregion

    def _push(self, reader: int, main: int) -> None:
        """Once a signal that ends the program has come in at `reader`, push the `main` thread on.

        A write that is stuck is interrupted, so that `_nudge` can give it up. readline goes back
        to waiting after one, without a look at Python's handlers: so it is woken by the same signal
        again. (By another one, both handlers would be due at once, and `input` stands only one.)
        """
        while (number := int.from_bytes(os.read(reader, 1))) not in ENDING:
            pass
        time.sleep(STUCK_SECONDS)
        while True:
            signal.pthread_kill(main, signal.SIGALRM if self.ending else number)
            time.sleep(NUDGE_SECONDS)

    def release(self) -> None:
        """All is kept, and only words are left to say: a signal ends the program at once."""
        for number in (signal.SIGINT, *ENDING):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)

    def hang_up(self) -> None:
        """The terminal is gone: the same as SIGHUP, seen from inside a turn."""
        self.ending = self.ending or signal.SIGHUP
        self.token.cancel("harness")

    def begin_turn(self) -> None:
        """A turn begins: Ctrl+C means this one. Raises TerminatedError if the end was asked for."""
        self.interrupts = 0
        self.token.renew()
        self.check_ending()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Around a write: it raises StuckError if it holds up the end of the program."""
        self._writing += 1
        try:
            yield
        finally:
            self._writing -= 1

    @contextmanager
    def waiting(self, for_line: bool = False) -> Iterator[None]:
        """Around waiting for a person: a signal raises KeyboardInterrupt or TerminatedError.

        `for_line`: ContinuedError, too, when the program was stopped and goes on.
        """
        try:
            self._waiting, self._for_line = True, for_line
            self.check_ending()
            if self.token.by == "user":  # it came just before
                raise KeyboardInterrupt
            yield
        finally:
            self._waiting = self._for_line = False

    def check_ending(self) -> None:
        """Raise TerminatedError if the end of the program was asked for."""
        if self.ending:
            raise TerminatedError(self.ending)
