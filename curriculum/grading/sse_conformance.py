"""A conformance kit for readers of server-sent events: `check_reader(YourReader)`.

A reader is made with a limit in bytes and fed bytes; it returns the events that they complete, as
(name, data). The corpus is what the HTML standard (section 9.2.6) makes of small streams; random
streams are compared with the reader of `curriculum.providers.sse`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from curriculum.core.errors import ProtocolError
from curriculum.grading.mistakes import collect, mistake, quote
from curriculum.providers.sse import read_events

__unittest = True

STEPS = 's07, "Step by step"'
DEEP = 's07, "Exercises", D'
LIMIT = 4096

Pairs = list[tuple[str, str]]


class Reader(Protocol):
    """What is put through the kit."""

    def feed(self, data: bytes) -> Sequence[tuple[str, str]]:
        """The events that these bytes complete."""


Make = Callable[[int], Reader]

STREAMS: dict[str, dict[bytes, Pairs]] = {
    "fields": {
        b"": [],
        b"data: a\n\n": [("message", "a")],
        b"data:a\n\n": [("message", "a")],
        b"data:  a \n\n": [("message", " a ")],
        b"data:\ta\n\n": [("message", "\ta")],
        b"data: a:b: c\n\n": [("message", "a:b: c")],
        b"event: x\ndata: a\n\n": [("x", "a")],
        b"data: a\nevent: x\n\n": [("x", "a")],
        b"event: x\nevent: y\ndata: a\n\n": [("y", "a")],
        b"id: 1\nretry: 5\nfoo: b\nDATA: c\n data: d\ndatax: e\ndata: a\n\n": [("message", "a")],
    },
    "several lines of data": {
        b"data: a\ndata: b\ndata\n\n": [("message", "a\nb\n")],
        b"data\n\n": [("message", "")],
        b"data:\n\n": [("message", "")],
        b"data\ndata\n\n": [("message", "\n")],
    },
    "comments": {
        b": hi\n:\ndata: a\n: there\n\n": [("message", "a")],
        b": hi\n\n:\n\n": [],
    },
    "blank lines": {
        b"\n\ndata: a\n\n\n\ndata: b\n\n": [("message", "a"), ("message", "b")],
        b"event: x\n\ndata: a\n\n": [("message", "a")],
        b"event: x\ndata: a\n\ndata: b\n\n": [("x", "a"), ("message", "b")],
        b"id: 1\n\n": [],
    },
    "line ends": {
        b"event: x\r\ndata: a\r\n\r\n": [("x", "a")],
        b"event: x\rdata: a\r\rdata: b\r\r": [("x", "a"), ("message", "b")],
        b"event: x\ndata: a\r\n\rdata: b\n\r\n": [("x", "a"), ("message", "b")],
        b"data: a\n\rdata: b\n\r": [("message", "a"), ("message", "b")],
    },
    "other line ends are data": {
        "data: a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\n\n".encode(): [
            ("message", "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg")
        ],
    },
    "what is not closed": {
        b"data: a\n\ndata: b\n": [("message", "a")],
        b"data: a\n\ndata: b": [("message", "a")],
        b"data: a\r\n": [],
    },
    "byte order mark": {
        b"\xef\xbb\xbfdata: a\n\n": [("message", "a")],
        b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n": [("message", "b")],
        b"data: \xef\xbb\xbfa\n\n": [("message", "\ufeffa")],
        b"\xef\xbbdata: a\n\ndata: b\n\n": [("message", "b")],
    },
    "characters": {
        "event: \u00fc\ndata: \U0001f600\u4e16\n\n".encode(): [("\u00fc", "\U0001f600\u4e16")],
        b"data: a\xff\xc3\n\n": [("message", "a\ufffd\ufffd")],
        b"data: a\0b\n\n": [("message", "a\0b")],
    },
}
PARTS = (b"data", b"event", b"id", b":", b" ", b"\n", b"\n", b"\r", b"\r\n", b"\xef\xbb\xbf", b"x",
         b"\xe2\x80\xa8", "\U0001f600".encode(), b"\xff", b"data: {}\n\n", b": hi\r\n")  # fmt: skip


def check_reader(make: Make, seed: int = 0) -> list[str]:
    """Put a reader through all checks. Returns what is wrong: nothing, if it conforms."""
    checks: dict[str, Callable[[], None]] = {
        name: _stream_check(make, streams) for name, streams in STREAMS.items()
    }
    checks["any cut"] = lambda: _any_cut(make, random.Random(seed))
    checks["at once"] = lambda: _at_once(make)
    checks["bound of a line"] = lambda: _line_bound(make)
    checks["bound of an event"] = lambda: _event_bound(make)
    checks["no memory of other streams"] = lambda: _no_memory(make)
    return collect(checks, DEEP)


def _stream_check(make: Make, streams: dict[bytes, Pairs]) -> Callable[[], None]:
    def check() -> None:
        for data, wanted in streams.items():
            _same(make, [data], wanted)
            _same(make, _bytewise(data), wanted)

    return check


def _bytewise(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


def _read(make: Make, chunks: Iterable[bytes]) -> Pairs:
    reader, got = make(LIMIT), []
    for chunk in chunks:
        events = reader.feed(chunk)
        if not isinstance(events, (list, tuple)):
            raise mistake("a list of (name, data)", quote(events), STEPS)
        got += [tuple(event) if isinstance(event, list) else event for event in events]
    return got


def _same(make: Make, chunks: Sequence[bytes], wanted: Pairs) -> None:
    got = _read(make, chunks)
    if got != wanted:
        shown = quote(b"".join(chunks), 100)
        how = f"{shown}, fed in {len(chunks)} parts" if len(chunks) > 1 else shown
        raise mistake(f"of {how} the events {wanted}", quote(got), STEPS)


def _any_cut(make: Make, rng: random.Random) -> None:
    """Random streams, whole and cut at random places, empty parts included."""
    for _ in range(300):
        data = b"".join(rng.choice(PARTS) for _ in range(rng.randrange(30)))
        cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(8)))
        edges = zip([0, *cuts], [*cuts, len(data)], strict=True)
        wanted = [(event.name, event.data) for event in read_events([data])]
        _same(make, [data], wanted)
        _same(make, [data[start:end] for start, end in edges], wanted)


def _at_once(make: Make) -> None:
    for end in (b"\n\n", b"\r\r", b"\n\r", b"\r\n\n", b"\r\n\r"):
        reader = make(LIMIT)
        early = list(reader.feed(b"data: a" + end[:-1]))
        got = list(reader.feed(end[-1:]))
        if (early, got) != ([], [("message", "a")]):
            expected = f"the event with the last byte of {end!r}, and not before"
            raise mistake(expected, f"{early} before it, {got} with it", STEPS)


def _refuses(make: Make, limit: int, chunks: Iterable[bytes]) -> int:
    """How many bytes it took until it refused; -1 if it never did."""
    reader, taken = make(limit), 0
    for chunk in chunks:
        taken += len(chunk)
        try:
            reader.feed(chunk)
        except ProtocolError:
            return taken
    return -1


def _bound(make: Make, told: str, chunks: Sequence[bytes], fits: bool, limit: int) -> None:
    for parts in (chunks, _bytewise(b"".join(chunks))):
        taken = _refuses(make, limit, parts)
        if fits and taken >= 0:
            raise mistake(f"{told} to be taken", f"refused after {taken} bytes", STEPS)
        if not fits and taken < 0:
            raise mistake(f"{told} to raise ProtocolError", "it was taken", STEPS)


def _line_bound(make: Make) -> None:
    for limit in (10, 64):
        line = b"data: ".ljust(limit, b"x")
        _bound(make, f"with limit {limit} a line of {limit} bytes", [line + b"\n\n"], True, limit)
        longer = [line + b"y\n\n"]
        _bound(make, f"with limit {limit} a line of {limit + 1} bytes", longer, False, limit)
        comment = [b":".ljust(limit + 1, b"x") + b"\n"]
        _bound(make, f"with limit {limit} a comment of {limit + 1} bytes", comment, False, limit)
        endless = [b"x" * 5] * limit
        told = f"with limit {limit} a line that never ends"
        _bound(make, told, endless, False, limit)
        taken = _refuses(make, limit, endless)
        if taken > limit + 5:
            saw = f"refused after {taken}"
            raise mistake(f"{told} to be refused as soon as it is too long", saw, STEPS)
    many = [b"data: a\n\n"] * 200
    _bound(make, "with limit 10 two hundred small events", many, True, 10)


def _event_bound(make: Make) -> None:
    line = b"data: xxxx\n"
    _bound(make, "with limit 14 data of 14 bytes", [line * 3 + b"\n"], True, 14)
    _bound(make, "with limit 13 data of 14 bytes", [line * 3 + b"\n"], False, 13)
    empty = [b"data\n"] * 100
    _bound(make, "with limit 20 data lines that never end", empty, False, 20)
    _bound(make, "with limit 14 event after event", [(line * 3 + b"\n") * 9], True, 14)


def _no_memory(make: Make) -> None:
    first, second = make(LIMIT), make(LIMIT)
    first.feed(b"event: x\ndata: a\n")
    got = [*second.feed(b"data: b\n\n"), *first.feed(b"\n")]
    if got != [("message", "b"), ("x", "a")]:
        raise mistake("two readers that know nothing of each other", quote(got), STEPS)
