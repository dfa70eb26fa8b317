"""The chat's own commands, its history, its trace, and how it starts."""

from __future__ import annotations

import resource
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mino.desk import Desk, calls, says, script
from tests.mino.person import ROOT, Person, squeezed
from tests.mino.test_run import validate


def test_the_commands_of_the_chat(desk: Desk) -> None:
    with script(says("Hello.")) as server, desk.person(server) as person:
        person.say("/help")
        person.see("/quit      leave; so does Ctrl+D")
        person.say("hi")
        person.see("Assistant> Hello.")
        person.say("/trace")
        assert "model.response by model" in person.see("Not written to a file")
        person.say("/sessions")
        person.see(desk.sessions[0].stem, times=2)
        person.say("/nothing\x1b[2J")
        person.see("There is no command")
        person.say("/quit")
        assert person.leave() == 0
        shown = squeezed(person.text())
    assert f"Goonwith:mino--resume{desk.sessions[0].stem}" in shown
    assert len(server.requests) == 1


def test_a_resumed_session_says_so_and_how_many_turns_it_had(desk: Desk) -> None:
    with script(says("One."), says("Two.")) as server:
        with desk.person(server) as person:
            assert "resumed" not in person.see("shows what you can type.")
            for said, answer in (("first", "One."), ("second", "Two.")):
                person.say(said)
                person.see(f"Assistant> {answer}")
            person.say("/quit")
            assert person.leave() == 0
        with desk.person(server, "--resume", desk.sessions[0].stem) as person:
            person.see("\nYou>", last=True)
            assert "resumedwith2earlierturns;" in squeezed(person.text())


def test_a_line_with_a_slash_further_down_is_no_command(desk: Desk) -> None:
    with script(says("Hello.")) as server, desk.person(server) as person:
        person.see("\nYou>", last=True)
        person.type("\x1b[200~/usr/bin is a folder\nand this a line\x1b[201~\r")
        person.see("Assistant> Hello.")
    assert len(server.requests) == 1


def test_the_trace_of_a_chat_validates_with_all_that_happens_in_one(desk: Desk) -> None:
    """Approvals of both kinds, Ctrl+C, a failed answer; then the same session, resumed."""
    half = {"event": {"type": "response.output_text.delta", "delta": "Half"}}
    exchanges = (
        calls("echo one", "echo two"),
        says("Done."),
        {"send": [half, {"cut": True}]},
        {"send": [half, {"hold": True}]},
        says("Again."),
    )
    first, second = desk.project / "1.jsonl", desk.project / "2.jsonl"
    with script(*exchanges) as server:
        with desk.person(server, "--trace", str(first)) as person:
            person.say("first")
            person.answer("y")
            person.answer("n", times=2)
            person.say("second")
            person.see("[Turn failed: model: ")
            person.say("third")
            person.see("Assistant> Half", times=2)
            person.type("\x03")
            person.see("[Turn cancelled: ")
            person.say("/quit")
            assert person.leave() == 0
        with desk.person(server, "--resume", "--trace", str(second)) as person:
            person.say("fourth")
            person.see("Assistant> Again.")
            person.say("/quit")
            assert person.leave() == 0
    for path in (first, second):
        checked = validate(path.read_text())
        assert checked.returncode == 0, checked.stdout


def test_a_chat_in_which_nothing_is_said_has_a_valid_trace(desk: Desk) -> None:
    trace = desk.project / "t.jsonl"
    with script() as server, desk.person(server, "--trace", str(trace)) as person:
        person.say("/quit")
        assert person.leave() == 0
    assert validate(trace.read_text()).returncode == 0


def test_a_resumed_chat_has_its_lines_in_the_history(desk: Desk) -> None:
    with script(says("One."), says("Two.")) as server:
        with desk.person(server) as person:
            person.say("what I said before")
            person.see("Assistant> One.")
            person.say("/quit")
            person.leave()
        with desk.person(server, "--resume") as person:
            person.see("\nYou>", last=True)
            person.type("\x1b[A")
            person.see("You> what I said before")
            person.type("\r")
            person.see("Assistant> Two.")


def test_a_trace_that_cannot_be_written_any_more_ends_the_chat_and_hides_nothing(
    desk: Desk,
) -> None:
    trace = desk.project / "t.jsonl"
    exchanges = (calls("echo one"), says("Done."))
    with script(*exchanges) as server, desk.person(server, "--trace", str(trace)) as person:
        person.say("go")
        person.asked()
        room = trace.stat().st_size
        assert room > desk.sessions[0].stat().st_size + 700, "the session has room"
        resource.prlimit(person.process.pid, resource.RLIMIT_FSIZE, (room, room))
        person.type("y\r")
        assert person.leave() == 4
        shown = squeezed(person.text())
    assert "exitcode0]one" in shown
    assert "Filetoolarge" in shown
    assert "Thechatendshere" in shown
    assert desk.records()[-1]["data"] == {"status": "failed"}


def test_the_terminal_is_left_as_it_was(desk: Desk) -> None:
    (desk.bin / "both.py").write_text(
        "import os, subprocess, sys, termios\n"
        "before = termios.tcgetattr(0)\n"
        "subprocess.run([sys.executable, '-m', 'curriculum.mino', '--demo'])\n"
        "print('SAME' if termios.tcgetattr(0) == before else 'CHANGED')\n"
    )
    environment = {**desk.environment, "PYTHONPATH": f"{ROOT}:{desk.bin}"}
    with Person([], environment, desk.project, module="both") as person:
        person.say("run go version")
        person.answer("y")
        person.see("Assistant> The command printed")
        person.say("/quit")
        person.see("SAME")


def test_without_rich_one_line_says_what_to_install(desk: Desk) -> None:
    code = (
        "import sys; sys.modules['rich'] = None; sys.argv[0] = 'mino'; "
        "from curriculum.mino.__main__ import main; sys.exit(main())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, "run", "--demo", "go"],
        env=desk.environment,
        cwd=desk.project,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith("mino: rich is missing; run `make locked` in a checkout, ")
    assert ran.stderr.count("\n") == 1


def test_a_directory_that_is_gone_is_one_line(desk: Desk) -> None:
    gone = desk.project / "gone"
    gone.mkdir()
    ran = subprocess.run(
        [
            "bash",
            "-c",
            f"rmdir ../gone; exec {shlex.quote(sys.executable)} -m curriculum.mino run --demo go",
        ],
        env=desk.environment,
        cwd=gone,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert "directory" in ran.stderr
    assert desk.sessions == []


@pytest.mark.parametrize("command", ["--help", "run --help", "sessions --help", "doctor --help"])
def test_the_help_fits_in_80_columns(desk: Desk, command: str) -> None:
    ran = desk.run(*command.split(), env={**desk.environment, "COLUMNS": "80"})
    assert ran.returncode == 0
    assert [line for line in ran.stdout.splitlines() if len(line) > 80] == []


def test_every_module_is_short_and_says_what_it_is_for() -> None:
    for path in sorted(Path(ROOT, "curriculum", "mino").glob("*.py")):
        text = path.read_text()
        assert text.startswith(('"""', 'r"""')), path
        assert len(text.splitlines()) <= 220, path


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["doctor --demo", "run --demo hello", "sessions", "--demo"])
def test_closed_streams_are_no_traceback(desk: Desk, closed: str, command: str) -> None:
    ran = subprocess.run(
        ["bash", "-c", f"{shlex.quote(sys.executable)} -m curriculum.mino {command} {closed}"],
        env=desk.environment,
        cwd=desk.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    expected = 0 if ">&-" not in closed.split() else 5
    assert ran.returncode == (2 if command == "--demo" else expected)
    assert "Traceback" not in ran.stdout + ran.stderr


OUTPUTS = ["run --demo hello", "sessions", "doctor --demo", "--help", "--version", "run --help"]


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("output", ["/dev/full", "closed"])
@pytest.mark.parametrize("command", OUTPUTS)
def test_an_output_that_cannot_be_written_is_one_line_and_its_own_exit_code(
    desk: Desk, command: str, output: str, unbuffered: str
) -> None:
    redirection = ">&-" if output == "closed" else f"> {output}"
    ran = subprocess.run(
        ["bash", "-c", f"{shlex.quote(sys.executable)} -m curriculum.mino {command} {redirection}"],
        env={**desk.environment, "PYTHONUNBUFFERED": unbuffered},
        cwd=desk.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 5
    why = "Bad file descriptor (errno 9)" if output == "closed" else "No space left on device"
    last = ran.stderr.splitlines()[-1]
    assert last.startswith(f"mino: standard output: {why}")
    assert ran.stderr.count("\n") == 1
    if command.startswith("run --demo"):
        assert desk.records()[-1]["data"] == {"status": "completed"}
