"""Event streams and what the HTML standard (section 9.2.6) makes of them: (name, data) pairs."""

from __future__ import annotations

Pairs = list[tuple[str, str]]

CORPUS: dict[str, tuple[bytes, Pairs]] = {
    "nothing": (b"", []),
    "one": (b"data: a\n\n", [("message", "a")]),
    "named": (b"event: x\ndata: a\n\n", [("x", "a")]),
    "name after data": (b"data: a\nevent: x\n\n", [("x", "a")]),
    "last name counts": (b"event: x\nevent: y\ndata: a\n\n", [("y", "a")]),
    "name is for one event": (b"event: x\ndata: a\n\ndata: b\n\n", [("x", "a"), ("message", "b")]),
    "name alone is no event": (b"event: x\n\ndata: a\n\n", [("message", "a")]),
    "id alone is no event": (b"id: 1\n\ndata: a\n\n", [("message", "a")]),
    "retry alone is no event": (b"retry: 1\n\ndata: a\n\n", [("message", "a")]),
    "an id is no event later": (b"id: 1\ndata: a\n\n\n\n", [("message", "a")]),
    "no space": (b"data:a\n\n", [("message", "a")]),
    "one space is taken": (b"data:  a \n\n", [("message", " a ")]),
    "tab stays": (b"data:\ta\n\n", [("message", "\ta")]),
    "colon in data": (b"data: a:b: c\n\n", [("message", "a:b: c")]),
    "several lines": (b"data: a\ndata: b\ndata\n\n", [("message", "a\nb\n")]),
    "data without colon": (b"data\n\n", [("message", "")]),
    "two without colon": (b"data\ndata\n\n", [("message", "\n")]),
    "empty data": (b"data:\n\n", [("message", "")]),
    "comment": (b": hi\n:\ndata: a\n: there\n\n", [("message", "a")]),
    "unknown field": (b"foo: b\ndata: a\nDATA: c\n data: d\n\n", [("message", "a")]),
    "data is not a prefix": (b"datax: b\ndata: a\n\n", [("message", "a")]),
    "crlf": (b"event: x\r\ndata: a\r\n\r\n", [("x", "a")]),
    "cr": (b"event: x\rdata: a\r\rdata: b\r\r", [("x", "a"), ("message", "b")]),
    "mixed ends": (b"event: x\ndata: a\r\n\rdata: b\n\r\n", [("x", "a"), ("message", "b")]),
    "lf then cr are two lines": (b"data: a\n\rdata: b\n\r", [("message", "a"), ("message", "b")]),
    "more blank lines": (b"\n\ndata: a\n\n\n\ndata: b\n\n", [("message", "a"), ("message", "b")]),
    "not closed": (b"data: a\n\ndata: b\n", [("message", "a")]),
    "not even a line": (b"data: a\n\ndata: b", [("message", "a")]),
    "byte order mark": (b"\xef\xbb\xbfdata: a\n\n", [("message", "a")]),
    "only one mark": (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n", [("message", "b")]),
    "mark later is data": (b"data: \xef\xbb\xbfa\n\n", [("message", "\ufeffa")]),
    "half a mark": (b"\xef\xbbdata: a\n\ndata: b\n\n", [("message", "b")]),
    "other line ends are data": (
        "data: a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\x1dh\x1ei\n\n".encode(),
        [("message", "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\x1dh\x1ei")],
    ),
    "beyond the bmp": ("data: \U0001f600\u00fc\n\n".encode(), [("message", "\U0001f600\u00fc")]),
    "not utf-8": (b"data: a\xff\xc3\n\n", [("message", "a\ufffd\ufffd")]),
    "name not utf-8": (b"event: \xff\ndata: a\n\n", [("\ufffd", "a")]),
    "nul in data": (b"data: a\0b\n\n", [("message", "a\0b")]),
}
