"""The player: its keys without a terminal, its pictures, and the whole of it on a real pty."""

from __future__ import annotations

import json
import os
import re
import signal
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.core.trace import to_json
from curriculum.trace.engines import make_engine
from curriculum.trace.film import Film, open_film
from curriculum.trace.inputs import RefusedError
from curriculum.trace.machine import STATES, state_after
from curriculum.trace.player import HELP, Player
from curriculum.trace.stage import Stage
from tests.golden import GOLDEN
from tests.trace.commands import run
from tests.trace.runs import PLANS, Plan, perform
from tests.trace.screen import Screen
from tests.trace.story import Event, calls, error, numbered, place, result, stop, to_bytes, user

ENGINE = make_engine()
GOLD = GOLDEN / "s04_approvals.jsonl"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@contextmanager
def film_of(tmp_path: Path, events: list[Event]) -> Iterator[Film]:
    path = tmp_path / "film.jsonl"
    path.write_bytes(to_bytes(events))
    with open_film(str(path), ENGINE) as film:
        yield film


def two_turns() -> list[Event]:
    """Two turns; in the second a call fails and the run ends with an error."""
    story = calls()[:-1]
    second = calls()[1:-3]
    for one in second:
        one["payload"] = json.loads(json.dumps(one["payload"]).replace("call-1", "call-2"))
    second[0] = user("And now?")
    second[place(second, "tool.result")] = result("failed", "call-2")
    return numbered([*story, *second, error(), stop("failed")])


@pytest.fixture
def film(tmp_path: Path) -> Iterator[Film]:
    with film_of(tmp_path, two_turns()) as made:
        yield made


# region: keys
def press(player: Player, *keys: str) -> int:
    for key in keys:
        player.press(key, 0.0)
    return player.position


def test_keys_step_and_stop_at_both_ends(film: Film) -> None:
    player = Player(film, 1.0)
    assert press(player, "left") == 0
    assert press(player, "right", "pagedown", "l", "enter") == 4
    assert press(player, "pageup", "h") == 2
    assert press(player, "G") == press(player, "right") == len(film) - 1
    assert press(player, "home") == 0
    assert press(player, "pagedown", "pagedown", "pageup") == 1


def test_keys_jump_by_turn_and_to_errors(film: Film) -> None:
    player = Player(film, 1.0)
    assert [press(player, "down") for _ in range(2)] == list(film.turns) == [1, 14]
    assert press(player, "down") == 14
    assert player.note == "no further turn that way"
    assert press(player, "up") == 1
    assert (press(player, "up"), player.note) == (1, "no further turn that way")
    assert [press(player, "n"), press(player, "p")] == [14, 1]  # as in the browser
    assert [press(player, "e") for _ in range(2)] == list(film.troubles) == [24, 25]
    assert press(player, "E") == 24
    assert [film.event(index)["type"] for index in film.troubles] == ["tool.result", "error"]


def test_a_number_and_enter_go_to_a_line(film: Film) -> None:
    player = Player(film, 1.0)
    assert press(player, "1", "2", "enter") == 11
    assert press(player, *"999999999999", "enter") == len(film) - 1
    assert press(player, "0", "enter") == 0
    assert press(player, "3", "x", "enter") == 1  # another key forgets the number


def test_it_plays_at_its_speed_and_no_pause_is_longer_than_the_limit(film: Film) -> None:
    player = Player(film, idle_limit=0.0005)
    player.press("space", 10.0)
    assert player.wait(10.0) == pytest.approx(0.0005)
    player = Player(film, idle_limit=1.0)
    player.press("space", 10.0)
    assert player.wait(10.0) == pytest.approx(0.001)
    player.press("+", 10.0)
    assert (player.wait(10.0), player.speed) == (pytest.approx(0.0005), "2×")
    for _ in range(9):
        player.press("-", 10.0)
    assert (player.wait(10.0), player.speed) == (pytest.approx(0.008), "1/8×")
    assert not player.tick(10.0)
    assert player.tick(10.1)
    assert player.position == 1


def test_it_stops_at_the_end_and_begins_again(film: Film) -> None:
    player = Player(film, 1.0)
    press(player, "G", "left")
    player.press("space", 0.0)
    assert player.tick(9.0)
    assert (player.position, player.is_playing, player.wait(9.0)) == (len(film) - 1, False, None)
    player.press("space", 9.0)
    assert (player.position, player.is_playing) == (0, True)
    player.press("right", 9.0)
    assert not player.is_playing


def test_a_single_event_cannot_be_played(tmp_path: Path) -> None:
    with film_of(tmp_path, two_turns()[:1]) as film:
        player = Player(film, 1.0)
        assert press(player, "space", "right", "left", "G", "e", "down") == 0
        player.press("space", 0.0)
        assert (player.is_playing, player.wait(9.0)) == (False, None)


@given(st.lists(st.sampled_from([*"nbjkeEgG+-?0123456789xé", "space", "enter", "unknown"])))
def test_no_keys_lead_out_of_the_film(keys: list[str]) -> None:
    with open_film(str(GOLD), ENGINE) as film:
        player = Player(film, 1.0)
        for now, key in enumerate(keys):
            player.press(key, float(now))
            player.tick(now + 0.9)
            assert 0 <= player.position < len(film)


# endregion


# region: film
@given(PLANS)
def test_any_run_is_somewhere_in_the_machine_and_stops(plan: Plan) -> None:
    events = [json.loads(line) for line in perform(plan).splitlines()]
    states = ["idle"]
    for event in events:
        states.append(state_after(states[-1], event))
    assert set(states) <= set(STATES)
    assert states[-1] == "stopped"


def test_a_film_reads_each_event_again(film: Film) -> None:
    events = two_turns()
    assert [film.event(index) for index in range(len(film))] == events
    assert [film.turn(index) for index in (0, 1, 13, 14, 26)] == [0, 1, 1, 2, 2]
    assert film.messages_until(13) == [1, 5, 11, 13]


def test_a_film_of_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    with film_of(tmp_path, two_turns()) as film:
        os.truncate(tmp_path / "film.jsonl", 300)
        with pytest.raises(RefusedError, match="has changed since it was opened"):
            film.event(9)


def test_a_film_of_a_pipe_can_be_entered_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "film.jsonl"
    path.write_bytes(to_bytes(two_turns()))
    with path.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        with open_film("-", ENGINE) as film:
            assert [film.event(index) for index in (26, 0)] == [two_turns()[26], two_turns()[0]]


def test_a_film_without_events_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="no events in it"), film_of(tmp_path, []):
        raise AssertionError


# endregion


# region: pictures
def picture(film: Film, position: int, columns: int = 100, rows: int = 30) -> list[str]:
    player = Player(film, 1.0, at=position)
    return [COLOUR.sub("", line) for line in Stage().draw(player, columns, rows)]


def test_messages_grow_on_the_left_and_deltas_are_not_among_them(film: Film) -> None:
    early, late = "\n".join(picture(film, 4)), "\n".join(picture(film, 5))
    assert "messages (1)" in early
    assert "Let me look." not in early
    assert "messages (2)" in late
    assert "│ Let me look." in late


def messages_of(tmp_path: Path, *events: Event, rows: int = 30) -> list[str]:
    """What the panel of messages shows at the end, row by row."""
    with film_of(tmp_path, numbered([calls()[0], *events])) as film:
        shown = [line[:50] for line in picture(film, len(events), rows=rows)]
    assert shown[0].startswith(f"╭─ messages ({len(events)}): what the model sees ─")
    rows_of_panel = shown[1 : next(at for at, line in enumerate(shown) if line[0] == "╰")]
    assert all((line[:2], line[-2:]) == ("│ ", " │") for line in rows_of_panel)
    return [line[2:-2].rstrip() for line in rows_of_panel]


def test_the_newest_message_is_at_the_bottom_and_the_oldest_make_room(tmp_path: Path) -> None:
    shown = messages_of(tmp_path, *(user(f"number {number}") for number in range(40)))
    assert shown[-4:] == ["user", "number 38", "user", "number 39"]
    assert len(shown) == 24
    assert messages_of(tmp_path, user("one"), user("two"))[:5] == ["user", "one", "user", "two", ""]


def test_a_message_is_wrapped_at_words_and_a_tab_is_four_columns(tmp_path: Path) -> None:
    shown = messages_of(tmp_path, user("a\tb " + "seven77 " * 6 + "end"))
    assert shown[:3] == ["user", "a   b" + " seven77" * 5, "seven77 end"]


@pytest.mark.parametrize(("length", "end"), [(4_000, "x"), (4_001, "x…")])
def test_a_message_that_is_cut_says_so(tmp_path: Path, length: int, end: str) -> None:
    shown = messages_of(tmp_path, user("x" * length))
    assert "".join(shown).strip("x") == end.strip("x")
    assert shown[-1] == "x" * (4_000 % 46) + end[1:]


def test_the_current_state_is_lit(film: Film) -> None:
    lit = [re.findall(r"\[(\w+)\]", "\n".join(picture(film, i)[-5:]))[0] for i in range(15)]
    assert lit == [
        *("idle", "idle", "asking", "streaming", "streaming", "answered", "answered", "approving"),
        *("answered", "acting", "acting", "answered", "asking", "idle", "idle"),
    ]


def test_what_went_wrong_is_red_on_a_terminal_with_colours(film: Film) -> None:
    player = Player(film, 1.0, at=26)
    [line] = [line for line in Stage().draw(player, 120, 40) if "error model" in line]
    assert "\x1b[31m" in line
    plain = Stage(has_colour=False).draw(player, 120, 40)
    assert not any("\x1b[31m" in line or "\x1b[32m" in line for line in plain)


@pytest.mark.parametrize(("columns", "rows"), [(48, 12), (60, 16), (84, 24), (132, 43), (300, 90)])
@pytest.mark.parametrize("position", [0, 13, 26])
def test_a_picture_fills_its_size_exactly(
    film: Film, columns: int, rows: int, position: int
) -> None:
    lines = picture(film, position, columns, rows)
    assert len(lines) == rows
    assert all(len(line) <= columns for line in lines)
    assert "stopped" in "\n".join(lines)


def test_a_tiny_terminal_is_told_so(film: Film) -> None:
    assert picture(film, 0, 20, 5) == ["the terminal is too ", "", "", "", ""]


HOSTILE = "\x1b[2J\x1b]0;owned\x07\r\x9b31m\u202eabc\u200b\x7f[bold]x[/bold]"


def hostile() -> list[Event]:
    """The story with terminal attacks wherever a trace may have text."""
    story = calls()
    story[0]["payload"]["model"] = HOSTILE
    story[1]["payload"]["content"] = HOSTILE
    story[3]["payload"]["text"] = HOSTILE
    call = {"call_id": HOSTILE, "name": HOSTILE, "arguments": HOSTILE}
    story[5]["payload"].update(content=HOSTILE, tool_calls=[call])
    story[6]["payload"].update(call)
    story[6]["actor"]["id"] = HOSTILE
    story[7]["payload"].update(call_id=HOSTILE, display={HOSTILE: HOSTILE})
    story[8]["payload"].update(call_id=HOSTILE, rationale=HOSTILE)
    story[9]["payload"].update(call_id=HOSTILE, display={"command": HOSTILE})
    story[10]["payload"].update(call_id=HOSTILE, text=HOSTILE)
    story[11]["payload"].update(call_id=HOSTILE, output=HOSTILE)
    story[13] = error()
    story[13]["payload"]["message"] = HOSTILE
    return numbered(story)


def test_nothing_in_a_trace_reaches_the_screen_raw(tmp_path: Path) -> None:
    with film_of(tmp_path, hostile()) as film:
        for position in range(len(film)):
            player = Player(film, 1.0, at=position)
            drawn = "\n".join(Stage().draw(player, 100, 40))
            left = COLOUR.sub("", drawn).replace("\n", "")
            assert left.isprintable(), ascii(left)
    shown = run("play", tmp_path / "film.jsonl").stdout
    assert shown.replace("\n", "").isprintable()
    assert len(shown.splitlines()) == 15


# endregion


# region: plain
def test_a_pipe_gets_one_line_an_event() -> None:
    done = run("play", GOLD)
    lines = done.stdout.splitlines()
    assert len(lines) == 27
    assert lines[8].split()[:7] == ["9", "0.008000", "turn", "1", "acting", "harness", "tool.start"]
    assert run("play", "-", "--at", "9", data=GOLD.read_bytes()).stdout.splitlines() == lines[8:]


def test_a_torn_tail_is_said() -> None:
    done = run("play", "-", data=GOLD.read_bytes() + b"{")
    assert done.stdout.splitlines()[-1] == "   28 torn: 1 bytes without LF"


@pytest.mark.parametrize(
    "words", [["--speed", "3"], ["--idle-limit", "-1"], ["--idle-limit", "nan"], ["--at", "0"]]
)
def test_wrong_options_are_one_line(words: list[str]) -> None:
    done = run("play", GOLD, *words)
    assert done.returncode == 64
    assert len(done.stderr.splitlines()) == 1


# endregion


# region: pty
@pytest.fixture
def screen() -> Iterator[Callable[..., Screen]]:
    opened: list[Screen] = []

    def open_screen(*words: str | Path, **kinds: Any) -> Screen:
        opened.append(Screen(*words, **kinds))
        return opened[-1]

    yield open_screen
    for one in opened:
        one.process.close(force=True)


def test_a_person_steps_through_a_run(screen: Callable[..., Screen]) -> None:
    on = screen("play", GOLD)
    text = on.wait_for(r"event 1/27")
    assert "[idle]" in text
    assert "messages (0)" in text
    on.press("\x1b[C\x1b[C")  # the right arrow, twice
    text = on.wait_for(r"event 3/27")
    assert "[asking]" in text
    assert "messages (1)" in text
    on.press("e")
    text = on.wait_for(r"event 13/27")
    assert "denied" in text
    on.press("7\r")
    assert "[approving]" in on.wait_for(r"event 7/27")
    on.press("?")
    text = on.wait_for("go to line 12")
    assert all(what in text for _, what in HELP)
    on.press("?G")
    assert "[stopped]" in on.wait_for(r"event 27/27")
    on.press("q")
    assert on.end() == 0


def test_it_plays_to_the_end_by_itself(screen: Callable[..., Screen]) -> None:
    on = screen("play", GOLD, "--start", "--idle-limit", "0.01")
    on.wait_for(r"event 27/27.*paused")
    on.press("q")
    assert on.end() == 0


def test_another_size_is_another_picture(screen: Callable[..., Screen]) -> None:
    on = screen("play", GOLD)
    on.wait_for(r"event 1/27")
    on.resize(60, 16)
    text = on.wait_for(
        lambda text: text.splitlines()[15:] and "event 1/27" in text.splitlines()[15]
    )
    assert all(len(line) <= 60 for line in text.splitlines())
    on.press("q")
    assert on.end() == 0


ENDS = {
    "q": lambda on: on.press("q"),
    "ctrl-d": lambda on: on.press("\x04"),
    "ctrl-c": lambda on: on.press("\x03"),
    "sigterm": lambda on: os.kill(on.process.pid, signal.SIGTERM),
}


@pytest.mark.parametrize(
    ("how", "code"), [("q", 0), ("ctrl-d", 0), ("ctrl-c", 130), ("sigterm", 143)]
)
def test_the_terminal_is_given_back_as_it_was(
    screen: Callable[..., Screen], how: str, code: int
) -> None:
    on = screen("play", GOLD)
    before = termios.tcgetattr(on.process.child_fd)
    on.wait_for(r"event 1/27")
    during = termios.tcgetattr(on.process.child_fd)
    assert during[3] & termios.ECHO == 0
    ENDS[how](on)
    left = None
    while left != before and on.process.isalive():
        left = termios.tcgetattr(on.process.child_fd)
    assert on.end() == code
    assert b"Traceback" not in on.raw
    entered, gone = on.raw.count(b"\x1b[?1049h"), on.raw.count(b"\x1b[?1049l")
    assert (entered, gone) == (1, 1)
    assert on.raw.rstrip().endswith(b"\x1b[?1049l")


def test_hostile_text_cannot_move_the_cursor(screen: Callable[..., Screen], tmp_path: Path) -> None:
    path = tmp_path / "hostile.jsonl"
    path.write_bytes("".join(to_json(event) + "\n" for event in hostile()).encode())
    on = screen("play", path)
    on.wait_for(r"event 1/15")
    for before, after in pairwise(range(1, 16)):
        on.press("l")
        on.wait_for(rf"event {after}/15")
        assert before < after
    assert on.raw.count(b"\x1b[2J") == 1  # ours, when it took the screen
    assert b"\x1b]0;" not in on.raw
    on.press("q")
    assert on.end() == 0


@pytest.mark.parametrize(("words", "terminal"), [(["--plain"], "xterm"), ([], "dumb")])
def test_a_dumb_terminal_gets_lines(
    screen: Callable[..., Screen], words: list[str], terminal: str
) -> None:
    on = screen("play", GOLD, *words, columns=200, rows=40, env={"TERM": terminal})
    assert on.end() == 0
    assert b"\x1b" not in on.raw
    assert on.raw.count(b"\n") == 27


# endregion
