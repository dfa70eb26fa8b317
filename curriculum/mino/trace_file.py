"""The trace as a file (or a stream): each event a line, written before the next step.

A new file, closed to other users. The first write that fails is told to the harness, which stops
at its next step; lines before it are whole.
"""

from __future__ import annotations

import contextlib
import json
import os

from curriculum.core.trace import Event
from curriculum.core.visible import quote
from curriculum.mino.config import ConfigError


class TraceFile:
    """Writes events to a descriptor."""

    def __init__(self, fd: int, path: str = "") -> None:
        self._fd, self._path = fd, path
        self._is_terminal = os.isatty(fd)

    @classmethod
    def create(cls, path: str) -> TraceFile:
        """A trace in a file that must not exist yet. Raises ConfigError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        try:
            return cls(os.open(path, flags, 0o600), path)
        except FileExistsError:
            raise ConfigError(
                f"--trace: {quote(path)} is there already; name another file"
            ) from None
        except (OSError, ValueError) as fault:
            why = f"{fault.strerror} (errno {fault.errno})" if isinstance(fault, OSError) else fault
            raise ConfigError(f"--trace: {quote(path)}: {why}") from None

    def close(self) -> None:
        """Nothing more is written. A file in which nothing has begun is taken away."""
        is_empty = not os.fstat(self._fd).st_size
        os.close(self._fd)
        if is_empty:
            with contextlib.suppress(OSError):  # a command may have been there
                os.unlink(self._path)

    def write(self, event: Event) -> None:
        """Write one event. Raises OSError."""
        text = event.to_line()
        line = (for_terminal(text) if self._is_terminal else text).encode()
        while line:
            line = line[os.write(self._fd, line) :]


def for_terminal(line: str) -> str:
    """The same JSON, but what a terminal would obey or hide is spelled as an escape."""
    kept = (char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in line)
    return "".join(kept)
