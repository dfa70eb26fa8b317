"""Ctrl+C at every stage, the end by a signal, a terminal that is closed, and a process killed.

B8, B10, B11, B13, B14 and B15 of the cases stand here as well, as they are about all of mino.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from curriculum.mino.signals import BOUNCE_SECONDS
from curriculum.providers.scripted_answers import responses_events
from tests.mino.desk import Desk, calls, outputs, says, script
from tests.mino.person import (
    PATIENCE_SECONDS,
    QUESTION,
    ROOT,
    Person,
    is_alive,
    squeezed,
)

CTRL_C, CTRL_S, CTRL_Z = "\x03", "\x13", "\x1a"
HINT = "Ctrl+C once more leaves"
STALLED = {"send": [{"hold": True}]}
SLEEP = "echo $$ > started; sleep 600"


def sleeping_shell(person: Person, desk: Desk) -> int:
    """The process number of the shell that an approved SLEEP runs in."""
    file = desk.project / "started"
    person.wait(lambda: file.exists() and file.read_text().endswith("\n"), "start of the command")
    return int(file.read_text())


def test_ctrl_c_at_the_prompt_leaves_at_the_second_time(desk: Desk) -> None:
    with script() as server, desk.person(server) as person:
        person.see("\nYou>", last=True)
        person.type("half a li" + CTRL_C)
        person.see(HINT)
        person.see("\nYou>", last=True)
        person.wait(lambda: person.text().endswith("You>"), "an empty prompt")
        person.type(CTRL_C)
        assert person.leave() == 130
    assert server.requests == []


def test_a_line_typed_after_ctrl_c_takes_it_back(desk: Desk) -> None:
    with script(says("Hello.")) as server, desk.person(server) as person:
        person.see("\nYou>", last=True)
        person.type(CTRL_C)
        person.see(HINT)
        person.say("hi")
        person.see("Assistant> Hello.")
        person.see("\nYou>", last=True)
        person.type(CTRL_C)
        person.see(HINT, times=2)
        person.say("/quit")
        assert person.leave() == 0


@pytest.mark.parametrize("line", ["/sessions", "/trace", "/nothing", ""])
def test_a_command_typed_after_ctrl_c_takes_it_back(desk: Desk, line: str) -> None:
    with script() as server, desk.person(server) as person:
        person.see("\nYou>", last=True)
        person.type(CTRL_C)
        person.see(HINT)
        person.say(line)
        person.see("\nYou>", times=2 if line else 3)
        person.see("\nYou>", last=True)
        person.type(CTRL_C)
        person.see(HINT, times=2)
        person.see("\nYou>", last=True)
        person.type(CTRL_C)
        assert person.leave() == 130


def test_a_command_typed_after_ctrl_c_at_the_question_takes_it_back(desk: Desk) -> None:
    with script(calls("touch ran")) as server, desk.person(server) as person:
        person.say("first")
        person.asked()
        person.type(CTRL_C)
        person.see("[Turn cancelled: ")
        person.say("/trace")
        person.see("Not written to a file")
        person.see("\nYou>", last=True)
        person.type(CTRL_C)
        person.see(HINT)
        person.say("/quit")
        assert person.leave() == 0


def test_ctrl_c_before_the_answer_begins_ends_the_turn_only(desk: Desk) -> None:
    with script(STALLED, says("Second.")) as server, desk.person(server) as person:
        person.say("first")
        person.wait(lambda: len(server.requests) == 1, "request")
        person.type(CTRL_C)
        person.see("[Turn cancelled: ")
        assert server.wait_hang_up()
        person.say("again")
        person.see("Assistant> Second.")
    assert desk.records()[2]["data"] == {"status": "cancelled"}


def test_ctrl_c_while_text_streams_keeps_what_was_shown_on_the_screen_only(desk: Desk) -> None:
    half = {"type": "response.output_text.delta", "delta": "Half an answer"}
    exchange = {"send": [{"event": half}, {"hold": True}]}
    with script(exchange, says("Second.")) as server, desk.person(server) as person:
        person.say("first")
        person.see("Assistant> Half an answer")
        person.type(CTRL_C)
        person.see("not complete and was not kept")
        person.say("again")
        person.see("Assistant> Second.")
    assert "Half" not in server.requests[1].body.decode()
    assert "Half" not in desk.sessions[0].read_text()


def test_e8_ctrl_c_at_the_question_runs_nothing_and_ends_the_turn(desk: Desk) -> None:
    exchanges = (calls("touch ran", "touch ran2"), says("Second."))
    with script(*exchanges) as server, desk.person(server) as person:
        person.say("first")
        person.asked()
        person.type(CTRL_C)
        person.see("[Turn cancelled: ")
        assert person.text().count("[Tool result: not_executed]") == 2
        person.say("again")
        person.see("Assistant> Second.")
        assert "Traceback" not in person.text()
    assert not list(desk.project.iterdir())
    assert [result["status"] for result in desk.results()] == ["not_executed"] * 2


def test_ctrl_c_while_a_command_runs_stops_its_processes(desk: Desk) -> None:
    with script(calls(SLEEP), says("Second.")) as server, desk.person(server) as person:
        person.say("first")
        person.answer("y")
        shell = sleeping_shell(person, desk)
        person.type(CTRL_C)
        person.see("[Tool result: failed; cancelled]")
        person.see("[Turn cancelled: ")
        assert not is_alive(shell)
        person.say("again")
        person.see("Assistant> Second.")
    assert [result["status"] for result in outputs(server.requests[1])] == ["failed"]


def test_ctrl_c_ends_the_wait_before_a_retry(desk: Desk) -> None:
    busy = {"status": 429, "headers": {"retry-after": "15"}, "send": [{"raw": "{}"}]}
    with script(busy, says("Second.")) as server, desk.person(server) as person:
        person.say("first")
        person.see("[Trying again in 15.")
        person.type(CTRL_C)
        person.see("[Turn cancelled: ")
        person.say("again")
        person.see("Assistant> Second.")


def test_b11_two_interrupts_at_once_give_one_result_and_the_prompt(desk: Desk) -> None:
    with script(calls(SLEEP)) as server, desk.person(server) as person:
        person.say("first")
        person.answer("y")
        shell = sleeping_shell(person, desk)
        person.type(CTRL_C + CTRL_C)
        person.see("[Turn cancelled: ")
        person.see("\nYou>", last=True)
        assert not is_alive(shell)
    assert len(desk.results()) == 1


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT], ids=["term", "hup", "quit"]
)
def test_b8_a_signal_stops_the_command_and_leaves_a_file_to_go_on_with(
    desk: Desk, number: signal.Signals
) -> None:
    with script(calls(SLEEP), says("Gone on.")) as server:
        with desk.person(server) as person:
            person.say("first")
            person.answer("y")
            shell = sleeping_shell(person, desk)
            person.send(number)
            assert person.leave() == 128 + number
            assert not is_alive(shell)
            assert "Traceback" not in person.text()
        assert [result["status"] for result in desk.results()] == ["failed"]
        assert desk.records()[-1]["data"] == {"status": "cancelled"}
        with desk.person(server, "--resume") as person:
            person.say("again")
            person.see("Assistant> Gone on.")


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT], ids=["term", "hup", "quit"]
)
def test_b10_a_signal_at_the_prompt_is_in_the_exit_code(desk: Desk, number: signal.Signals) -> None:
    with script() as server, desk.person(server) as person:
        person.see("\nYou>", last=True)
        person.send(number)
        assert person.leave() == 128 + number
        assert "Traceback" not in person.text()


def test_a_signal_at_the_question_runs_nothing(desk: Desk) -> None:
    with script(calls("touch ran")) as server, desk.person(server) as person:
        person.say("first")
        person.asked()
        person.send(signal.SIGTERM)
        assert person.leave() == 143
        assert "Traceback" not in person.text()
    assert not list(desk.project.iterdir())
    assert [result["status"] for result in desk.results()] == ["not_executed"]


def test_a_signal_while_the_model_is_silent_ends_the_program(desk: Desk) -> None:
    with script(STALLED) as server, desk.person(server) as person:
        person.say("first")
        person.wait(lambda: len(server.requests) == 1, "request")
        person.send(signal.SIGTERM)
        assert person.leave() == 143
    assert desk.records()[-1]["data"] == {"status": "cancelled"}


@pytest.mark.parametrize("stage", ["prompt", "silent", "question", "command"])
def test_a_closed_terminal_leaves_a_whole_file_and_no_child(desk: Desk, stage: str) -> None:
    exchange = STALLED if stage == "silent" else calls(SLEEP)
    with script(exchange) as server, desk.person(server) as person:
        shell = 0
        person.see("\nYou>", last=True)
        if stage != "prompt":
            person.say("first")
        if stage == "silent":
            person.wait(lambda: len(server.requests) == 1, "request")
        elif stage == "question":
            person.asked()
        elif stage == "command":
            person.answer("y")
            shell = sleeping_shell(person, desk)
        person.close_terminal()
        assert person.leave() == 128 + signal.SIGHUP
        assert not shell or not is_alive(shell)
    records = desk.records()
    assert records[0]["kind"] == "session"
    assert stage == "prompt" or records[-1]["kind"] == "turn_end"


def test_b13_no_dead_child_is_left_behind(desk: Desk) -> None:
    commands = [f"true {number}" for number in range(16)]
    with script(calls(*commands), says("Done.")) as server, desk.person(server) as person:
        person.say("first")
        for number in range(16):
            person.wait(
                lambda n=number: f'Command: "true {n}"' in person.text(),  # type: ignore[misc]
                f"question {number}",
            )
            person.see("\n" + QUESTION, last=True)
            person.asked()
            person.type("y\r")
        person.see("Assistant> Done.")
        children = Path(f"/proc/{person.process.pid}/task/{person.process.pid}/children")
        assert children.read_text() == ""


def test_b14_f19_killed_in_a_command_it_is_unknown_and_acknowledged_and_never_run_again(
    desk: Desk,
) -> None:
    """The model is told `unknown`, the person is asked, nothing runs a second time."""
    command = "echo ran >> runs; kill -9 $PPID; sleep 600"
    with script(calls(command), says("I see.")) as server:
        with desk.person(server) as person:
            person.say("first")
            person.answer("y")
            assert person.leave() == 128 + signal.SIGKILL
        with desk.person(server, "--resume") as person:
            shown = person.asked("Go on, with this outcome unknown? [y/N]")
            assert "An interrupted turn was closed" in shown.split("mino 0.")[0]
            assert f'Command: "{command}"' in shown
            person.type("y\r")
            person.say("what happened?")
            person.see("Assistant> I see.")
            person.say("/quit")
            assert person.leave() == 0
        assert [result["status"] for result in outputs(server.requests[1])] == ["unknown"]
        assert (desk.project / "runs").read_text() == "ran\n"
        with desk.person(server, "--resume") as person:  # acknowledged once is enough
            person.see("\nYou>", last=True)
            assert "outcome" not in person.text()


def test_an_outcome_that_is_not_acknowledged_keeps_the_session_as_it_is(desk: Desk) -> None:
    with script(calls("kill -9 $PPID; sleep 600"), says("Left out.")) as server:
        with desk.person(server) as person:
            person.say("first")
            person.answer("y")
            person.leave()
        for answer in ("\r", "n\r", CTRL_C, "\x04"):
            with desk.person(server, "--resume") as person:
                person.asked("Go on, with this outcome unknown? [y/N]")
                person.type(answer)
                assert person.leave() == 3
        before = desk.sessions[0].read_bytes()
        with desk.person(server, "--resume", "--replay", "completed-only") as person:
            shown = person.see("\nYou>", last=True)
            notice = squeezed(shown.split("mino 0.")[0])
            assert notice == squeezed(
                "An interrupted tool turn was retained but excluded from context. "
                "Commands it started may already have run; none was retried."
            )
            assert desk.sessions[0].read_bytes() == before
            person.say("again")
            person.see("Assistant> Left out.")
    assert outputs(server.requests[1]) == []


def test_b15_a_process_left_behind_does_not_hold_the_session(desk: Desk) -> None:
    command = "setsid sleep 600 >/dev/null 2>&1 & echo $!"
    with script(calls(command), says("Done.")) as server:
        with desk.person(server) as person:
            person.say("first")
            person.answer("y")
            person.see("Assistant> Done.")
            person.say("/quit")
            assert person.leave() == 0
        with desk.person(server, "--resume") as person:
            person.see("\nYou>", last=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["int", "term"])
@pytest.mark.parametrize("stage", ["silent", "command"])
def test_a_run_that_is_stopped_says_so_and_leaves_no_child(
    desk: Desk, number: signal.Signals, stage: str
) -> None:
    exchange = STALLED if stage == "silent" else calls(SLEEP)
    with script(exchange) as server:
        process = subprocess.Popen(
            [sys.executable, "-m", "curriculum.mino", "run", "go", "--allow-rule", "bash:*"],
            env=desk.at(server),
            cwd=desk.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        started = desk.project / "started"
        end = time.monotonic() + PATIENCE_SECONDS
        while not (started.exists() and started.read_text()) and not (
            stage == "silent" and server.requests
        ):
            assert process.poll() is None
            assert time.monotonic() < end
        process.send_signal(number)
        output, said = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 128 + number
    assert output == b""
    assert b"Traceback" not in said
    assert stage == "silent" or not is_alive(int(started.read_text()))
    assert desk.records()[-1]["data"] == {"status": "cancelled"}


def waits_to_write(person: Person) -> bool:
    """Whether the process sleeps in a write to standard output."""
    number, *arguments = Path(f"/proc/{person.process.pid}/syscall").read_text().split()
    return number == "1" and arguments[:1] == ["0x1"]


@pytest.mark.parametrize(
    ("stage", "number"),
    [
        ("line", signal.SIGTERM),
        ("line", signal.SIGHUP),
        ("text", signal.SIGTERM),
        ("question", signal.SIGHUP),
        ("command", signal.SIGQUIT),
    ],
)
def test_a_terminal_stopped_with_ctrl_s_does_not_hold_up_the_end(
    desk: Desk, stage: str, number: signal.Signals
) -> None:
    words = {"event": {"type": "response.output_text.delta", "delta": "Words upon words. "}}
    talk = {"send": [words, {"gate": "stopped"}, *[words] * 2000, {"hold": True}]}
    exchange = talk if stage == "text" else calls(SLEEP)
    with script(exchange) as server, desk.person(server) as person:
        shell = 0
        if stage == "line":
            person.see("\nYou>", last=True)
            person.type(CTRL_S + "half a line")
            person.wait(lambda: waits_to_write(person), "write that waits")
        else:
            person.say("first")
        if stage == "text":
            person.see("Assistant> Words")
            person.type(CTRL_S)
            server.open("stopped")
            person.wait(lambda: waits_to_write(person), "write that waits")
        elif stage == "question":
            person.asked()
            person.type(CTRL_S)
        elif stage == "command":
            person.answer("y")
            shell = sleeping_shell(person, desk)
            person.type(CTRL_S)
        person.send(number)
        assert person.leave() == 128 + number
        assert not shell or not is_alive(shell)
    assert stage == "line" or desk.records()[-1]["data"] == {"status": "cancelled"}


def test_a_reader_of_the_trace_who_reads_nothing_does_not_hold_up_the_end(desk: Desk) -> None:
    words = {"event": {"type": "response.output_text.delta", "delta": "Words upon words. "}}
    with script({"send": [*[words] * 2000, {"hold": True}]}) as server:
        process = subprocess.Popen(
            [sys.executable, "-m", "curriculum.mino", "run", "go", "--json"],
            env=desk.at(server),
            cwd=desk.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        syscall = Path(f"/proc/{process.pid}/syscall")
        end = time.monotonic() + PATIENCE_SECONDS
        while syscall.read_text().split()[:2] != ["1", "0x1"]:
            assert time.monotonic() < end
        process.terminate()
        assert process.wait(PATIENCE_SECONDS) == 143
        assert process.stdout
        process.stdout.close()
    assert desk.records()[-1]["data"] == {"status": "cancelled"}


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT], ids=["hup", "int"])
def test_a_signal_that_was_ignored_at_the_start_stays_ignored(
    desk: Desk, number: signal.Signals
) -> None:
    """As `nohup` has it, and a script's background jobs."""
    with script({"send": [{"gate": "signalled"}, *says_steps("Still here.")]}) as server:
        mino = f"{shlex.quote(sys.executable)} -m curriculum.mino run go"
        process = subprocess.Popen(
            ["bash", "-c", f"trap '' {number.name.removeprefix('SIG')}; exec {mino}"],
            env=desk.at(server),
            cwd=desk.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        end = time.monotonic() + PATIENCE_SECONDS
        while not server.requests:
            assert process.poll() is None
            assert time.monotonic() < end
        process.send_signal(number)
        server.open("signalled")
        output, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, output) == (0, b"Still here.\n")


def says_steps(text: str) -> list[dict[str, object]]:
    """The events of an answer, as steps of an exchange."""
    return [{"event": event} for event in responses_events({"text": text})]


def before_a_shell(desk: Desk, environment: dict[str, str]) -> Person:
    """A person before a real shell that runs mino: Ctrl+Z and `fg` are its work."""
    (desk.bin / "shell.py").write_text(
        "import os; os.execv('/bin/bash', ['bash', '--norc', '--noprofile', '-i'])"
    )
    environment = {**environment, "PYTHONPATH": f"{ROOT}:{desk.bin}", "PS1": "shell$ "}
    person = Person([], environment, desk.project, module="shell")
    person.see("shell$")
    person.type(f"{shlex.quote(sys.executable)} -m curriculum.mino\r")
    return person


def stop_and_go_on(person: Person, times: int) -> None:
    """Ctrl+Z, and then `fg`."""
    person.type(CTRL_Z)
    person.see("Stopped", times)
    person.see("\nshell$", last=True)
    person.type("fg\r")


def test_after_ctrl_z_and_fg_the_prompt_and_what_was_typed_are_there_again(desk: Desk) -> None:
    with script(says("Hello.")) as server, before_a_shell(desk, desk.at(server)) as person:
        person.see("\nYou>", last=True)
        person.type("good mor")
        person.see("You> good mor")
        stop_and_go_on(person, times=1)
        person.see("\nYou> good mor", last=True)
        person.type("ning\r")
        person.see("Assistant> Hello.")
        person.say("/quit")
        person.see("\nshell$", last=True)
    assert server.requests[0].json()["input"][0]["content"] == "good morning"


def test_after_ctrl_z_and_fg_all_of_the_question_is_there_again(desk: Desk) -> None:
    exchanges = (calls("touch ran"), says("Done."))
    with script(*exchanges) as server, before_a_shell(desk, desk.at(server)) as person:
        person.say("go")
        person.asked()
        person.type("y")
        person.see(f"{QUESTION} y")
        stop_and_go_on(person, times=1)
        shown = person.asked(times=2)
        assert shown.count('Command: "touch ran"') == 2
        person.type("n\r")
        person.see("[Tool result: denied]")
    assert not list(desk.project.iterdir())


def test_after_ctrl_z_and_fg_the_rest_of_an_answer_is_behind_a_gutter(desk: Desk) -> None:
    half = {"event": {"type": "response.output_text.delta", "delta": "Half an "}}
    rest = {"event": {"type": "response.output_text.delta", "delta": "[Tool: bash]"}}
    exchange = {"send": [half, {"gate": "on"}, rest, {"hold": True}]}
    with script(exchange) as server, before_a_shell(desk, desk.at(server)) as person:
        person.say("go")
        person.see("Assistant> Half an")
        stop_and_go_on(person, times=1)
        person.wait(  # in how many rows depends on where the checkout is
            lambda: person.text().replace("\n", "").count("-m curriculum.mino") == 3, "what fg says"
        )
        server.open("on")
        person.see("\n| [Tool: bash]")


# mino whose reads begin, say so in a file, and go on when somebody writes to a pipe.
SLOW = """
import sys
from curriculum.tools import read_file
read = read_file.read_up_to
def slow(file, most):
    with open("begun", "a") as begun:
        begun.write("x")
    with open("pipe", "rb") as pipe:
        pipe.read()
    return read(file, most)
read_file.read_up_to = slow
from curriculum.mino.__main__ import main
sys.exit(main())
"""


def slow_reads(desk: Desk, environment: dict[str, str]) -> Person:
    """A person before mino, in the middle of two reads that overlap."""
    (desk.bin / "slow.py").write_text(SLOW)
    os.mkfifo(desk.project / "pipe")
    for name in ("a", "b"):
        (desk.project / name).write_text(f"text of {name}\n")
    environment = {**environment, "PYTHONPATH": f"{ROOT}:{desk.bin}"}
    person = Person(["--allow-reads"], environment, desk.project, module="slow")
    person.say("read both")
    begun = desk.project / "begun"
    person.wait(lambda: begun.exists() and begun.read_text() == "xx", "two reads that overlap")
    return person


def reads(*names: str) -> dict[str, object]:
    """An exchange that asks for files."""
    asked = [{"call_id": name, "name": "read_file", "arguments": {"path": name}} for name in names]
    return {"answer": {"calls": asked}}


def test_ctrl_c_during_reads_that_overlap_waits_for_them_and_ends_the_turn(desk: Desk) -> None:
    with (
        script(reads("a", "b"), says("Second.")) as server,
        slow_reads(desk, desk.at(server)) as person,
    ):
        person.type(CTRL_C)
        person.see("^C")
        (desk.project / "pipe").write_bytes(b"")
        person.see("[Turn cancelled: ")
        person.say("again")
        person.see("Assistant> Second.")
    assert [result["output"] for result in desk.results()] == ["text of a\n", "text of b\n"]
    assert [result["status"] for result in outputs(server.requests[1])] == ["completed"] * 2


def test_ctrl_c_again_during_reads_that_overlap_leaves_them_unknown(desk: Desk) -> None:
    with script(reads("a", "b")) as server, slow_reads(desk, desk.at(server)) as person:
        person.type(CTRL_C)
        person.see("^C")
        later = time.monotonic() + 2 * BOUNCE_SECONDS  # two at once would be one
        person.wait(partial(is_later, later), "end of the bounce")
        person.type(CTRL_C)
        assert person.leave() == 130
        assert "Traceback" not in person.text()
    assert [result["status"] for result in desk.results()] == ["unknown"] * 2
    assert desk.records()[-1]["data"] == {"status": "cancelled"}


def is_later(than: float) -> bool:
    """Whether that moment has passed."""
    return time.monotonic() > than
