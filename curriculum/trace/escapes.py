r"""What a text says once the escapes of JSON are undone, also where JSON stands in JSON.

The same text has many spellings (`\u0041`, `\/`, an `A` as it is). Nothing here parses: a line that
is no JSON, or is cut, is read as far as its escapes go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Each level of JSON in JSON doubles the backslashes, so few levels fit in a line that is used.
MOST_LEVELS = 8
_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
    r'|u([0-9a-fA-F]{4})|(["\\/bfnrt]))'
)
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def unescape(text: str) -> str:
    """The text with one level of JSON's escapes undone; what is no escape stays."""
    return _ESCAPE.sub(_char, text) if "\\" in text else text


def levels(text: str) -> Iterator[str]:
    """The text, then what it says with one level of escapes undone, and so on to the last."""
    yield text
    for _ in range(MOST_LEVELS):
        inner = unescape(text)
        if inner == text:
            return
        yield (text := inner)


def _char(found: re.Match[str]) -> str:
    high, low, code, short = found.groups()
    if short:
        return _SHORT.get(short, short)
    if code:
        return chr(int(code, 16))
    return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
