"""Server-sent events out of bytes, by the rules of the WHATWG HTML standard (section 9.2.6).

The reader takes bytes as they arrive, cut anywhere, and gives the events that are complete. Lines
end at LF, CR or CRLF and nowhere else: U+2028 or U+0085 inside a JSON text is data. What is not
closed by a blank line when the stream ends was never an event. A line, an event and a response may
only be so large, so that an endless stream cannot fill the memory.

Why not httpx-sse 0.4.3: measured with the same corpus (tests/providers/test_sse.py), it gives
events that the standard drops, keeps a byte order mark as part of the first field, and bounds
nothing; `tests/benchmarks/bench_sse.py` compares the speed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from curriculum.core.errors import ProtocolError
from curriculum.core.values import value

MEGABYTE = 1024 * 1024
BOM = b"\xef\xbb\xbf"


# region: event
@value
class ServerSentEvent:
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
        _check(self._received, self._limits.response, "the response")
        if self._start is not None:
            data = self._without_bom(data)
        if self._after_cr and data:
            data = data[1:] if data[0] == 0x0A else data
            self._after_cr = False
        if not data:
            return []
        lines = data.splitlines(keepends=True)  # of bytes: it splits at LF, CR and CRLF only
        self._after_cr = data[-1] == 0x0D
        rest = b"" if data[-1] in b"\r\n" else lines.pop()
        events = []
        if lines and self._tail:
            lines[0] = b"".join([*self._tail, lines[0]])
            self._tail, self._tail_size = [], 0
        for line in lines:
            event = self._take(line.rstrip(b"\r\n"))
            if event is not None:
                events.append(event)
        if rest:
            self._tail.append(rest)
            self._tail_size += len(rest)
            _check(self._tail_size, self._limits.line, "a line")
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
    def _take(self, line: bytes) -> ServerSentEvent | None:
        """One complete line: a field to remember, or the blank line that makes an event of them."""
        if not line:
            return self._dispatch()
        _check(len(line), self._limits.line, "a line")
        name, _, content = line.partition(b":")
        content = content.removeprefix(b" ")
        if name == b"data":
            self._data.append(content)
            self._data_size += len(content) + 1
            _check(self._data_size, self._limits.event, "an event")
        elif name == b"event":
            self._name = content
        elif name == b"id" and b"\0" not in content:
            self._last_id = _decode(content)
        elif name == b"retry" and content.isdigit() and len(content) < 16:
            self.retry_ms = int(content)
        return None  # any other name, and the empty name of a comment, says nothing to us

    def _dispatch(self) -> ServerSentEvent | None:
        data, name = self._data, self._name
        self._data, self._data_size, self._name = [], 0, b""
        if not data:
            return None
        return ServerSentEvent(_decode(name) or "message", _decode(b"\n".join(data)), self._last_id)

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


def _check(size: int, most: int, what: str) -> None:
    if size > most:
        raise ProtocolError(f"{what} of the event stream is larger than {most} bytes; stopped")
