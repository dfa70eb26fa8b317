"""Strict JSON, one line at a time, with a reason and a place for everything that is refused.

This parser decides. The fast one only ever says yes to lines whose bytes come out again as they
went in, so both give the same answer; every line that it doubts comes here.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

from curriculum.core.trace import MAX_INTEGER, MAX_LINE_BYTES
from curriculum.trace.findings import pointer_of, quote

MAX_DEPTH = 64

BOM = b"\xef\xbb\xbf"
# Some readers end a line at these: U+0085, U+2028, U+2029. A trace holds them escaped.
SEPARATORS = (b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_BRACKET = re.compile(rb"[\[\]{}]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class LineError(Exception):
    """The line cannot be taken as an event."""

    def __init__(self, code: str, message: str, pointer: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.pointer = code, message, pointer


class _Refused:
    """Stands in the tree where a value was that no reader may take."""

    def __init__(self, why: str) -> None:
        self.why = why


class _Twice(dict[str, object]):
    """An object in which a key stood twice."""

    key = ""


def check_depth(line: bytes) -> None:
    """Raise F05 if the line nests deeper than 64."""
    if line.count(b"{") + line.count(b"[") <= MAX_DEPTH:
        return
    depth = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", line)):
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_DEPTH:
            raise LineError("F05", f"nesting is deeper than {MAX_DEPTH}")


def check_size(line: bytes) -> None:
    """Raise F05 if the line (given without its LF) is longer than 256 KiB with it."""
    if len(line) >= MAX_LINE_BYTES:
        raise LineError("F05", f"the line is longer than {MAX_LINE_BYTES} bytes")


def has_separators(line: bytes) -> bool:
    """Whether a character stands raw at which some readers end a line."""
    return any(separator in line for separator in SEPARATORS)


def parse_strict(line: bytes) -> dict[str, object]:
    """The object of one line (without its LF). Raises LineError: F01, F02, F03 or F05."""
    check_size(line)
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise LineError("F01", f"byte {error.start + 1} of the line is not UTF-8") from None
    if line.startswith(BOM):
        raise LineError("F01", "the line begins with a byte order mark")
    if line.endswith(b"\r"):
        raise LineError("F02", "the line ends with CR LF")
    if not text.strip(" \t"):
        raise LineError("F02", "the line is blank")
    check_depth(line)
    try:
        event = json.loads(
            text,
            object_pairs_hook=_pairs,
            parse_constant=lambda name: _Refused(f"{name} is not JSON"),
            parse_int=_integer,
            parse_float=_float,
        )
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            raise LineError("F02", f"more follows the object at column {error.colno}") from None
        raise LineError("F03", f"not JSON at column {error.colno}: {_plain(error.msg)}") from None
    _check(event, text)
    if not isinstance(event, dict):
        raise LineError("F02", f"the line holds {quote(event)}, not an object")
    if has_separators(line):
        raise LineError(
            "F02", "U+0085, U+2028 or U+2029 stands unescaped; some readers break there"
        )
    return event


def _plain(message: str) -> str:
    return message[0].lower() + message[1:].removesuffix(" at")


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) == len(pairs):
        return fields
    twice = _Twice(fields)
    keys = [key for key, _ in pairs]
    twice.key = next(key for key in keys if keys.count(key) > 1)
    return twice


def _integer(digits: str) -> object:
    # The length comes first: Python refuses to convert thousands of digits.
    if len(digits) > 17 or abs(int(digits)) > MAX_INTEGER:
        return _Refused("an integer is beyond 2^53-1")
    return int(digits)


def _float(digits: str) -> object:
    number = float(digits)
    return number if number - number == 0.0 else _Refused("a number is beyond any float")


def _check(event: object, text: str) -> None:
    """Raise F03 at the first value in the tree that strict JSON does not have."""
    escapes = "\\u" in text  # only an escape can bring a surrogate: the bytes were UTF-8
    stack: list[tuple[object, tuple[str | int, ...]]] = [(event, ())]
    while stack:
        node, path = stack.pop()
        if isinstance(node, _Refused):
            _refuse(node.why, path)
        if isinstance(node, _Twice):
            _refuse(f"the key {_shown(node.key)} stands twice", path)
        if isinstance(node, dict):
            if escapes and any(_SURROGATE.search(key) for key in node):
                _refuse("a key holds a lone surrogate", path)
            stack += [(child, (*path, key)) for key, child in node.items()]
        elif isinstance(node, list):
            stack += [(child, (*path, index)) for index, child in enumerate(node)]
        elif escapes and isinstance(node, str) and _SURROGATE.search(node):
            _refuse("a text holds a lone surrogate", path)


def _refuse(why: str, path: tuple[str | int, ...]) -> NoReturn:
    raise LineError("F03", why, pointer_of(path))


def _shown(key: str) -> str:
    return quote(key)
