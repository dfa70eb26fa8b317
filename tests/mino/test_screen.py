"""Rows, gutters and words on the screen, without a program around them."""

from __future__ import annotations

import io
import itertools
import re

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from curriculum.mino.question import break_lines
from curriculum.mino.rows import GUTTER, Rows, cell_size
from curriculum.mino.screen import Screen

WIDTH = 20
PLAIN = st.text(st.sampled_from("abc d\n\t字é\u0301e|[>"), max_size=80)  # of widths all agree on
TEXTS = st.text(st.sampled_from("abc d\n\t字é\u0301e\ufe0f|[>"), max_size=80)


def shown(written: str, columns: int = WIDTH + 1) -> list[str]:
    """The rows that a terminal shows of it."""
    screen = pyte.Screen(columns, 200)
    pyte.Stream(screen).feed(written.replace("\n", "\r\n"))
    return "\n".join(row.rstrip() for row in screen.display).rstrip("\n").split("\n")


def laid(pieces: list[str], words: bool) -> str:
    rows = Rows()
    return "".join(rows.layout(piece, WIDTH, words=words) for piece in pieces)


@given(st.lists(TEXTS, max_size=6), st.booleans())
def test_every_row_of_foreign_text_begins_with_the_gutter(pieces: list[str], words: bool) -> None:
    written = laid(pieces, words)
    for row in written.split("\n"):
        assert not row or row.startswith(GUTTER.rstrip())
    for row in shown(written):
        assert not row or row.startswith(GUTTER.rstrip())


@given(st.lists(PLAIN, max_size=4))
def test_pieces_make_the_same_screen_as_the_whole(pieces: list[str]) -> None:
    for words in (True, False):
        assert shown(laid(pieces, words)) == shown(laid(["".join(pieces)], words))


@given(TEXTS)
def test_nothing_is_lost_and_nothing_is_added(text: str) -> None:
    for words in (True, False):
        kept = re.sub(r"\n\| |^\| |\s|\b", "", laid([text], words).replace("\n|\n", "\n\n"))
        wanted = re.sub(r"\s", "", text)
        bare = kept.replace("|", "").replace("\b", "")
        assert bare == wanted.replace("|", "")


@given(TEXTS)
def test_no_row_is_wider_than_the_screen(text: str) -> None:
    for row in laid([text], words=False).split("\n"):
        assert sum(cell_size(char) for char in row) <= WIDTH


def test_a_word_is_kept_whole_also_when_it_comes_in_pieces() -> None:
    pieces = ["one two three fo", "urt", "een and more"]
    assert shown(laid(pieces, words=True)) == ["| one two three", "| fourteen and more"]


def test_a_word_longer_than_a_row_is_broken_at_the_edge() -> None:
    rows = ["| a", f"| {'x' * 18}", f"| {'x' * 12}"]
    assert shown(laid(["a " + "x" * 30], words=True)) == rows


def test_text_that_is_not_kept_in_words_is_broken_at_the_edge() -> None:
    assert shown(laid(["one two three fourteen"], False)) == ["| one two three four", "| teen"]


def test_rows_that_are_asked_about_show_each_blank() -> None:
    """Two texts never have the same rows, though nobody sees the blanks at the end of a row."""
    rows = [
        tuple(row.rstrip(" ") for row in broken("".join(text) + "."))
        for size in range(9)
        for text in itertools.product("a 字", repeat=size)
    ]
    assert len(set(rows)) == len(rows) == sum(3**size for size in range(9))


def broken(text: str) -> list[str]:
    """The rows of a question, six columns wide."""
    return Rows().layout(text, 6, own=True, exact=True).split("\n")


def test_a_quoted_command_is_broken_behind_its_line_ends_only() -> None:
    assert break_lines('"a\\nb"') == '"a\\n\nb"'
    assert break_lines('"a\\n\\n\\nb\\n"') == '"a\\n\\n\\n\nb\\n"'
    assert break_lines('"a\\\\nb"') == '"a\\\\nb"'
    assert break_lines('"a\\\\\\nb"') == '"a\\\\\\n\nb"'


@pytest.mark.parametrize("text", ["[Tool: bash]", "\x1b[2J", "a\rb", "\u202e"])
def test_foreign_text_is_escaped_and_behind_a_gutter(text: str) -> None:
    file = io.StringIO()
    screen = Screen(Console(file=file, force_terminal=True, width=80, color_system=None))
    screen.text(text)
    screen.end()
    written = file.getvalue()
    assert written.startswith(GUTTER)
    assert not set("\x1b\r\u202e") & set(written)


def test_a_screen_that_is_gone_is_told_once_and_takes_no_more() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(5, "gone")

    lost: list[bool] = []
    screen = Screen(Console(file=Gone()), lambda: lost.append(True))
    for _ in range(3):
        screen.say("hello")
        screen.text("hello")
    assert lost == [True]


def test_an_empty_row_is_not_doubled() -> None:
    file = io.StringIO()
    screen = Screen(Console(file=file))
    screen.say("a")
    screen.blank()
    screen.blank()
    screen.say("b")
    assert file.getvalue() == "a\n\nb\n"
