"""Text from a session as a person may see it: nothing in it reaches the terminal as a command."""

from __future__ import annotations


def shown(text: str) -> str:
    """`text` on one line: control, format and other unprintable characters are escaped."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def first_words(text: str, width: int) -> str:
    """The beginning of `text` on one line of at most `width` characters."""
    line = shown(" ".join(text[: width * 4].split()))
    return line if len(line) <= width and len(text) <= width * 4 else line[: width - 1] + "…"


def _escape(char: str) -> str:
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    if short:
        return short
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
