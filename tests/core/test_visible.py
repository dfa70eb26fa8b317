"""What a screen is given: every character that could act or hide is shown as an escape."""

from __future__ import annotations

import json
import sys
import unicodedata

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import get_character_cell_size

from curriculum.core.visible import escape, quote

ANY = st.text(st.characters(exclude_categories=()))
BIDI = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]


@pytest.mark.parametrize("code", BIDI)
def test_d2_bidirectional_marks_are_shown_not_dropped(code: int) -> None:
    assert len(BIDI) == 12
    assert escape(f"a{chr(code)}b") == f"a\\u{code:04x}b"
    assert quote(chr(code)) == f'"\\u{code:04x}"'


@given(ANY)
def test_nothing_that_a_terminal_acts_on_is_left(text: str) -> None:
    for shown in (escape(text), quote(text)):
        rest = shown.replace("\n", "").replace("\t", "") if shown is not None else ""
        assert rest.isprintable()
        assert not {unicodedata.category(char) for char in rest} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
        shown.encode()


@given(ANY)
def test_a_quote_is_one_line_and_tells_its_text_apart_from_every_other(text: str) -> None:
    shown = quote(text)
    assert "\n" not in shown
    body = shown[1:-1].replace("\\x", "\\u00")
    if "\\U" not in body:
        assert json.loads(f'"{body}"') == text


@given(ANY, st.data())
def test_escaping_in_pieces_is_escaping_the_whole(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    assert escape(text[:cut]) + escape(text[cut:]) == escape(text)


@pytest.fixture(scope="module")
def quotes() -> list[str]:
    """How each code point is quoted."""
    return [quote(chr(code)) for code in range(sys.maxunicode + 1)]


@pytest.fixture(scope="module")
def kept(quotes: list[str]) -> list[str]:
    """Every character that a quote shows as itself."""
    return [chr(code) for code, shown in enumerate(quotes) if shown[1:-1] == chr(code)]


def test_no_two_characters_are_quoted_alike(quotes: list[str]) -> None:
    assert len(set(quotes)) == len(quotes)


def test_what_a_quote_keeps_has_cells_of_its_own_on_a_terminal(kept: list[str]) -> None:
    """So of two texts of any length that differ, the cells differ: nothing melts into its left."""
    assert all(get_character_cell_size(char) in (1, 2) for char in kept)
    screen = pyte.Screen(2 * len(kept) + 2, 1)
    for text in ("".join(kept), "".join(reversed(kept))):
        screen.reset()
        pyte.Stream(screen).feed(text)
        row = screen.buffer[0]
        assert "".join(row[column].data for column in range(screen.cursor.x)) == text


def test_no_texts_of_two_characters_that_unicode_draws_alike_are_quoted_alike(
    kept: list[str],
) -> None:
    """Two kept characters are never canonically one, nor one kept character another."""
    rest = frozenset(kept)
    assert len({unicodedata.normalize("NFC", char) for char in kept}) == len(kept)
    for char in map(chr, range(sys.maxunicode + 1)):
        spelling = unicodedata.decomposition(char).split()
        if len(spelling) == 1:
            assert char not in rest
        elif len(spelling) == 2 and not spelling[0].startswith("<"):
            assert chr(int(spelling[1], 16)) not in rest


# Of each, the second is drawn like the first: by Unicode, and by the terminals that we have seen.
ALIKE = [("\xe9", "e\u0301"), ("K", "\u212a"), (";", "\u037e"), ("`", "\u1fef"), (".", "\u2024")]
ALIKE += [("a", "a\u034f"), ("a", "a\U00016fe4"), ("\uac00", "\u1100\u1161"), ("a", "a\ud7b0")]
ALIKE += [("\u1101", "\u1100\u1100"), (" ", "\U0001d159"), ("-", "\u2011"), ("\u4e00", "\u2f00")]
ALIKE += [("x", "x\u0e31"), ("rm", "\U0001d5cb\U0001d5c6"), ("\u8c48", "\uf900")]


@pytest.mark.parametrize(("plain", "alike"), ALIKE)
def test_what_looks_like_another_text_is_quoted_in_escapes(plain: str, alike: str) -> None:
    last = ord(alike[-1])
    assert quote(alike).endswith(f"\\U{last:08x}" + '"' if last > 0xFFFF else f'\\u{last:04x}"')
    assert quote(plain) != quote(alike)


LEGIBLE = "echo 你好，世界…… naïve Größe — „ok“ 한국어 日本語カナ Привет العربية שלום ½ ① ² 🙂"


def test_common_scripts_are_quoted_as_they_are() -> None:
    assert quote(LEGIBLE) == f'"{LEGIBLE}"'


def test_prose_keeps_its_vowel_signs_and_accents() -> None:
    for text in ("हिन्दी", "ที่นี่", "e\u0301", "\u1112\u1161\u11ab"):
        assert escape(text) == text
        assert quote(text) != f'"{text}"'


@pytest.mark.parametrize(
    "code", [0x034F, 0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0, 0x16FE4, 0x1D159, 0xE0100]
)
def test_blanks_that_python_calls_printable_are_shown(code: int) -> None:
    assert chr(code).isprintable()
    assert "\\" in escape(f"a{chr(code)}b")
    assert "\\" in quote(chr(code))


def test_the_style_of_an_emoji_is_kept_in_text_and_shown_in_a_quote() -> None:
    assert escape("\u26a0\ufe0f careful") == "\u26a0\ufe0f careful"
    assert quote("\u26a0\ufe0f") == '"\u26a0\\ufe0f"'


def test_d1_d10_sequences_are_visible() -> None:
    assert escape("\x1b[2K\r  ls") == "\\x1b[2K\\x0d  ls"
    assert escape("\x1b]52;c;x\x07\x9b") == "\\x1b]52;c;x\\x07\\x9b"
    assert quote('say "hi"\\\n') == '"say \\"hi\\"\\\\\\n"'
    assert escape("naïve 中文 🙂\tend\n") == "naïve 中文 🙂\tend\n"
