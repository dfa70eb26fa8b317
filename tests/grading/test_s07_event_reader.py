"""The kit for event readers finds what it should: ours and the reference pass, others do not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from curriculum.core.errors import ProtocolError
from curriculum.grading.sse_conformance import check_reader
from curriculum.lessons.s07_provider.solutions import EventReader
from curriculum.providers.sse import SseLimits, SseReader

Events = list[tuple[str, str]]


class Ours:
    """The reader of the adapters, as the exercise wants it."""

    def __init__(self, limit: int) -> None:
        self._reader = SseReader(SseLimits(line=limit, event=limit + 1))  # it counts the last LF

    def feed(self, data: bytes) -> Events:
        return [(event.name, event.data) for event in self._reader.feed(data)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("make", [EventReader, Ours])
def test_what_follows_the_standard_passes(make: Callable[[int], Ours], seed: int) -> None:
    assert check_reader(make, seed) == []


class Text(EventReader):
    """Decodes each part by itself: a character in two parts is lost."""

    def feed(self, data: bytes) -> Events:
        return super().feed(data.decode("utf-8", "replace").encode())


class SplitsText(EventReader):
    """Takes every line end that Python knows."""

    def feed(self, data: bytes) -> Events:
        for end in ("\u2028", "\u2029", "\u0085", "\x0b", "\x0c"):
            data = data.replace(end.encode(), b"\n")
        return super().feed(data)


class OnlyLf(EventReader):
    """Knows no CR."""

    def feed(self, data: bytes) -> Events:
        return super().feed(data.replace(b"\r\n", b"\n").replace(b"\r", b" "))


class CrTwice(EventReader):
    """Takes CR and LF for two line ends where they come in two parts."""

    def feed(self, data: bytes) -> Events:
        self._after_cr = False
        return super().feed(data)


class LateCr(EventReader):
    """Waits after a CR for the byte that comes next."""

    held = b""

    def feed(self, data: bytes) -> Events:
        data, self.held = self.held + data, b""
        if data.endswith(b"\r"):
            data, self.held = data[:-1], b"\r"
        return super().feed(data)


class NoMark(EventReader):
    """Knows no byte order mark."""

    def feed(self, data: bytes) -> Events:
        self._begun = True
        return super().feed(data)


class MarkAnywhere(EventReader):
    """Takes marks out wherever they stand."""

    def feed(self, data: bytes) -> Events:
        return super().feed(data.replace(b"\xef\xbb\xbf", b""))


class Strips(EventReader):
    """Strips all white space of a value."""

    def _take(self, line: bytes) -> Events:
        field, colon, content = line.partition(b":")
        return super()._take(field + colon + content.strip())


class NameStays(EventReader):
    """Keeps the name for the next event."""

    def _take(self, line: bytes) -> Events:
        name = self._name
        events = super()._take(line)
        if not line:
            self._name = name
        return events


class NameAlone(EventReader):
    """A name without data is an event too."""

    def _take(self, line: bytes) -> Events:
        if not line and self._name and not self._data:
            self._data = [b""]
        return super()._take(line)


class LastData(EventReader):
    """The last line of data replaces the others."""

    def _take(self, line: bytes) -> Events:
        if line.startswith(b"data"):
            self._data = []
        return super()._take(line)


class NoBounds(EventReader):
    """Nothing is too long."""

    def _check(self, size: int, what: str) -> None:
        return


class LateBound(EventReader):
    """Looks at a line only when it is whole: one without an end fills the memory."""

    def _check(self, size: int, what: str) -> None:
        if not (what == "a line" and size == len(self._line)):
            super()._check(size, what)


class LineBoundOnly(EventReader):
    """Many small lines of data are no danger, it thinks."""

    def _check(self, size: int, what: str) -> None:
        if what == "a line":
            super()._check(size, what)


class ForEver(EventReader):
    """Counts all bytes of the stream against the limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self._seen = 0

    def feed(self, data: bytes) -> Events:
        self._seen += len(data)
        if self._seen > 2 * self._limit + 20:
            raise ProtocolError("too much")
        return super().feed(data)


class OwnError(EventReader):
    """Raises its own kind of error."""

    def _check(self, size: int, what: str) -> None:
        try:
            super()._check(size, what)
        except ProtocolError as fault:
            raise ValueError(fault.message) from fault


SHARED: list[bytes] = []


class Shares(EventReader):
    """One list for all readers."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self._data = SHARED


class Flushes(EventReader):
    """Gives what is not closed yet."""

    def feed(self, data: bytes) -> Events:
        events = super().feed(data)
        if self._data and data.endswith(b"\n"):
            events += super()._take(b"")
        return events


class Dicts(EventReader):
    """Another shape."""

    def feed(self, data: bytes) -> Events:
        return [{"name": name, "data": text} for name, text in super().feed(data)]  # type: ignore[misc]


WRONG: dict[type[EventReader], str] = {
    Text: "characters",
    SplitsText: "other line ends are data",
    OnlyLf: "line ends",
    CrTwice: "line ends",
    LateCr: "line ends|at once",
    NoMark: "byte order mark",
    MarkAnywhere: "byte order mark",
    Strips: "fields",
    NameStays: "blank lines",
    NameAlone: "blank lines",
    LastData: "several lines of data",
    NoBounds: "bound of a line",
    LateBound: "bound of a line",
    LineBoundOnly: "bound of an event",
    ForEver: "bound of a line",
    OwnError: "bound of a line",
    Shares: "no memory of other streams",
    Flushes: "what is not closed",
    Dicts: "fields",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_readers_are_told_why(wrong: type[EventReader]) -> None:
    SHARED.clear()
    findings = check_reader(wrong)
    names = WRONG[wrong].split("|")
    assert any(finding.startswith(f"{name}:") for finding in findings for name in names), findings
