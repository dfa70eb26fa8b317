"""How untrusted text is shown: nothing in it can move the cursor, hide itself or pose as ours.

Model text, tool output, commands and file names all pass here before they reach a screen. Each
character that a terminal would act on or that cannot be seen is shown as an escape, never
dropped: C0 and C1 controls, DEL, bidirectional and other format characters, unusual spaces, lone
surrogates. It looks at one character at a time, so a sequence split over two pieces is no gap.
"""

from __future__ import annotations

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", '"': '\\"'}
# Python calls these printable, yet nothing is seen: fillers, blanks and variation selectors.
_CODES = (
    *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800, 0x3164),
    *(*range(0xFE00, 0xFE10), 0xFFA0, *range(0xE0100, 0xE01F0)),
)
_BLANKS = frozenset(map(chr, _CODES))
_STYLES = frozenset("\ufe0e\ufe0f")  # they only choose how the emoji before them is drawn


def _is_seen(char: str) -> bool:
    return char.isprintable() and char not in _BLANKS


def _code(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def escape(text: str) -> str:
    """Text of several lines for a screen: line feeds and tabs stay, all else unseen is escaped."""
    if text.isascii() and text.isprintable():
        return text
    return "".join([c if _is_seen(c) or c in "\n\t" or c in _STYLES else _code(c) for c in text])


def quote(text: str) -> str:
    """Text on one line in double quotes, such that only this very text is shown this way."""
    return f'"{"".join([_SHORT.get(c) or (c if _is_seen(c) else _code(c)) for c in text])}"'
