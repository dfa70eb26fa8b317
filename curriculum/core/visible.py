"""How untrusted text is shown: nothing in it can move the cursor, hide itself or pose as ours.

Model text, tool output, commands and file names all pass here before they reach a screen. Each
character that a terminal would act on or that cannot be seen is shown as an escape, never
dropped: C0 and C1 controls, DEL, bidirectional and other format characters, unusual spaces, lone
surrogates. It looks at one character at a time, so a sequence split over two pieces is no gap.

There are two, as one text cannot be both exact and easy to read. `escape` is for prose: accents and
vowel signs stay where they are, or no Hindi and no Thai could be read. `quote` is for what a person
approves: there each character that is left stands alone in its cells and looks like no other by
Unicode's own word, so two texts never look the same. A decomposed accent, a vowel sign, a Kelvin
sign are escapes there; composed letters, Chinese, kana, Hangul, Cyrillic and emoji are not. Letters
of two scripts that only happen to look alike stay too: no Russian could be read otherwise.
"""

from __future__ import annotations

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", '"': '\\"'}
# Python calls these printable, yet nothing is seen: fillers, blanks and variation selectors.
_CODES = (
    *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800, 0x3164),
    *(*range(0xFE00, 0xFE10), 0xFFA0, 0x16FE4, 0x1D159, *range(0xE0100, 0xE01F0)),
)
_BLANKS = frozenset(map(chr, _CODES))
_STYLES = frozenset("\ufe0e\ufe0f")  # they only choose how the emoji before them is drawn
# These are drawn as one with their neighbours: parts of Hangul syllables, flags, skin tones.
_JOINING = (
    *(*range(0x1100, 0x1200), *range(0xA960, 0xA980), *range(0xD7B0, 0xD800)),
    *(*range(0x1F1E6, 0x1F200), *range(0x1F3FB, 0x1F400)),
)
_JOINED = frozenset(map(chr, _JOINING))
# A character that Unicode spells as one other, with no tag or one of these, is drawn like that one.
_DRAWN_ALIKE = ("<compat>", "<font>", "<noBreak>", "<isolated>", "<initial>", "<medial>", "<final>")


def _is_seen(char: str) -> bool:
    return char.isprintable() and char not in _BLANKS


def _is_alone(char: str) -> bool:
    """Whether it has cells of its own, and looks like no other character by Unicode's word."""
    if char.isascii():
        return char.isprintable()
    if not _is_seen(char) or char in _JOINED:
        return False
    from unicodedata import category, decomposition  # most texts need neither

    spelling = decomposition(char).split()
    is_another = len(spelling) == 1 or (len(spelling) == 2 and spelling[0] in _DRAWN_ALIKE)
    return category(char)[0] != "M" and not is_another


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
    return f'"{"".join([_SHORT.get(c) or (c if _is_alone(c) else _code(c)) for c in text])}"'
