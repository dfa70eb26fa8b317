"""A program on a real pty, and a terminal emulator that says what a person would see."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pexpect
import pyte

from tests.golden import ROOT

PATIENCE_SECONDS = 60


class Screen:
    """Runs `python -m curriculum.trace` with these words on a terminal of this size."""

    def __init__(
        self,
        *words: str | Path,
        columns: int = 100,
        rows: int = 30,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.pyte = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.pyte)
        self.raw = b""
        self.process = pexpect.spawn(
            sys.executable,
            ["-m", "curriculum.trace", *map(str, words)],
            cwd=str(ROOT),
            env={**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT), **(env or {})},
            dimensions=(rows, columns),
            timeout=PATIENCE_SECONDS,
        )

    @property
    def text(self) -> str:
        """What stands on the screen now, line by line."""
        return "\n".join(line.rstrip() for line in self.pyte.display)

    def wait_for(self, what: str | Callable[[str], bool]) -> str:
        """Read on until a pattern (or a test) fits the screen; the text then."""
        fits = what if callable(what) else lambda text: re.search(what, text) is not None
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not fits(self.text):
            left = deadline - time.monotonic()
            assert left > 0, f"{what} never came:\n{self.text}"
            self._read(min(left, 1.0))
        return self.text

    def _read(self, seconds: float) -> None:
        try:
            data = self.process.read_nonblocking(65536, seconds)
        except pexpect.TIMEOUT:
            return
        except pexpect.EOF:
            raise AssertionError(f"it ended:\n{self.text}") from None
        self.raw += data
        self._stream.feed(data)

    def press(self, keys: str) -> None:
        """Type something."""
        self.process.send(keys)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal."""
        self.pyte.resize(rows, columns)
        self.process.setwinsize(rows, columns)

    def end(self) -> int:
        """Wait for the end; the exit code, or minus the signal."""
        with suppress(pexpect.EOF):
            while True:
                data = self.process.read_nonblocking(65536, PATIENCE_SECONDS)
                self.raw += data
                self._stream.feed(data)
        self.process.close()
        code = self.process.exitstatus
        return code if code is not None else -self.process.signalstatus
