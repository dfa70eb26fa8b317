"""Section F of the cases, through the whole program: the file, recovery, locks; `mino sessions`."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.mino.desk import Desk, calls, outputs, says, script
from tests.mino.person import squeezed
from tests.mino.test_run import validate

ALLOW = ("--allow-rule", "bash:*")


def ask(desk: Desk, server: Any, *arguments: str, **more: Any) -> Any:
    """`mino run go` at that endpoint."""
    return desk.run("run", "go", *arguments, env=desk.at(server, **more))


def one_session(desk: Desk) -> Path:
    """A session of one turn with a call that ran."""
    with script(calls("echo first"), says("Done.")) as server:
        ran = ask(desk, server, *ALLOW)
        assert ran.returncode == 0, ran.stderr
    return desk.sessions[0]


def test_f1_f2_a_torn_tail_is_told_set_aside_and_never_glued(desk: Desk) -> None:
    path = one_session(desk)
    data = path.read_bytes()
    path.write_bytes(data[:-20])
    with script(says("Gone on.")) as server:
        ran = ask(desk, server, "--resume")
        assert ran.returncode == 0, ran.stderr
    assert "were not a whole record; they are kept in " in ran.stderr.replace("\n| ", "")
    kinds = [record["kind"] for record in desk.records(path)]
    assert kinds.count("turn_end") == 2
    assert len(list(path.parent.iterdir())) == 2


def test_f3_a_garbage_line_is_refused_with_its_number(desk: Desk) -> None:
    path = one_session(desk)
    lines = path.read_bytes().split(b"\n")
    lines[2] = b"{garbage"
    path.write_bytes(b"\n".join(lines))
    before = path.read_bytes()
    with script() as server:
        ran = ask(desk, server, "--resume")
        assert server.requests == []
    assert ran.returncode == 3
    assert "line 3" in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert path.read_bytes() == before


def test_f5_separators_in_a_text_come_back_as_they_were(desk: Desk) -> None:
    text = "a\u2028b\u0085c\x0bd\x1ce"
    with script(says(text), says("Done.")) as server:
        ask(desk, server)
        ask(desk, server, "--resume")
        assert text in json.dumps(server.requests[1].json(), ensure_ascii=False).replace(
            "\\u000b", "\x0b"
        ).replace("\\u001c", "\x1c")


def test_f7_f8_without_a_start_on_disk_nothing_runs_and_no_hint_lies(desk: Desk) -> None:
    with script(calls("touch ran")) as server, desk.person(server) as person:
        person.say("go")
        person.asked()
        room = desk.sessions[0].stat().st_size + 50
        resource.prlimit(person.process.pid, resource.RLIMIT_FSIZE, (room, room))
        person.type("y\r")
        assert person.leave() == 3
        shown = squeezed(person.text())
    assert not list(desk.project.iterdir())
    assert squeezed(f"{desk.sessions[0]}: File too large (errno {errno.EFBIG})") in shown
    assert "Thechatendshere" in shown
    assert "Goonwith" not in shown


def test_f10_a_second_mino_finds_the_session_busy_and_writes_nothing(desk: Desk) -> None:
    with script() as server, desk.person(server) as person:
        person.see("\nYou>", last=True)
        before = desk.sessions[0].read_bytes()
        second = ask(desk, server, "--resume", desk.sessions[0].stem)
        assert second.returncode == 3
        assert "busy" in second.stderr
        assert second.stderr.count("\n") == 1
        assert desk.sessions[0].read_bytes() == before


def test_f12_a_killed_holder_leaves_no_lock(desk: Desk) -> None:
    with script(says("Done.")) as server:
        with desk.person(server) as person:
            person.see("\nYou>", last=True)
            person.send(signal.SIGKILL)
            person.leave()
        assert ask(desk, server, "--resume", desk.sessions[0].stem).returncode == 0


@pytest.mark.parametrize("umask", [0o022, 0o000])
def test_f13_what_mino_makes_is_private(desk: Desk, umask: int) -> None:
    trace = desk.project / "trace.jsonl"
    with script(says("Done.")) as server:
        ran = desk.run("run", "go", "--trace", str(trace), env=desk.at(server), umask=umask)
        assert ran.returncode == 0
    modes = {
        path: stat.S_IMODE(path.stat().st_mode)
        for path in (desk.home / ".mino", desk.sessions[0].parent, desk.sessions[0], trace)
    }
    assert list(modes.values()) == [0o700, 0o700, 0o600, 0o600]


def test_f13_a_folder_that_was_there_keeps_its_mode_and_it_is_told(desk: Desk) -> None:
    home = desk.project / "anybody's"
    home.mkdir(mode=0o755)
    with script(says("Done."), says("Done.")) as server:
        ran = ask(desk, server, "--home", str(home))
        assert ran.returncode == 0
        told = f'"{home}" is open to other users (mode 755); the sessions in it are not.'
        assert squeezed(told) in squeezed(ran.stderr)
        assert f"WARNING  {told}" in desk.run("doctor", "--demo", "--home", str(home)).stdout
        home.chmod(0o700)
        assert "open to other users" not in ask(desk, server, "--home", str(home)).stderr
    assert stat.S_IMODE((home / "sessions").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("arguments", "environment", "said"),
    [
        (["--home", ""], {}, "--home: the path is empty; name a folder"),
        ([], {"HOME": ""}, "your home folder is not known; set HOME"),
        (["--home", "~nobody-of-this-name/x"], {}, "your home folder is not known; set HOME"),
    ],
    ids=["flag", "HOME", "user"],
)
def test_f16_a_home_without_a_path_is_one_line(
    desk: Desk, arguments: list[str], environment: dict[str, str], said: str
) -> None:
    for command in (["run", "--demo", "go"], ["sessions"]):
        ran = desk.run(*command, *arguments, env={**desk.environment, **environment})
        assert ran.returncode == 2
        assert ran.stderr.count("\n") == 1
        assert said in ran.stderr
    assert list(desk.project.iterdir()) == []


@pytest.mark.parametrize("name", ["", "../x", "/etc/x", ".", "..", "a/b", "x" * 300, "a\n", "-x"])
def test_f14_a_bad_id_is_a_usage_error_before_any_file(desk: Desk, name: str) -> None:
    with script() as server:
        ran = desk.run("run", "go", f"--resume={name}", env=desk.at(server))
        assert server.requests == []
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert list(desk.home.iterdir()) == []


def test_f15_folders_may_be_links_and_a_session_may_not(desk: Desk) -> None:
    elsewhere = desk.project / "elsewhere"
    elsewhere.mkdir()
    (desk.home / ".mino").symlink_to(elsewhere)
    path = one_session(desk)
    moved = desk.project / "moved.jsonl"
    path.rename(moved)
    path.symlink_to(moved)
    before = moved.read_bytes()
    with script() as server:
        ran = ask(desk, server, "--resume", path.stem)
    assert ran.returncode == 3
    assert "symbolic link" in ran.stderr
    assert moved.read_bytes() == before


@pytest.mark.parametrize("place", ["a file", "sessions", "/proc/mino"])
def test_f16_a_home_that_cannot_be_used_is_one_line_before_any_request(
    desk: Desk, place: str
) -> None:
    home = desk.home / ".mino"
    if place == "a file":
        home.write_text("")
    elif place == "sessions":
        home.mkdir()
        (home / "sessions").write_text("")
    else:
        home = Path(place)
    with script() as server:
        ran = ask(desk, server, "--home", str(home))
        assert server.requests == []
    assert ran.returncode == 3
    assert ran.stderr.count("\n") == 1
    assert str(home) in ran.stderr
    assert "errno" in ran.stderr
    assert "delete" not in ran.stderr


def test_f16_without_home_the_account_says_where_it_is(desk: Desk) -> None:
    environment = {name: text for name, text in desk.environment.items() if name != "HOME"}
    ran = desk.run("doctor", "--demo", env=environment)
    assert ran.returncode == 0
    assert '/.mino"  (from default)' in ran.stdout


def test_f20_killed_at_the_question_its_calls_did_not_run(desk: Desk) -> None:
    with script(calls("touch a", "touch b"), says("Gone on.")) as server:
        with desk.person(server) as person:
            person.say("go")
            person.asked()
            person.send(signal.SIGKILL)
            person.leave()
        with desk.person(server, "--resume") as person:
            shown = squeezed(person.see("\nYou>", last=True))
            assert squeezed("Not started: 2. Started, with an unknown outcome: 0.") in shown
            person.say("again")
            person.see("Assistant> Gone on.")
        assert [result["status"] for result in outputs(server.requests[1])] == ["not_executed"] * 2
    assert not list(desk.project.iterdir())


@pytest.mark.parametrize(
    "change",
    [{"kind": "surprise"}, {"session_version": "9.9"}, {"data": []}, {"sequence": "1"}],
    ids=["kind", "version", "data", "sequence"],
)
def test_f23_an_unknown_record_is_refused_and_nothing_is_loaded(
    desk: Desk, change: dict[str, Any]
) -> None:
    path = one_session(desk)
    lines = path.read_text().splitlines()
    lines[1] = json.dumps(json.loads(lines[1]) | change)
    path.write_text("\n".join(lines) + "\n")
    with script() as server:
        ran = ask(desk, server, "--resume")
        assert server.requests == []
    assert ran.returncode == 3
    assert "line 2" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_resumed_conversation_tells_the_model_what_was_said(desk: Desk) -> None:
    path = one_session(desk)
    with script(says("I know.")) as server:
        prefix = path.stem.removeprefix("session-")[:6]
        ran = ask(desk, server, "--resume", prefix)
        assert ran.stdout == "I know.\n"
    texts = json.dumps(server.requests[0].json()["input"])
    assert "echo first" in texts
    assert outputs(server.requests[0])[0]["output"] == "first\n"


def test_sessions_are_listed_escaped_and_newest_first(desk: Desk) -> None:
    with script(says("One."), says("Two.")) as server:
        for prompt in ("first \x1b[2J\u202e", "second"):
            desk.run("run", prompt, env=desk.at(server))
    ran = desk.run("sessions")
    rows = ran.stdout.splitlines()
    assert ran.returncode == 0
    assert "second" in rows[0]
    assert "first \\x1b[2J\\u202e" in rows[1]
    assert "completed" in rows[0]


def test_no_session_to_go_on_with_is_said(desk: Desk) -> None:
    with script() as server:
        ran = ask(desk, server, "--resume")
    assert ran.returncode == 3
    assert ran.stderr == f'mino: there are no sessions in "{desk.home}/.mino" to go on with\n'
    assert desk.run("sessions").stdout == f'No sessions in "{desk.home}/.mino".\n'


def test_a_chat_left_before_its_first_turn_is_not_in_the_list_and_not_the_newest(
    desk: Desk,
) -> None:
    first = one_session(desk)
    with script() as server, desk.person(server) as person:
        person.say("/sessions")
        person.see("completed    go")
        person.say("/quit")
        assert person.leave() == 0
    (left,) = set(desk.sessions) - {first}
    rows = desk.run("sessions").stdout.splitlines()
    assert [first.stem in row for row in rows] == [True]
    assert "sessions 1\n" in desk.run("doctor", "--demo").stdout
    with script(says("Gone on."), says("Begun.")) as server:
        assert ask(desk, server, "--resume").stdout == "Gone on.\n"
        assert ask(desk, server, "--resume", left.stem).stdout == "Begun.\n"
    assert len(desk.run("sessions").stdout.splitlines()) == 2


def test_an_unknown_id_is_told_with_the_command_that_lists_them(desk: Desk) -> None:
    one_session(desk)
    with script() as server:
        ran = ask(desk, server, "--resume", "zzz")
    assert ran.returncode == 3
    assert ran.stderr == "mino: no session begins with 'zzz'; `mino sessions` shows them all\n"


def test_an_outcome_that_is_unknown_stops_a_run_that_nobody_watches(desk: Desk) -> None:
    with script(calls("kill -9 $PPID; sleep 600"), says("Gone on.")) as server:
        killed = ask(desk, server, *ALLOW)
        assert killed.returncode == -signal.SIGKILL
        ran = ask(desk, server, "--resume")
        assert ran.returncode == 3
        assert "only a person can acknowledge" in ran.stderr.replace("\n| ", "")
        assert len(server.requests) == 1
        ran = ask(desk, server, "--resume", "--replay", "completed-only")
        assert ran.returncode == 0
        assert "none was retried." in ran.stderr.replace("\n| ", "")
    assert os.path.exists(desk.sessions[0])


@pytest.mark.parametrize("rule", ["with-evidence", "completed-only"])
def test_a_conversation_goes_on_the_same_way_with_and_without_a_restart(
    desk: Desk, rule: str
) -> None:
    """A failed turn without calls is never shown again, one with calls only as the rule says."""
    exchanges = (
        {"send": [{"cut": True}]},
        {"send": [{"cut": True}]},
        {"send": [{"cut": True}]},
        calls("echo evidence"),
        {"send": [{"raw": 'event: error\ndata: {"type":"error","message":"no"}\n\n'}]},
        says("Live."),
        says("Again."),
    )
    trace = desk.project / "t.jsonl"
    with script(*exchanges) as server:
        with desk.person(server, "--replay", rule, "--trace", str(trace)) as person:
            person.say("first words")
            person.see("[Turn failed: ")
            person.say("second words")
            person.answer("y")
            person.see("[Turn failed: ", times=2)
            person.say("third words")
            person.see("Assistant> Live.")
            person.say("/quit")
            assert person.leave() == 0
        assert ask(desk, server, "--resume", "--replay", rule).returncode == 0
    assert validate(trace.read_text()).returncode == 0
    live, resumed = (request.json()["input"] for request in server.requests[-2:])
    assert resumed[: len(live)] == live
    text = json.dumps(live)
    assert "first words" not in text
    assert ("evidence" in text) == (rule == "with-evidence")
    assert "third words" in text
