"""A person at a terminal: starts mino on a real pseudo-terminal, types, and looks at the screen.

Everything waits for text that appears (or for the end of the process), never for time to pass. A
wait that is in vain fails with the screen in its message.
"""

from __future__ import annotations

import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from fcntl import ioctl
from pathlib import Path
from types import TracebackType

import pyte

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 60.0  # only a hung program takes so long
QUESTION = "Approve this operation? [y/N]"
# The process makes the terminal its own, then becomes mino: no fork of this threaded process.
# It gives up what root may do beyond an ordinary user (capabilities(7)): so do its children.
BECOME = (
    "import ctypes, fcntl, os, signal, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "[signal.signal(n, signal.SIG_DFL) for n in (signal.SIGINT, signal.SIGHUP)]; "
    "PR_CAPBSET_DROP, CAP_SETPCAP = 24, 8; "
    "drop = ctypes.CDLL(None).prctl; "
    "[drop(PR_CAPBSET_DROP, n, 0, 0, 0) for n in [*range(8), *range(9, 64), CAP_SETPCAP]]; "
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)


class Person:
    """mino in a terminal of `columns` times `rows`, and whoever sits before it."""

    def __init__(
        self,
        arguments: list[str],
        environment: Mapping[str, str],
        directory: Path,
        columns: int = 80,
        rows: int = 60,
        module: str = "curriculum.mino",
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""  # all bytes that mino wrote
        self._fd, child = os.openpty()
        ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", BECOME, "-m", module, *arguments],
            stdin=child,
            stdout=child,
            stderr=child,
            cwd=directory,
            env=dict(environment),
            start_new_session=True,
        )
        os.close(child)
        self.is_open = True

    def __enter__(self) -> Person:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close_terminal()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def text(self) -> str:
        """The screen, without the blanks at the ends of rows."""
        return "\n".join(row.rstrip() for row in self.screen.display).rstrip()

    def type(self, keys: str) -> None:
        """Press keys; "\\r" is Enter, "\\x03" Ctrl+C."""
        os.write(self._fd, keys.encode())

    def say(self, line: str) -> None:
        """Type a line at the chat's prompt."""
        self.see("\nYou>", last=True)
        self.type(line + "\r")

    def answer(self, line: str, times: int = 1) -> None:
        """Answer the question, once it is there."""
        self.asked(QUESTION, times)
        self.type(line + "\r")

    def asked(self, question: str = QUESTION, times: int = 1) -> str:
        """Wait until the question is on the screen and takes an answer; the whole screen.

        The blank behind it comes when what was typed before has been thrown away.
        """
        self.see(question, times)
        self.wait(lambda: self.raw.endswith(b" "), "room for an answer")
        return self.text()

    def see(self, wanted: str, times: int = 1, last: bool = False) -> str:
        """Wait until the text is on the screen (`last`: in its last row); the whole screen."""

        def is_there() -> bool:
            text = "\n" + self.text()
            if last:
                return ("\n" + text.rpartition("\n")[2]).startswith(wanted)
            return text.count(wanted) >= times

        self.wait(is_there, f"{wanted!r} on the screen")
        return self.text()

    def wait(self, is_so: Callable[[], bool], what: str) -> None:
        """Read what mino writes until `is_so`."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            if time.monotonic() > end or not self._read(0.05):
                assert is_so(), f"no {what}; the screen:\n{self.text()}"

    def _read(self, seconds: float) -> bool:
        """Take what there is; False if nothing can come any more."""
        if not self.is_open:
            return self.process.poll() is None
        if select.select([self._fd], [], [], seconds)[0]:
            try:
                data = os.read(self._fd, 65536)
            except OSError:  # nobody has the other end any more
                data = b""
            if not data:
                return False
            self.raw += data
            self._stream.feed(data)
        return True

    def leave(self) -> int:
        """Wait for the end of the process; its exit code, as a shell would say it."""
        end = time.monotonic() + PATIENCE_SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < end, f"mino did not end; the screen:\n{self.text()}"
            if not self._read(0.05):
                self.process.wait(max(0.1, end - time.monotonic()))
        while self.is_open and self._read(0):
            if not select.select([self._fd], [], [], 0)[0]:
                break
        code = self.process.returncode
        return code if code >= 0 else 128 - code

    def send(self, number: signal.Signals) -> None:
        """Send a signal to mino."""
        self.process.send_signal(number)

    def resize(self, columns: int, rows: int) -> None:
        """Make the window so large."""
        self.screen.resize(rows, columns)
        ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def close_terminal(self) -> None:
        """Close the window."""
        if self.is_open:
            self.is_open = False
            os.close(self._fd)


def squeezed(text: str) -> str:
    """Text without blanks, and without the gutters behind which long lines go on."""
    return re.sub(r"\n\||\s", "", text)


def is_in(pid: int, state: str) -> bool:
    """Whether the process is in that state: T is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == state


def is_alive(pid: int) -> bool:
    """Whether that process runs (a zombie does not)."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"
