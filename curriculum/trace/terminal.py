"""The terminal while the player has it: keys in, pictures out, and everything put back at the end.

However the player ends (quit, a signal, a fault), the terminal is left as it was found. Only this
module moves the cursor; what it is given to show has no sequences but colours.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from curriculum.trace.inputs import NO_INPUT, RefusedError

ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J"
LEAVE = "\x1b[0m\x1b[?25h\x1b[?1049l"
NAMES = {
    b"\x1b[A": "up",
    b"\x1b[B": "down",
    b"\x1b[C": "right",
    b"\x1b[D": "left",
    b"\x1b[H": "home",
    b"\x1b[F": "end",
    b"\x1b[1~": "home",
    b"\x1b[4~": "end",
    b"\x1b[5~": "pageup",
    b"\x1b[6~": "pagedown",
    b"\r": "enter",
    b"\n": "enter",
    b" ": "space",
    b"\x04": "q",
}
BEGINNINGS = frozenset(code[:length] for code in NAMES for length in range(1, len(code)))
KEY_SECONDS = 0.1


class ScreenTerminal:
    """A terminal in the hands of the player."""

    def __init__(self, keys: int) -> None:
        self._keys, self._pending = keys, b""
        self._saved: list[Any] = termios.tcgetattr(keys)
        self._changed, self._change = os.pipe()  # the size, or all of the screen: draw anew
        os.set_blocking(self._changed, False)
        os.set_blocking(self._change, False)

    def note_change(self) -> None:
        """The picture has to be drawn anew. May be called by a signal handler."""
        with suppress(BlockingIOError):  # then it was noted often enough
            os.write(self._change, b".")

    def take_change(self) -> bool:
        """Whether a change was noted since this was last asked."""
        try:
            return bool(os.read(self._changed, 4096))
        except BlockingIOError:
            return False

    @property
    def size(self) -> tuple[int, int]:
        """(columns, rows)."""
        return tuple(os.get_terminal_size(sys.stdout.fileno()))  # type: ignore[return-value]

    def show(self, lines: Sequence[str]) -> None:
        """Put a picture on the screen, from its top left."""
        rows = "\x1b[0m\x1b[K\r\n".join(lines)
        sys.stdout.write(f"\x1b[H{rows}\x1b[0m\x1b[K")
        sys.stdout.flush()

    def read_key(self, seconds: float | None) -> str | None:
        """The next key; None when the time is over or the screen has changed.

        Raises EOFError when no key can ever come again.
        """
        if not self._pending:
            ready, _, _ = select.select([self._keys, self._changed], [], [], seconds)
            if self._keys not in ready:
                return None
            self._pending = os.read(self._keys, 1024)
            if not self._pending:
                raise EOFError
        # The rest of an arrow may come a moment later; Escape alone has no meaning here.
        while self._pending in BEGINNINGS and select.select([self._keys], [], [], KEY_SECONDS)[0]:
            more = os.read(self._keys, 1024)
            if not more:
                break
            self._pending += more
        return self._take()

    def _take(self) -> str:
        given = self._pending
        if given.startswith(b"\x1bO") and len(given) > 2:  # keypad mode says O for [
            given = b"\x1b[" + given[2:]
        for code in sorted(NAMES, key=len, reverse=True):
            if given.startswith(code):
                self._pending = given[len(code) :]
                return NAMES[code]
        if given.startswith(b"\x1b"):  # a key that has no meaning here
            self._pending = b""
            return "unknown"
        char = given.decode("utf-8", "replace")[0]
        self._pending = given[len(char.encode()) :]
        return char

    def enter(self) -> None:
        """Take the terminal: another screen, no cursor, keys at once and unseen."""
        tty.setcbreak(self._keys)
        sys.stdout.write(ENTER)
        sys.stdout.flush()
        self.note_change()

    def leave(self) -> None:
        """Give the terminal back as it was."""
        termios.tcsetattr(self._keys, termios.TCSADRAIN, self._saved)
        os.write(sys.stdout.fileno(), LEAVE.encode())

    def close(self) -> None:
        """Let go of what belongs to no terminal."""
        os.close(self._changed)
        os.close(self._change)


@contextmanager
def open_terminal() -> Iterator[ScreenTerminal]:
    """The terminal, taken until the block ends. Raises RefusedError when there are no keys."""
    own = sys.stdin.isatty()
    try:
        keys = sys.stdin.fileno() if own else os.open("/dev/tty", os.O_RDONLY)
        terminal = ScreenTerminal(keys)
    except (OSError, termios.error):
        said = "there is no terminal to read keys from; --plain needs none"
        raise RefusedError(said, NO_INPUT) from None

    def stop(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    def suspend(number: int, frame: FrameType | None) -> None:
        terminal.leave()
        os.kill(os.getpid(), signal.SIGSTOP)
        terminal.enter()

    def resize(number: int, frame: FrameType | None) -> None:
        terminal.note_change()

    handlers = {
        signal.SIGTERM: stop,
        signal.SIGHUP: stop,
        signal.SIGTSTP: suspend,
        signal.SIGWINCH: resize,
    }
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    terminal.enter()
    try:
        yield terminal
    finally:
        terminal.leave()
        for number, handler in before.items():
            signal.signal(number, handler)
        terminal.close()
        if not own:
            os.close(keys)
