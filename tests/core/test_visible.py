"""What a screen is given: every character that could act or hide is shown as an escape."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@pytest.mark.parametrize("code", [0x034F, 0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0, 0xE0100])
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
