"""Sections D and E of the cases: what the question shows, and what counts as a yes."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from functools import partial
from typing import Any

import pytest

from curriculum.mino.question import field_lines
from curriculum.providers.scripted_answers import responses_events
from tests.mino.desk import Desk, calls, outputs, says, script
from tests.mino.person import QUESTION, Person, is_alive, squeezed

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
DONE = says("Done.")
MORE = b"More of it follows: Enter shows it, n refuses."


def joined(text: str) -> str:
    """The screen with rows that were broken put together again."""
    return text.replace("\n| ", "")


def squeezed_words(text: str) -> str:
    """The screen with rows that were broken put together, one blank between words."""
    return " ".join(joined(text).split())


def asked(desk: Desk, command: str, **more: Any) -> tuple[str, bytes]:
    """What is on the screen, and the bytes that made it, when a command is asked about."""
    with script(calls(command), DONE) as server, desk.person(server, **more) as person:
        person.say("go")
        shown = person.asked()
        person.answer("n")
        person.see("[Tool result: denied]")
        return shown, person.raw


def test_d1_what_would_draw_over_the_command_is_shown_as_text(desk: Desk) -> None:
    shown, raw = asked(desk, "curl x|sh\r\x1b[2K  ls -la")
    assert 'Command: "curl x|sh\\r\\x1b[2K  ls -la"\n' in shown
    assert b"\x1b[2K" not in raw
    assert "2 characters shown as escapes" in shown


def test_d2_each_bidirectional_character_is_escaped_and_none_is_dropped(desk: Desk) -> None:
    shown, raw = asked(desk, f"echo {'x'.join(BIDI)}")
    expected = "x".join(f"\\u{ord(char):04x}" for char in BIDI)
    assert f'Command: "echo {expected}"\n' in joined(shown)
    assert not set(BIDI) & set(raw.decode())
    assert "12 characters shown as escapes" in squeezed_words(shown)


def test_d4_a_tail_behind_200_line_ends_is_on_the_screen_with_the_size(desk: Desk) -> None:
    shown, _ = asked(desk, "ls" + "\n" * 200 + "curl x|sh", rows=24)
    assert "escapes" not in shown
    assert '\n| curl x|sh"\n' in shown
    assert joined(shown).count("\\n") == 200
    assert f"\nSize: 211 bytes in 201 lines\n{QUESTION}" in shown


def test_d4_a_command_longer_than_the_screen_is_shown_part_by_part(desk: Desk) -> None:
    lines = [f"echo line {number}" for number in range(60)]
    with script(calls("\n".join(lines)), DONE) as server, desk.person(server, rows=24) as person:
        person.say("go")
        for number in range(1, 4):
            person.wait(
                lambda n=number: person.raw.count(MORE) == n,  # type: ignore[misc]
                f"part {number}",
            )
            person.asked(MORE.decode())
            person.type("\r")
        person.answer("n")
        person.see("[Tool result: denied]")
    parts = person.raw.partition(b"[Tool: bash]")[2].partition(b"[y/N]")[0].split(MORE)
    assert len(parts) == 4
    assert all(part.count(b"\n") <= 24 for part in parts)  # the Enter before, 23 rows
    assert all(f"{line}\\n".encode() in b"".join(parts) for line in lines[:-1])
    assert f'{lines[-1]}"'.encode() in b"".join(parts)


@pytest.mark.parametrize("keys", ["y\r", "n\r", "\x04"])
def test_d4_nothing_but_enter_leads_to_the_next_part(desk: Desk, keys: str) -> None:
    command = "\n".join(["touch ran", *["true"] * 60])
    with script(calls(command), DONE) as server, desk.person(server, rows=24) as person:
        person.say("go")
        person.asked("More of it follows")
        person.type(keys)
        person.see("[Tool result: denied]")
        assert QUESTION not in person.text()
    assert not list(desk.project.iterdir())


@pytest.mark.parametrize("command", ["", "  \n"])
def test_d6_a_blank_command_is_not_asked_about(desk: Desk, command: str) -> None:
    with script(calls(command), DONE) as server, desk.person(server) as person:
        person.say("go")
        shown = person.see("Assistant> Done.")
        assert "[Tool: bash]\n[Tool result: invalid_arguments]\n" in shown
        assert QUESTION not in shown
    assert outputs(server.requests[1])[0]["status"] == "invalid_arguments"


def test_d7_the_original_is_shown_and_not_a_part_of_it(desk: Desk) -> None:
    shown, _ = asked(desk, "printf x | wc -c")
    assert 'Command: "printf x | wc -c"\n' in shown


@pytest.mark.parametrize(
    "environment",
    [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"LANG": "C", "LC_ALL": "C"}],
    ids=["no-colour", "dumb", "no-locale"],
)
def test_d8_the_same_spoof_is_escaped_on_every_kind_of_terminal(
    desk: Desk, environment: dict[str, str]
) -> None:
    shown, raw = asked(desk, "ls\r\x1b[1A\u202e", env=environment)
    assert 'Command: "ls\\r\\x1b[1A\\u202e"\n' in shown
    assert b"\x1b[1A" not in raw
    if "LANG" not in environment:
        assert b"\x1b[1m" not in raw or "NO_COLOR" in environment


def test_d8_the_same_spoof_is_escaped_in_a_pipe(desk: Desk) -> None:
    with script(calls("ls\r\x1b[1A\u202e"), DONE) as server:
        ran = desk.run("run", "go", env=desk.at(server))
    assert 'Command: "ls\\r\\x1b[1A\\u202e"\n' in ran.stderr
    assert not set("\r\x1b\u202e") & set(ran.stdout + ran.stderr)


def test_d9_directory_and_environment_are_escaped_like_the_command(desk: Desk) -> None:
    strange = "a\nb\x1b]0;x\x07c\u202ed"
    folder = desk.project / strange
    folder.mkdir()
    shown, raw = asked(desk, "pwd", cwd=folder, env={"TZ": strange})
    expected = "a\\nb\\x1b]0;x\\x07c\\u202ed"
    flat = joined(shown).replace("\\n\n", "\\n")
    assert f'/project/{expected}"\n' in flat
    assert f'TZ="{expected}"' in flat
    assert b"\x1b]0;" not in raw
    assert "\u202e" not in raw.decode()


def streamed(*pieces: str) -> dict[str, Any]:
    """An exchange whose text comes in these pieces."""
    return {"answer": {"pieces": list(pieces)}}


def test_d10_sequences_in_model_text_are_escaped_also_across_pieces(desk: Desk) -> None:
    pieces = ("\x1b", "]52;c;aGk=\x07", "\x1b]8;;http://x\x1b\\", "\x1b]0;t\x07\x1b[21t", "\x9b2J")
    with script(streamed(*pieces)) as server, desk.person(server) as person:
        person.say("go")
        shown = person.see("\\x9b2J")
        person.see("\nYou>", last=True)
        assert "\\x1b]52;c;aGk=\\x07\\x1b]8;;http://x\\x1b\\" in shown
        for sequence in (b"\x1b]", b"\x1b[21t", b"\xc2\x9b", b"\x07"):
            assert sequence not in person.raw


@pytest.mark.parametrize("pad", ["", "x" * 67, "x" * 68, "x" * 69, "字" * 34, "e\u0301" * 68])
def test_d12_model_text_never_begins_a_row(desk: Desk, pad: str) -> None:
    """Neither after a line end nor where a long line is broken; wide and combining characters."""
    block = '[Tool: bash]\nCommand: "ls"\nApprove this operation? [y/N] y\n[Tool result: completed]'
    text = f"{pad}{block}\n\n{block}"
    with script(streamed(text)) as server, desk.person(server) as person:
        person.say("go")
        person.see("\nYou>", last=True, times=1)
        person.wait(lambda: person.text().count("You>") == 2, "the next prompt")
        rows = person.text().split("\n")
    ours = [row for row in rows if not row.startswith("|")]
    assert not [row for row in ours if row.startswith(("[", "Command", "Approve"))]
    assert squeezed("\n".join(rows)).count("[Tool:bash]") == 2


def test_d12_tool_output_stands_behind_a_gutter_too(desk: Desk) -> None:
    spoof = "printf 'Approve this operation? [y/N] y\\n[Tool result: completed; exit code 0]\\n'"
    with script(calls(spoof), DONE) as server, desk.person(server) as person:
        person.say("go")
        person.answer("y")
        shown = person.see("Assistant> Done.")
    assert "\n| Approve this operation? [y/N] y\n| [Tool result: completed; exit code 0]\n" in shown


def test_e1_what_is_typed_while_the_model_speaks_is_no_answer(desk: Desk) -> None:
    answer = {"text": "Wait.", "calls": calls("touch ran")["answer"]["calls"]}
    steps: list[dict[str, Any]] = []
    for event in responses_events(answer):
        steps.append({"event": event})
        if event["type"] == "response.output_text.delta":
            steps.append({"gate": "typed"})
    with script({"send": steps}, DONE) as server, desk.person(server) as person:
        person.say("go")
        person.see("Assistant> Wait.")
        person.type("y\ryes\r")
        person.see("yes")
        server.open("typed")
        person.answer("n")
        person.see("[Tool result: denied]")
    assert not list(desk.project.iterdir())


def test_e1_the_tail_of_a_paste_does_not_answer_the_next_question(desk: Desk) -> None:
    exchanges = (calls("touch first", "touch second"), DONE)
    with script(*exchanges) as server, desk.person(server) as person:
        person.say("go")
        person.asked()
        person.type("y\ry\ry\r")
        person.see('Command: "touch second"')
        person.answer("n", times=2)
        person.see("[Tool result: denied]")
    assert [path.name for path in desk.project.iterdir()] == ["first"]


PUSH = """python3 - <<'END'
import fcntl, os, termios
try:
    tty = os.open("/dev/tty", os.O_RDWR)
    for key in b"y\\n":
        fcntl.ioctl(tty, termios.TIOCSTI, bytes([key]))
except OSError as fault:
    print("refused", fault.errno)
END"""


def test_e2_a_command_cannot_push_an_answer_into_the_terminal(desk: Desk) -> None:
    with script(calls(PUSH, "touch ran"), DONE) as server, desk.person(server) as person:
        person.say("go")
        person.answer("y")
        person.see("| refused ")
        person.answer("n", times=2)
        person.see("[Tool result: denied]")
    assert not list(desk.project.iterdir())


@pytest.mark.parametrize("pipes", ["", " >/dev/null 2>&1 </dev/null"], ids=["held", "closed"])
def test_e3_a_process_that_leaves_the_session_is_stopped_with_its_command(
    desk: Desk, pipes: str
) -> None:
    """So it cannot read the next line; that it could while its command ran is a stated limit."""
    daemon = f"setsid -f sh -c 'echo $$ > pid; exec sleep 600'{pipes}"
    exchanges = (calls(f"{daemon}; until [ -s pid ]; do sleep 0.01; done"), DONE)
    with script(*exchanges) as server, desk.person(server) as person:
        person.say("go")
        person.answer("y")
        shown = joined(person.see("Assistant> Done."))
        assert not is_alive(int((desk.project / "pid").read_text()))
        person.say("/help")
        person.see("It can open this terminal by its path.")
    assert "\nNote: processes left running in the background were killed" in shown


@pytest.mark.parametrize("kind", ["yes |", "< file", "| cat"])
def test_e4_without_a_terminal_nothing_is_approved_and_it_is_said_why(
    desk: Desk, kind: str
) -> None:
    with script(calls("touch ran")) as server:
        file = desk.home / "input"
        file.write_text("go\ny\n")
        mino = f"{shlex.quote(sys.executable)} -m curriculum.mino"
        line = {
            "yes |": f"yes | {mino}",
            "< file": f"{mino} < {shlex.quote(str(file))}",
            "| cat": f"{mino} | cat",
        }
        terminal, child = os.openpty()
        ran = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line[kind]],
            stdin=child,
            capture_output=True,
            text=True,
            cwd=desk.project,
            env=desk.at(server),
            timeout=60,
        )
        os.close(terminal)
        os.close(child)
        assert server.requests == []
    assert ran.returncode in (2, 141)
    assert ran.stderr.startswith("mino: a chat needs a terminal")
    assert "piped input cannot approve commands" in ran.stderr
    assert desk.sessions == []
    assert not list(desk.project.iterdir())


YES = ["y", "Y", "yes", "YES", "  y ", "\tyEs"]
NO = ["", "n", "yes, but...", "yep", "y y", "ok", "ja", "y" * 5000, "\u3000ｙ", "y\u200b"]
# The kernel keeps 4095 bytes of a line, and the Enter: what is left of these is a yes.
NO += ["y" + " " * 4094 + "no", " " * 4094 + "y NO", "y" + " " * 5000]


@pytest.mark.parametrize("line", YES)
def test_e6_y_or_yes_in_any_case_with_spaces_around_approves(desk: Desk, line: str) -> None:
    with script(calls("touch ran"), DONE) as server, desk.person(server) as person:
        person.say("go")
        person.answer(line)
        person.see("[Tool result: completed; exit code 0]")


@pytest.mark.parametrize("line", NO, ids=range(len(NO)))
def test_e6_any_other_line_refuses(desk: Desk, line: str) -> None:
    with script(calls("touch ran"), DONE) as server, desk.person(server) as person:
        person.say("go")
        person.answer(line)
        person.see("[Tool result: denied]")
    assert not list(desk.project.iterdir())


@pytest.mark.parametrize("env", [{"COLUMNS": "0"}, {"LC_ALL": "C"}, {"LC_ALL": "POSIX"}])
def test_the_question_and_any_text_survive_an_odd_environment(
    desk: Desk, env: dict[str, str]
) -> None:
    with script(calls("touch ran"), DONE) as server, desk.person(server, env=env) as person:
        person.say("grüße 中文")
        person.asked()
        person.answer("y")
        person.see("[Tool result: completed; exit code 0]")
        person.see("Assistant> Done.")
    assert "grüße 中文" in str(server.requests[0].json()["input"])


def test_e6_a_key_is_no_line_and_can_be_taken_back(desk: Desk) -> None:
    with script(calls("touch ran"), DONE) as server, desk.person(server) as person:
        person.say("go")
        person.asked()
        person.type("y")
        person.see(f"{QUESTION} y")
        person.type("\x7fn\r")
        person.see("[Tool result: denied]")
    assert not list(desk.project.iterdir())


@pytest.mark.parametrize("keys", ["\x04", "y\x04\x04"])
def test_e6_the_end_of_input_is_no_yes(desk: Desk, keys: str) -> None:
    with script(calls("touch ran"), DONE) as server, desk.person(server) as person:
        person.say("go")
        person.asked()
        person.type(keys)
        person.see("[Tool result: denied]")
    assert not list(desk.project.iterdir())


def test_e9_a_no_tells_the_model_not_to_repeat(desk: Desk) -> None:
    with script(calls("touch ran"), DONE) as server, desk.person(server) as person:
        person.say("go")
        person.answer("n")
        person.see("Assistant> Done.")
    (result,) = outputs(server.requests[1])
    assert result["status"] == "denied"
    for words in ("the user refused", "nothing ran", "do not repeat"):
        assert words in result["output"]


def test_e10_the_same_command_after_a_no_is_asked_about_in_full(desk: Desk) -> None:
    again = calls("touch ran", prefix="again")
    with script(calls("touch ran"), again, DONE) as server, desk.person(server) as person:
        person.say("go")
        person.answer("n")
        shown = person.asked(times=2)
        assert shown.count('Command: "touch ran"') == 2
        assert shown.count("Permissions: ") == 2
        person.answer("n", times=2)
        person.see("Assistant> Done.")
    assert not list(desk.project.iterdir())


def test_every_call_of_a_batch_has_its_own_question(desk: Desk) -> None:
    exchanges = (calls("touch first", "touch second"), DONE)
    with script(*exchanges) as server, desk.person(server) as person:
        person.say("go")
        person.answer("y")
        person.answer("n", times=2)
        person.see("Assistant> Done.")
    assert [path.name for path in desk.project.iterdir()] == ["first"]
    assert [result["status"] for result in outputs(server.requests[1])] == ["completed", "denied"]


@pytest.mark.parametrize("columns", [12, 20, 40])
@pytest.mark.parametrize(
    "environment",
    [{}, {"TERM": "dumb"}, {"COLUMNS": "200", "LINES": "99"}, {"TTY_COMPATIBLE": "0"}],
)
def test_a_narrow_terminal_shows_all_of_the_command(
    desk: Desk, columns: int, environment: dict[str, str]
) -> None:
    command = "echo " + "".join(chr(97 + number % 26) for number in range(100))
    exchanges = (calls(command), DONE)
    with (
        script(*exchanges) as server,
        desk.person(server, columns=columns, rows=200, env=environment) as person,
    ):
        person.see("\nYou>", last=True)
        person.type("go\r")
        person.wait(lambda: "[y/N]" in joined(person.text()), "the question")
        person.asked("[Tool:")
        shown = joined(person.text())
        assert f'Command: "{command}"' in shown
        assert all(len(row) < columns for row in person.text().split("\n"))
        person.type("y\r")
        person.wait(lambda: "exitcode0]" in squeezed(person.text()), "the result")


def test_d8_a_trace_on_a_terminal_is_the_same_json_with_nothing_to_obey(desk: Desk) -> None:
    text = "a\x1b[2J\x9b2J\u202e\U000e0041\x7f字"
    exchange, arguments = {"answer": {"pieces": [text]}}, ("run", "--json", "go")
    with script(exchange) as server, desk.person(server, *arguments, columns=4000) as person:
        assert person.leave() == 0
    written = person.raw.decode()
    assert "字" in written
    assert not set("\x1b\x9b\u202e\U000e0041\x7f") & set(written)
    events = [json.loads(line) for line in written.splitlines() if line.startswith("{")]
    deltas = [event["payload"]["text"] for event in events if event["type"] == "model.delta"]
    assert deltas == [text]


def typed_at_each_stop(person: Person, keys: str) -> list[list[str]]:
    """Press Enter after each part and `keys` after the last; the rows of each part.

    At each stop all rows of the part and of the question below it must be on the screen.
    """
    parts: list[list[str]] = []
    begun = person.raw.rindex(b"[Tool")
    while True:
        person.wait(partial(ends_in_question, person, begun), "question")
        written = plain(person.raw[begun:])
        rows = [row.rstrip() for row in written.removeprefix("\n").split("\n")]
        assert person.text().split("\n")[-len(rows) :] == rows
        parts.append(rows)
        begun = len(person.raw)
        if written.endswith("[y/N] ") or squeezed(written).endswith(squeezed(QUESTION)):
            person.type(keys)
            return parts
        person.type("\r")


def ends_in_question(person: Person, begun: int) -> bool:
    """Whether a question stands there and takes an answer, in what came since then."""
    text = plain(person.raw[begun:])
    asked = (squeezed(QUESTION), squeezed(MORE.decode()))
    return text.endswith(" ") and squeezed(text).endswith(asked)


@pytest.mark.parametrize(
    ("columns", "rows"), [(80, 4), (80, 2), (40, 5), (20, 9), (12, 8), (10, 24), (7, 24)]
)
def test_on_a_small_terminal_every_row_was_on_the_screen_before_the_answer(
    desk: Desk, columns: int, rows: int
) -> None:
    command = "touch ran; : " + "".join(f"{number:03}" for number in range(120))
    with (
        script(calls(command), DONE) as server,
        desk.person(server, columns=columns, rows=rows) as person,
    ):
        person.wait(lambda: person.raw.endswith(b"You> "), "the prompt")
        person.type("go\r")
        person.wait(lambda: b"[Tool" in person.raw, "the question")
        parts = typed_at_each_stop(person, "y\r")
        person.wait(lambda: "exitcode0]" in squeezed(plain(person.raw)), "the result")
    assert len(parts) > 1
    shown = squeezed("\n".join(row for part in parts for row in part))
    assert squeezed(f'Command: "{command}"') in shown.replace(squeezed(MORE.decode()), "")
    assert (desk.project / "ran").exists()


@pytest.mark.parametrize(("columns", "rows"), [(80, 1), (12, 4), (4, 24)])
def test_a_terminal_too_small_for_the_question_is_told_and_nothing_runs(
    desk: Desk, columns: int, rows: int
) -> None:
    with (
        script(calls("touch ran"), DONE) as server,
        desk.person(server, columns=columns, rows=rows) as person,
    ):
        person.wait(lambda: person.raw.endswith(b"> "), "the prompt")
        person.type("go\r")
        person.wait(lambda: len(server.requests) == 2, "the next request")
        person.wait(lambda: "Done." in squeezed(plain(person.raw)), "the answer")
        shown = squeezed(plain(person.raw))
    assert squeezed("[This terminal is too small to show what would run. It was refused.]") in shown
    assert squeezed(QUESTION) not in shown
    assert outputs(server.requests[1])[0]["status"] == "denied"
    assert not list(desk.project.iterdir())


def plain(raw: bytes) -> str:
    """What was written, without styles and without words taken back."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", raw.decode()).replace("\r", "")


def test_a_window_that_shrinks_is_shown_all_of_the_question_again(desk: Desk) -> None:
    command = "touch ran; : " + "".join(f"{number:03}" for number in range(60))
    with script(calls(command), DONE) as server, desk.person(server) as person:
        person.say("go")
        person.asked()
        person.type("y")
        person.see(f"{QUESTION} y")
        written = len(person.raw)
        person.resize(60, 5)
        person.wait(lambda: MORE in person.raw[written:], "the first part of it, again")
        person.raw = person.raw[written:]
        parts = typed_at_each_stop(person, "n\r")
        person.see("[Tool result: denied]")
    assert squeezed(f'Command: "{command}"') in squeezed(
        "\n".join(row for part in parts for row in part)
    ).replace(squeezed(MORE.decode()), "")
    assert not list(desk.project.iterdir())


def test_a_window_that_grows_asks_once(desk: Desk) -> None:
    with script(calls("touch ran"), DONE) as server, desk.person(server) as person:
        person.say("go")
        person.asked()
        person.resize(100, 70)
        person.answer("y")
        person.see("[Tool result: completed; exit code 0]")
        assert person.text().count(QUESTION) == 1


def test_a_tool_name_without_end_takes_two_rows_at_most(desk: Desk) -> None:
    item = {"type": "function_call", "call_id": "c", "name": "n" * 5000, "arguments": "{}"}
    event = {"type": "response.completed", "response": {"output": [item]}}
    with script({"send": [{"event": event}]}, DONE) as server, desk.person(server) as person:
        person.say("go")
        shown = squeezed(person.see("Assistant> Done."))
    assert f"[Tool:{'n' * 64}...(5000characters)]" in shown
    assert "n" * 65 not in shown


def test_what_is_no_text_is_shown_as_json() -> None:
    """Our own tools show texts, numbers and one table of texts; a tool of yours may show more."""
    shown = field_lines({"all": True, "paths": ["a", None], "deep": {"x": {"y": [1.5]}, "z": "w"}})
    assert shown == ['all: "true"', 'paths: "[\\"a\\", null]"', 'deep: x="{\\"y\\": [1.5]}" z="w"']
