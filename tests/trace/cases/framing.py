"""F01 to F05: what a line and a file are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.trace import story
from tests.trace.cases.edit import Case, Edit
from tests.trace.story import numbered, to_bytes


def right_lines() -> list[bytes]:
    return to_bytes(numbered(story.calls())).splitlines(keepends=True)


def framing() -> Iterator[Case]:
    lines = right_lines()

    def with_line(number: int, line: bytes) -> bytes:
        return b"".join([*lines[: number - 1], line, *lines[number:]])

    yield Case("F01-bom", "a byte order mark", b"\xef\xbb\xbf" + b"".join(lines), ((1, "F01", ""),))
    latin = lines[1].replace(b"What", b"Wh\xe4t")
    yield Case("F01-latin-1", "a byte that is not UTF-8", with_line(2, latin), ((2, "F01", ""),))
    surrogate = lines[1].replace(b"What", b"Wh\xed\xa0\x80t")
    yield Case("F01-surrogate", "a surrogate as bytes", with_line(2, surrogate), ((2, "F01", ""),))
    yield Case(
        "F02-blank-line",
        "a blank line among the events",
        b"".join([*lines[:2], b"\n", *lines[2:]]),
        ((3, "F02", ""),),
    )
    crlf = b"".join(lines).replace(b"\n", b"\r\n")
    yield Case("F02-crlf", "lines that end with CR LF: told once", crlf, ((1, "F02", ""),))
    array = with_line(3, b"[" + lines[2][:-1] + b"]\n")
    yield Case("F02-array", "a line that holds an array", array, ((3, "F02", ""),))
    two = b"".join([*lines[:2], lines[2][:-1] + b" " + lines[3], *lines[4:]])
    yield Case("F02-two-objects", "two objects on one line", two, ((3, "F02", ""),))
    raw = lines[1].replace(b"What", "Wh\u2028at".encode())
    yield Case("F02-line-separator", "U+2028 unescaped", with_line(2, raw), ((2, "F02", ""),))
    broken = with_line(4, b'{"type":\n')
    yield Case("F03-cut-in-the-middle", "half an object, then LF", broken, ((4, "F03", ""),))
    twice = lines[3].replace(b'"index":0', b'"index":0,"index":0')
    yield Case(
        "F03-duplicate-key",
        "a key that stands twice",
        with_line(4, twice),
        ((4, "F03", "/payload"),),
    )
    nan = lines[3].replace(b'"index":0', b'"index":NaN')
    yield Case("F03-nan", "NaN", with_line(4, nan), ((4, "F03", "/payload/index"),))
    huge = lines[3].replace(b'"elapsed_us":3000', b'"elapsed_us":9007199254740993')
    yield Case(
        "F03-integer", "an integer beyond 2^53-1", with_line(4, huge), ((4, "F03", "/elapsed_us"),)
    )
    infinite = lines[3].replace(b'"elapsed_us":3000', b'"elapsed_us":1e400')
    yield Case(
        "F03-float",
        "a number beyond any float",
        with_line(4, infinite),
        ((4, "F03", "/elapsed_us"),),
    )
    lone = lines[3].replace(b"Let me ", b"Let me \\ud800")
    yield Case(
        "F03-lone-surrogate",
        "half a pair, escaped",
        with_line(4, lone),
        ((4, "F03", "/payload/text"),),
    )
    control = lines[3].replace(b"Let me ", b"Let me \x07")
    yield Case("F03-control", "a raw control character", with_line(4, control), ((4, "F03", ""),))
    cut = b"".join(lines)[:-20]
    yield Case("F04-cut", "the last line is cut", cut, ((15, "F04", ""),), "torn")
    bare = b"".join(lines)[:-1]
    yield Case("F04-no-lf", "only the last LF is missing", bare, ((15, "F04", ""),), "torn")
    zeros = b"".join(lines[:5]) + b"\0" * 64
    yield Case("F04-zeros", "a tail of NUL, as after a crash", zeros, ((6, "F04", ""),), "torn")
    deep = Edit()
    deep.put(5, story.event("x.acme.nest", "harness", deep=nest(61)))
    flat = deep.data()
    deep.events[5] = story.event("x.acme.nest", "harness", deep=nest(63))
    assert flat != deep.data()
    yield deep.case("F05-depth", "nesting 65 deep", (6, "F05", ""))
    yield Case("F03-not-a-trace", "some other text", b"hello, world\n", ((1, "F03", ""),))
    yield Case("F01-binary", "some other bytes", b"\x7fELF\x02\x01\xff\xfe\0\0", ((1, "F01", ""),))


def nest(depth: int) -> Any:
    tree: Any = "leaf"
    for _ in range(depth):
        tree = {"in": tree}
    return tree
