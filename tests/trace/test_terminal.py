"""The terminal in the hands of the player, a real pseudo-terminal: keys, pictures, its return."""

from __future__ import annotations

import errno
import io
import os
import pty
import re
import select
import signal
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any, TextIO

import pytest

from curriculum.trace.__main__ import main
from curriculum.trace.inputs import RefusedError
from curriculum.trace.terminal import ENTER, KEY_SECONDS, LEAVE, ScreenTerminal, open_terminal
from tests.golden import GOLDEN


class Screen:
    """The other end of the terminal: what a person types, and what the screen was sent."""

    def __init__(self, master: int, shown: TextIO) -> None:
        self._master, self._shown = master, shown
        self.number = shown.fileno()

    @contextmanager
    def taken(self) -> Iterator[ScreenTerminal]:
        """The terminal, taken by the player."""
        with redirect_stdout(self._shown), open_terminal() as terminal:
            yield terminal

    def type(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def sent(self) -> str:
        """Everything that was written to the terminal since the last call."""
        os.set_blocking(self._master, False)
        found = b""
        with suppress(BlockingIOError):
            while block := os.read(self._master, 4096):
                found += block
        os.set_blocking(self._master, True)
        return found.decode()


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Screen]:
    """A terminal of 61 columns and 17 rows, which standard input is."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (17, 61))
    with open(slave, "rb", closefd=False) as keys, open(slave, "w", closefd=False) as shown:
        monkeypatch.setattr(sys, "stdin", keys)
        yield Screen(master, shown)
    os.close(master)
    os.close(slave)


def keys_of(terminal: ScreenTerminal, count: int) -> list[str | None]:
    return [terminal.read_key(30) for _ in range(count)]


NAMED = [
    *((b"\x1b[A", "up"), (b"\x1b[B", "down"), (b"\x1b[C", "right"), (b"\x1b[D", "left")),
    *((b"\x1bOA", "up"), (b"\x1bOB", "down"), (b"\x1bOC", "right"), (b"\x1bOD", "left")),
    *((b"\x1b[H", "home"), (b"\x1b[F", "end"), (b"\x1bOH", "home"), (b"\x1bOF", "end")),
    *((b"\x1b[1~", "home"), (b"\x1b[4~", "end"), (b"\x1b[5~", "pageup"), (b"\x1b[6~", "pagedown")),
    *((b"\r", "enter"), (b"\n", "enter"), (b" ", "space"), (b"\x04", "q")),
    *((b"q", "q"), (b"?", "?"), ("é".encode(), "é"), ("→".encode(), "→")),
]


@pytest.mark.parametrize(("typed", "name"), NAMED)
def test_each_key_has_its_name_also_with_others_behind_it(
    typed: bytes, name: str, screen: Screen
) -> None:
    with screen.taken() as terminal:
        assert terminal.take_change(), "what was there has to be drawn over"
        screen.type(typed + b"xy" + typed)
        assert keys_of(terminal, 4) == [name, "x", "y", name]
        assert terminal.read_key(0) is None


def test_a_key_without_a_meaning_is_unknown_and_takes_nothing_else_with_it(screen: Screen) -> None:
    with screen.taken() as terminal:
        terminal.take_change()
        for typed in (b"\x1b[15~", b"\x1b", b"\x1bO", b"\x1b[2;5C"):
            screen.type(typed)
            assert terminal.read_key(30) == "unknown"
        screen.type(b"x\x1b[C")
        assert keys_of(terminal, 2) == ["x", "right"]


def test_an_arrow_that_comes_in_parts_is_an_arrow(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest, wait = [b"[", b"C"], select.select

    def waited(*about: Any) -> Any:
        """What the player waits for comes while it waits."""
        *where, seconds = about
        if seconds == KEY_SECONDS:
            screen.type(rest.pop(0))
        return wait(*where, 30)

    with screen.taken() as terminal:
        terminal.take_change()
        monkeypatch.setattr(select, "select", waited)
        screen.type(b"\x1b")
        assert terminal.read_key(30) == "right"  # by itself, `[` would go back a turn
        assert rest == []


def test_bytes_that_are_no_character_are_no_key_that_has_a_meaning(screen: Screen) -> None:
    with screen.taken() as terminal:
        terminal.take_change()
        screen.type(b"\xff")
        assert terminal.read_key(30) == "\N{REPLACEMENT CHARACTER}"


def test_no_more_keys_is_told(screen: Screen) -> None:
    there, here = os.pipe()
    with screen.taken() as terminal:
        terminal.take_change()
        terminal._keys, given = there, terminal._keys
        os.close(here)
        with pytest.raises(EOFError):
            terminal.read_key(30)
        terminal._keys = given
    os.close(there)


def test_a_change_is_noted_once_however_often_it_comes(screen: Screen) -> None:
    with screen.taken() as terminal:
        assert terminal.take_change()
        assert not terminal.take_change()
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGWINCH)
        assert terminal.read_key(None) is None, "it waits no longer than for the change"
        assert terminal.take_change()
        assert not terminal.take_change()
        for _ in range(100_000):  # more than a pipe holds
            terminal.note_change()
        while terminal.take_change():
            pass
        assert terminal.size == (61, 17)


def test_a_picture_is_put_over_the_one_before(screen: Screen) -> None:
    with screen.taken() as terminal:
        assert screen.sent() == ENTER == "\x1b[?1049h\x1b[?25l\x1b[2J"
        terminal.show(["one", "two"])
        # The terminal itself makes CR LF of each LF.
        assert screen.sent() == "\x1b[Hone\x1b[0m\x1b[K\r\r\ntwo\x1b[0m\x1b[K"
    assert screen.sent() == LEAVE == "\x1b[0m\x1b[?25h\x1b[?1049l"


class Shown(io.StringIO):
    """Takes the pictures; types `keys` once what it waits for is on one of them."""

    def __init__(self, screen: Screen, keys: bytes, when: str) -> None:
        super().__init__()
        self._screen, self._keys, self._when = screen, keys, when

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._screen.number

    def write(self, text: str) -> int:
        if self._when in text:
            self._screen.type(self._keys)
            self._keys = b""
        return super().write(text)


def play(screen: Screen, *words: str, when: str = "event", keys: bytes = b"q") -> str:
    """What `play` shows until `keys` end it, or what it prints."""
    with redirect_stdout(Shown(screen, keys, when)) as shown:
        assert main(["play", str(GOLDEN / "s04_approvals.jsonl"), *words]) == 0
    return shown.getvalue()


@pytest.fixture
def with_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.mark.usefixtures("with_colours")
def test_the_command_plays_from_a_line_at_a_speed_until_it_is_quit(screen: Screen) -> None:
    shown = play(screen, "--at", "27", "--speed", "1/4")
    assert shown.startswith(ENTER)
    assert "event 27/27" in shown
    assert "paused 1/4×" in shown
    assert "\x1b[1;32massistant" in shown
    assert "event 1/27" in play(screen)
    # Events are a millisecond apart: this comes to the end by itself, and is quit there.
    played = play(screen, "--start", "--speed", "64", when="event 27/27")
    assert "playing 64×" in played


@pytest.mark.usefixtures("with_colours")
def test_a_line_that_there_is_not_is_told_and_takes_no_terminal(
    screen: Screen, capsys: pytest.CaptureFixture[str]
) -> None:
    name = str(GOLDEN / "s04_approvals.jsonl")
    with redirect_stdout(Shown(screen, b"", "")) as shown:
        assert main(["play", name, "--at", "28"]) == 64
    assert shown.getvalue() == ""
    assert capsys.readouterr().err == f"play: {name}: it has 27 lines, not 28\n"


@pytest.mark.usefixtures("with_colours")
def test_who_has_no_screen_gets_lines_and_who_wants_no_colours_none(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = play(screen, "--plain")
    assert plain.count("\n") == 27
    monkeypatch.setenv("NO_COLOR", "")
    assert not re.search(r"\x1b\[[1-9][0-9;]*m", play(screen))
    monkeypatch.setenv("TERM", "dumb")
    assert play(screen) == plain
    monkeypatch.delenv("TERM")
    assert play(screen) == plain


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, None])
def test_the_terminal_is_given_back_however_it_ends(
    number: signal.Signals | None, screen: Screen
) -> None:
    caught = (signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP, signal.SIGWINCH)
    handlers = [signal.getsignal(one) for one in caught]
    descriptors = len(os.listdir("/proc/self/fd"))
    mode = termios.tcgetattr(sys.stdin)
    code: object = None
    try:
        with screen.taken():
            local = termios.tcgetattr(sys.stdin)[3]
            assert not local & (termios.ECHO | termios.ICANON)
            assert local & termios.ISIG, "Ctrl+C still is Ctrl+C"
            if number:
                os.kill(os.getpid(), number)
    except SystemExit as end:
        code = end.code
    assert code == (128 + number if number else None)
    assert termios.tcgetattr(sys.stdin) == mode
    assert [signal.getsignal(one) for one in caught] == handlers
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_keys_come_from_the_terminal_when_the_trace_comes_from_a_pipe(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int]] = []
    slave, real = sys.stdin.fileno(), os.open

    def opened(name: str, flags: int, *more: int) -> int:
        asked.append((name, flags))
        return os.dup(slave) if name == "/dev/tty" else real(name, flags, *more)

    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        monkeypatch.setattr(os, "open", opened)
        descriptors = len(os.listdir("/proc/self/fd"))
        with screen.taken() as terminal:
            assert asked[0] == ("/dev/tty", os.O_RDONLY)
            terminal.take_change()
            screen.type(b"x")
            assert terminal.read_key(30) == "x"
        assert len(os.listdir("/proc/self/fd")) == descriptors, "it is closed again"


def test_without_a_terminal_there_are_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str, flags: int) -> int:
        raise OSError(errno.ENXIO, "planted")

    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        monkeypatch.setattr(os, "open", none)
        with pytest.raises(RefusedError) as refused, open_terminal():
            pass
    assert str(refused.value) == "there is no terminal to read keys from; --plain needs none"
    assert refused.value.exit_code == 66
