"""Server-sent events out of bytes, by the rules of the WHATWG HTML standard (section 9.2.6).

The reader takes bytes as they arrive, cut anywhere, and gives the events that are complete. Lines
end at LF, CR or CRLF and nowhere else: U+2028 or U+0085 inside a JSON text is data. What is not
closed by a blank line when the stream ends was never an event. A line, an event and a response may
only be so large, so that an endless stream cannot fill the memory.

Why not httpx-sse 0.4.3: on the same corpus (tests/providers/test_sse.py) it gives events where the
standard gives none, takes a byte order mark for a part of the first field, and bounds nothing. It
is not faster either (tests/benchmarks/bench_sse.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from curriculum.core.errors import ProtocolError
from curriculum.core.values import value

MEGABYTE = 1024 * 1024
BOM = b"\xef\xbb\xbf"


# region: event
class ServerSentEvent(NamedTuple):
    """One event: its name ("message" if the stream gave none), its data, the last id so far."""

    name: str
    data: str
    last_id: str = ""


# endregion


@value
class SseLimits:
    """Bounds in bytes: of one line, of the data of one event, of the whole response."""

    line: int = 8 * MEGABYTE
    event: int = 8 * MEGABYTE
    response: int = 64 * MEGABYTE


class SseReader:
    """Turns bytes into events. `retry_ms` is the reconnection time that the stream asked for."""

    def __init__(self, limits: SseLimits | None = None) -> None:
        self._limits = limits or SseLimits()
        self._start: bytes | None = b""  # the first bytes, until it is known whether they are a BOM
        self._after_cr = False  # an LF that comes next belongs to the CR before it
        self._tail: list[bytes] = []  # a line that is not complete yet, in the pieces that came
        self._tail_size = 0
        self._received = 0
        self._name = b""
        self._data: list[bytes] = []
        self._data_size = 0
        self._last_id = ""
        self.retry_ms: int | None = None

    # region: feed
    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events that `data` completes. Raises ProtocolError when a bound is exceeded."""
        self._received += len(data)
        if self._received > self._limits.response:
            raise _too_large("the response", self._limits.response)
        if self._start is not None:
            data = self._without_bom(data)
        if self._after_cr and data:
            data = data[1:] if data[0] == 0x0A else data
            self._after_cr = False
        if not data:
            return []
        lines = data.splitlines()  # of bytes: it splits at LF, CR and CRLF only
        self._after_cr = data[-1] == 0x0D
        rest = b"" if data[-1] in b"\r\n" else lines.pop()
        if lines and self._tail:
            lines[0] = b"".join([*self._tail, lines[0]])
            self._tail, self._tail_size = [], 0
        events = []
        for line in lines:
            if line:
                self._take(line)
            elif self._data:
                events.append(self._event())
            else:
                self._name = b""
        if rest:
            self._tail.append(rest)
            self._tail_size += len(rest)
            if self._tail_size > self._limits.line:
                raise _too_large("a line", self._limits.line)
        return events

    # endregion

    def _without_bom(self, data: bytes) -> bytes:
        """The data without a byte order mark at the start of the stream; b"" to wait for more."""
        start = (self._start or b"") + data
        if len(start) < len(BOM) and BOM.startswith(start):
            self._start = start
            return b""
        self._start = None
        return start.removeprefix(BOM)

    # region: line
    def _take(self, line: bytes) -> None:
        """One complete line that is not blank: a field to remember until the blank line."""
        if len(line) > self._limits.line:
            raise _too_large("a line", self._limits.line)
        name, _, content = line.partition(b":")
        if content[:1] == b" ":
            content = content[1:]
        if name == b"data":
            self._data.append(content)
            self._data_size += len(content) + 1
            if self._data_size > self._limits.event:
                raise _too_large("an event", self._limits.event)
        elif name == b"event":
            self._name = content
        elif name == b"id" and b"\0" not in content:
            self._last_id = _decode(content)
        elif name == b"retry" and content.isdigit() and len(content) < 16:
            self.retry_ms = int(content)
        # any other name, and the empty name of a comment, says nothing to us

    def _event(self) -> ServerSentEvent:
        """What the lines since the last blank line add up to."""
        data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
        event = ServerSentEvent(_decode(self._name) or "message", _decode(data), self._last_id)
        self._data, self._data_size, self._name = [], 0, b""
        return event

    # endregion


def read_events(
    chunks: Iterable[bytes], limits: SseLimits | None = None
) -> Iterator[ServerSentEvent]:
    """The events of a stream of bytes, each as soon as it is complete."""
    reader = SseReader(limits)
    for chunk in chunks:
        yield from reader.feed(chunk)


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _too_large(what: str, most: int) -> ProtocolError:
    return ProtocolError(f"{what} of the event stream is larger than {most} bytes; stopped")
