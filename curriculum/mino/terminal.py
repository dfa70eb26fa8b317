"""Where a person types: chat lines with editing, and answers that were typed after their question.

Both come from one terminal. An answer is read from the kernel alone, after whatever was typed
before the question has been thrown away; nothing else in the process holds input. That is why
lines are edited with readline and not with prompt_toolkit: readline takes single bytes up to the
end of the line. prompt_toolkit reads ahead: of `question, Enter, y, Enter` pasted at once, 3.0.53
left nothing in the terminal and kept `y` in a store of its own, which no flush of it reaches.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import termios
from collections.abc import Callable
from functools import partial

from curriculum.core.errors import CancelledError
from curriculum.mino.signals import ContinuedError, Signals, TerminatedError

READ_BYTES = 4096
LINE_BYTES = 4095  # the kernel drops what is beyond and keeps the Enter (termios(3))
TOO_LONG = "a line too long to be read whole"  # and so no answer: what was cut off may say no
LOOK_SECONDS = 0.1  # how late it is noticed that the time is up
IFLAG, LFLAG = 0, 3  # places in what tcgetattr returns


class ChangedError(Exception):
    """What was on the screen may not be there any more: it has to be shown again."""


class Terminal:
    """The terminal of standard input and output. Make it only when both are one."""

    def __init__(self, signals: Signals, prompt: str) -> None:
        import readline

        readline.parse_and_bind("set disable-completion on")
        readline.set_auto_history(False)
        self._readline = readline
        self._signals = signals
        self._prompt = prompt
        self._fd = sys.stdin.fileno()
        self._found = termios.tcgetattr(self._fd)
        self._settings = termios.tcgetattr(self._fd)
        self._settings[IFLAG] |= termios.ICRNL
        self._settings[LFLAG] |= termios.ICANON | termios.ECHO | termios.ISIG

    def restore(self) -> None:
        """Leave the terminal as it was found."""
        with contextlib.suppress(termios.error):  # it may be gone
            termios.tcsetattr(self._fd, termios.TCSANOW, self._found)

    # region: line
    def read_line(self) -> str | None:
        """The next thing the person says, perhaps of several pasted lines; None at the end.

        Raises KeyboardInterrupt and TerminatedError.
        """
        while True:
            try:
                with self._signals.waiting(for_line=True):
                    line = input(self._prompt)
                break
            except (ContinuedError, SystemError):  # this: several signals came at once in `input`
                self._signals.check_ending()
                typed = self._readline.get_line_buffer()  # goes behind the next prompt
                self._readline.set_startup_hook(partial(self._insert, typed))
            except (EOFError, OSError):
                self._check_there()
                return None
        self.remember(line)
        return line

    # endregion

    def _insert(self, text: str) -> None:
        self._readline.set_startup_hook(None)
        self._readline.insert_text(text)

    def remember(self, line: str) -> None:
        """Let the person get at an earlier line with the arrow keys."""
        if line.strip() and line.isprintable():
            with contextlib.suppress(UnicodeError):  # readline has the locale's encoding
                self._readline.add_history(line)

    # region: answer
    def read_answer(
        self, ready: Callable[[], None], has_changed: Callable[[], bool] = lambda: False
    ) -> str | None:
        """One whole line typed from now on; None at the end of input.

        Call it when the question is on the screen. Type-ahead is thrown away first, then `ready`
        is called; the tail of a pasted text is thrown away afterwards. Raises KeyboardInterrupt
        and TerminatedError, and, also if an answer came in the meantime, ChangedError when the
        screen `has_changed` and CancelledError when the turn's time is up.
        """

        def check() -> None:
            self._signals.token.check()
            if has_changed():
                raise ChangedError

        with self._signals.waiting():
            try:
                termios.tcsetattr(self._fd, termios.TCSAFLUSH, self._settings)
                ready()
                line, size = b"", 0
                while not line.endswith(b"\n"):
                    while not select.select([self._fd], [], [], LOOK_SECONDS)[0]:
                        check()
                    data = os.read(self._fd, READ_BYTES)
                    if not data:
                        self._check_there()
                        return None
                    size += len(data)
                    line = line[:READ_BYTES] + data
                termios.tcflush(self._fd, termios.TCIFLUSH)
                check()
            except (CancelledError, ChangedError):
                termios.tcflush(self._fd, termios.TCIFLUSH)
                raise
            except (OSError, termios.error):
                self._check_there()
                raise
        return line.decode("utf-8", "replace") if size < LINE_BYTES else TOO_LONG

    # endregion

    def _check_there(self) -> None:
        """Raise TerminatedError if the terminal is gone."""
        try:
            termios.tcgetattr(self._fd)
        except termios.error:
            self._signals.hang_up()
            raise TerminatedError(self._signals.ending) from None
