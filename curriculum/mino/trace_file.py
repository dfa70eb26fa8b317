"""The trace as a file (or a stream): each event a line, written before the next step.

A new file, closed to other users. The exact key never gets in, not even when a command printed
it: its place is marked, and the event says so. The first write that fails is told to the harness,
which stops at its next step; lines before it are whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from curriculum.core.line_limit import pointer_token
from curriculum.core.trace import Event
from curriculum.core.values import replace
from curriculum.core.visible import quote
from curriculum.mino.config import ConfigError

MASK = "[REDACTED:api-key:1]"


class TraceFile:
    """Writes events to a descriptor. `secret` is never written."""

    def __init__(self, fd: int, secret: str | None = None) -> None:
        self._fd = fd
        self._secret = secret
        self._is_terminal = os.isatty(fd)

    @classmethod
    def create(cls, path: str, secret: str | None = None) -> TraceFile:
        """A trace in a file that must not exist yet. Raises ConfigError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        try:
            return cls(os.open(path, flags, 0o600), secret)
        except FileExistsError:
            raise ConfigError(
                f"--trace: {quote(path)} is there already; name another file"
            ) from None
        except (OSError, ValueError) as fault:
            why = f"{fault.strerror} (errno {fault.errno})" if isinstance(fault, OSError) else fault
            raise ConfigError(f"--trace: {quote(path)}: {why}") from None

    def write(self, event: Event) -> None:
        """Write one event. Raises OSError."""
        if self._secret:
            event = mask_event(event, self._secret)
        text = event.to_line()
        line = (for_terminal(text) if self._is_terminal else text).encode()
        while line:
            line = line[os.write(self._fd, line) :]


def for_terminal(line: str) -> str:
    """The same JSON, but what a terminal would obey or hide is spelled as an escape."""
    kept = (char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in line)
    return "".join(kept)


# region: mask
def mask_event(event: Event, secret: str) -> Event:
    """The event with every occurrence of the secret in its payload masked, and marked as such."""
    pointers: list[str] = []
    payload = _mask(event.payload, "/payload", secret, pointers)
    if not pointers:
        return event
    assert isinstance(payload, dict)
    redaction = {"status": "redacted", "policy": "known-values", "items": sorted(pointers)}
    return replace(event, payload=payload, redaction=redaction)


def _mask(data: object, pointer: str, secret: str, pointers: list[str]) -> object:
    if isinstance(data, str):
        if secret not in data:
            return data
        pointers.append(pointer)
        return data.replace(secret, MASK)
    if isinstance(data, Mapping):
        return {
            name: _mask(field, f"{pointer}/{pointer_token(str(name))}", secret, pointers)
            for name, field in data.items()
        }
    if isinstance(data, (list, tuple)):
        return [_mask(item, f"{pointer}/{at}", secret, pointers) for at, item in enumerate(data)]
    return data


# endregion
