"""How untrusted text is shown: nothing in it can move the cursor, hide itself or pose as ours.

Model text, tool output, commands and file names all pass here before they reach a screen. Each
character that a terminal would act on or that cannot be seen is shown as an escape, never
dropped: C0 and C1 controls, DEL, bidirectional and other format characters, unusual spaces, lone
surrogates. It looks at one character at a time, so a sequence split over two pieces is no gap.
"""

from __future__ import annotations

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", '"': '\\"'}


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def escape(text: str) -> str:
    """Text of several lines for a screen: line feeds and tabs stay, all else unseen is escaped."""
    if text.isprintable():
        return text
    return "".join(
        [char if char.isprintable() or char in "\n\t" else _escape(char) for char in text]
    )


def quote(text: str) -> str:
    """Text on one line in double quotes, such that only this very text is shown this way."""
    return f'"{"".join([_SHORT.get(c) or (c if c.isprintable() else _escape(c)) for c in text])}"'
