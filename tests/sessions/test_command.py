"""`python -m curriculum.sessions`: rows, records, ids, traces; a fault is one line and a code."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.trace import GoldenClock
from curriculum.sessions.errors import SessionNotFoundError
from curriculum.sessions.ids import known_ids, resolve_prefix
from curriculum.sessions.listing import list_sessions
from curriculum.sessions.store import SessionStore
from curriculum.trace.engines import make_engine
from curriculum.trace.validate import Options, validate
from tests.golden import ROOT
from tests.sessions.parts import (
    Marker,
    QuickDisk,
    StrictModel,
    create,
    file_of,
    reopen,
    runner_of,
    saved_turn,
    script,
)

EVIL = "\x1b[2J\x1b]0;owned\x07\r\u202etxt\x9b"


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "curriculum.sessions", *arguments, "--home", str(home)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"},
        timeout=60,
    )


def refused(done: subprocess.CompletedProcess[str], code: int, *parts: str) -> None:
    """One line on stderr that says so, nothing on stdout."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].isprintable()
    for part in parts:
        assert part in lines[0]


def make(home: Path, session_id: str, words: str, start_us: int) -> None:
    clock = GoldenClock(start_us)
    with SessionStore.create(home, session_id, clock=clock, disk=QuickDisk()) as store:
        assert runner_of(store, StrictModel(), Marker(home / "marks")).run(words).error is None


def test_list_shows_the_newest_first_on_one_line_each(tmp_path: Path) -> None:
    make(tmp_path, "session-old", "What is old?\nSecond line", 1_700_000_000_000_000)
    make(tmp_path, "session-new", "What is new? " + "x" * 100, 1_800_000_000_000_000)
    done = run(tmp_path, "list")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "session-new  2027-01-15 08:00:00     1 turn  completed    "
        "What is new? xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…",
        "session-old  2023-11-14 22:13:20     1 turn  completed    What is old? Second line",
    ]
    assert done.stderr == ""


def test_list_tells_the_state_of_each_session(tmp_path: Path) -> None:
    lines = saved_turn(tmp_path, 1).splitlines(keepends=True)

    def put(name: str, data: bytes) -> None:
        data = data.replace(b'"session_id":"s-1"', f'"session_id":"{name}"'.encode())
        file_of(tmp_path).with_name(f"{name}.jsonl").write_bytes(data)

    put("completed", b"".join(lines))
    put("open", b"".join(lines[:4]))
    put("torn", b"".join(lines) + b"{")
    put("new", lines[0])
    put("empty", b"")
    put("damaged", b"".join(lines[:3]) + b"garbage\n" + lines[3])
    file_of(tmp_path).with_name("linked.jsonl").symlink_to(file_of(tmp_path))
    file_of(tmp_path).with_name("not a session.jsonl").touch()
    states = {one.session_id: (one.status, one.turns) for one in list_sessions(tmp_path)}
    assert states == {
        "s-1": ("completed", 1),
        "completed": ("completed", 1),
        "open": ("open", 1),
        "torn": ("completed", 1),
        "new": ("new", 0),
        "empty": ("empty", 0),
        "damaged": ("damaged", 1),
        "linked": ("unreadable", 0),
    }
    before = sorted(
        (path.name, path.lstat().st_mtime_ns) for path in file_of(tmp_path).parent.iterdir()
    )
    assert run(tmp_path, "list").returncode == 0
    after = sorted(
        (path.name, path.lstat().st_mtime_ns) for path in file_of(tmp_path).parent.iterdir()
    )
    assert before == after, "listing changes nothing"


def test_list_of_no_sessions_says_so(tmp_path: Path) -> None:
    done = run(tmp_path, "list")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"no sessions in {tmp_path}\n"
    assert list(tmp_path.iterdir()) == []


def evil_session(home: Path) -> None:
    call = ToolCall("c\n" + EVIL, "mark" + EVIL, EVIL)
    turns = [ModelTurn(EVIL, (call,)), ModelTurn("done\n    7 2026-01-01 turn_end")]
    with create(home) as store:
        runner_of(store, ScriptedModel(turns), Marker(home / "marks")).run(EVIL + "\nsecond")


@pytest.mark.parametrize("command", ["list", "show"])
def test_nothing_in_a_session_reaches_the_terminal_as_a_command(
    command: str, tmp_path: Path
) -> None:
    evil_session(tmp_path)
    done = run(tmp_path, command, *(["s-1"] if command == "show" else []))
    assert done.returncode == 0
    assert done.stdout
    assert all(line.isprintable() for line in done.stdout.split("\n"))
    assert "\\x1b[2J" in done.stdout
    assert "\\u202e" in done.stdout


def test_show_puts_what_the_file_says_behind_a_gutter(tmp_path: Path) -> None:
    evil_session(tmp_path)
    lines = run(tmp_path, "show", "s-1").stdout.splitlines()
    heads = [line for line in lines if not line.startswith("      | ")]
    assert [line.split()[0] for line in heads] == [str(n) for n in range(len(heads))]
    assert "      |     7 2026-01-01 turn_end" in lines


def test_show_tells_recovered_records_and_a_torn_tail(tmp_path: Path) -> None:
    lines = saved_turn(tmp_path, 1).splitlines(keepends=True)
    file_of(tmp_path).write_bytes(b"".join(lines[:4]))
    reopen(tmp_path).close()
    with file_of(tmp_path).open("ab") as file:
        file.write(b"{torn")
    done = run(tmp_path, "show", "s")
    assert "tool_result turn-1 call_id=call-0 status=unknown (recovered)" in done.stdout
    assert done.stderr == (
        f"{file_of(tmp_path)}: the last 5 bytes are not a whole record and were left out\n"
    )


def test_show_works_while_the_session_is_in_use(tmp_path: Path) -> None:
    with create(tmp_path):
        assert run(tmp_path, "show", "s-1").returncode == 0


def test_a_prefix_means_the_one_session_that_begins_so(tmp_path: Path) -> None:
    for name in ("session-abc1", "session-abd2", "session-abc", "xyz"):
        create_named(tmp_path, name)
    ids = known_ids(str(tmp_path))
    assert resolve_prefix("xy", ids) == "xyz"
    assert resolve_prefix("abd", ids) == "session-abd2"
    assert resolve_prefix("session-abc", ids) == "session-abc", "a whole id means itself"
    assert run(tmp_path, "resume-id", "session-abd").stdout == "session-abd2\n"
    refused(run(tmp_path, "show", "ab"), 66, "'ab' begins 3 sessions: session-abc, session-abc1,")
    refused(run(tmp_path, "show", "nope"), 66, "no session begins with 'nope'")


def create_named(home: Path, name: str) -> None:
    SessionStore.create(home, name, disk=QuickDisk()).close()


def test_many_sessions_of_one_prefix_are_counted_and_not_all_named(tmp_path: Path) -> None:
    ids = [f"session-{n:03}" for n in range(20)]
    with pytest.raises(SessionNotFoundError, match=r"begins 20 sessions: .*-004 and 15 more"):
        resolve_prefix("session", ids)


def test_resume_id_of_a_session_in_use_is_busy(tmp_path: Path) -> None:
    with create(tmp_path):
        refused(run(tmp_path, "resume-id", "s-1"), 75, "s-1.jsonl", "the session is busy")
    assert run(tmp_path, "resume-id", "s-1").stdout == "s-1\n"


@pytest.mark.parametrize(
    "arguments",
    [[], ["bogus"], ["show"], ["export", "s", "--to", "pdf"], ["show", "../x"], ["show", ""]],
)
def test_wrong_usage_is_told_in_one_line(arguments: Sequence[str], tmp_path: Path) -> None:
    refused(run(tmp_path, *arguments), 64)


def test_faults_have_one_line_and_a_code(tmp_path: Path) -> None:
    data = saved_turn(tmp_path, 1)
    file_of(tmp_path).write_bytes(data.replace(b'"turn_end"', b'"turn_and"'))
    for command in ("show", "export"):
        done = run(tmp_path, command, "s-1")
        assert done.returncode == 65
        assert "line 7: the kind" in done.stderr.splitlines()[-1]
        assert len(done.stderr.splitlines()) == 1
    file_of(tmp_path).unlink()
    file_of(tmp_path).mkdir()
    refused(run(tmp_path, "show", "s-1"), 66, "Is a directory (errno 21)")
    file_of(tmp_path).rmdir()
    file_of(tmp_path).parent.rmdir()
    file_of(tmp_path).parent.touch()
    refused(run(tmp_path, "list"), 66, "Not a directory (errno 20)")


def test_a_reader_that_goes_away_ends_the_command_quietly(tmp_path: Path) -> None:
    evil_session(tmp_path)
    reader, writer = os.pipe()
    os.close(reader)
    for command in (["list"], ["show", "s-1"], ["export", "s-1"]):
        done = subprocess.run(
            [sys.executable, "-m", "curriculum.sessions", *command, "--home", str(tmp_path)],
            cwd=ROOT,
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert (done.returncode, done.stderr) == (141, "")
    os.close(writer)


def test_a_full_disk_behind_the_output_is_told(tmp_path: Path) -> None:
    saved_turn(tmp_path, 1)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "curriculum.sessions", "export", "s", "--home", str(tmp_path)],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 74
    assert done.stderr == "curriculum.sessions: No space left on device\n"


def export(home: Path) -> list[dict[str, object]]:
    done = run(home, "export", "s-1", "--to", "trace")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.split("\n")[:-1]]


def verdict_of(events: list[dict[str, object]]) -> tuple[str, list[str]]:
    text = "".join(json.dumps(e, sort_keys=True, separators=(",", ":")) + "\n" for e in events)
    report = validate(io.BytesIO(text.encode()).read, make_engine(), Options(is_strict=True))
    return report.verdict.name, [f"{f.line} {f.code} {f.message}" for f in report.findings]


@pytest.mark.parametrize("calls", [0, 1, 3])
def test_an_exported_session_is_a_complete_trace(calls: int, tmp_path: Path) -> None:
    saved_turn(tmp_path, calls)
    events = export(tmp_path)
    assert verdict_of(events) == ("COMPLETE", [])
    sources = {str(e["type"]): e["provenance"] for e in events}
    assert sources["user.message"] == sources["model.response"] == {"source": "recorded"}
    assert sources["model.request"] == sources["session.stop"] == {"source": "synthesized"}
    assert [e["trace_id"] for e in events] == ["s-1"] * len(events)


@pytest.mark.parametrize("lines", range(1, 10))
def test_a_session_cut_anywhere_is_an_open_trace_and_a_complete_one_once_recovered(
    lines: int, tmp_path: Path
) -> None:
    data = b"".join(saved_turn(tmp_path, 2).splitlines(keepends=True)[:lines])
    file_of(tmp_path).write_bytes(data)
    verdict, findings = verdict_of(export(tmp_path))
    assert (verdict, findings) == ("OPEN" if lines < 9 else "COMPLETE", [])
    with reopen(tmp_path, "with-evidence") as store:
        unknown = store.recovery.unknown
        for outcome in store.unacknowledged:
            store.acknowledge(outcome)
    events = export(tmp_path)
    assert verdict_of(events) == ("OPEN" if lines == 1 else "COMPLETE", [])
    types = [str(event["type"]) for event in events]
    assert types.count("session.recover") == (1 < lines < 9)
    assert types.count("error") == (1 < lines < 9)
    assert types.count("outcome.acknowledge") == len(unknown)


def test_an_exported_session_that_went_on_is_one_trace_of_several_turns(tmp_path: Path) -> None:
    lines = saved_turn(tmp_path, 2).splitlines(keepends=True)
    file_of(tmp_path).write_bytes(b"".join(lines[:5]))
    for number in range(3):
        with reopen(tmp_path, "with-evidence") as store:
            model = ScriptedModel(script(number, f"more-{number}"))
            runner_of(store, model, Marker(tmp_path / "marks")).run(f"question {number}")
    events = export(tmp_path)
    assert verdict_of(events) == ("COMPLETE", [])
    assert sum(event["type"] == "user.message" for event in events) == 4


def test_an_export_survives_a_clock_that_was_set_back(tmp_path: Path) -> None:
    saved_turn(tmp_path, 1)
    with SessionStore.open(tmp_path, "s-1", clock=GoldenClock(1_000_000_000_000_000)) as store:
        runner_of(store, StrictModel(), Marker(tmp_path / "marks")).run("later, and earlier")
    assert verdict_of(export(tmp_path)) == ("COMPLETE", [])


def test_the_header_names_model_and_harness_in_the_export(tmp_path: Path) -> None:
    about = {"model": "m-1", "harness": "mino 0.4", "max_turns": 3}
    create(tmp_path, about=about).close()
    start = export(tmp_path)[0]["payload"]
    assert isinstance(start, dict)
    assert start["model"] == "m-1"
    assert start["harness"] == {"name": "mino", "version": "0.4"}
    assert start["config"] == {"max_turns": 3}


def comparable(events: Sequence[dict[str, object]]) -> list[tuple[object, ...]]:
    """What a live trace and an export have in common: all but times, ids and what is not kept."""
    left_out = ("session.start", "journal.append", "session.stop")
    told: list[tuple[object, ...]] = []
    for event in events:
        payload = event["payload"]
        assert isinstance(payload, dict)
        if event["type"] not in left_out:
            known = {key: payload[key] for key in payload if key != "stop"}
            told.append((event["type"], event["actor"], event["parent_id"], known))
    return told


def test_an_export_tells_what_the_live_trace_told(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        runner = runner_of(store, ScriptedModel(script(3)), Marker(tmp_path / "marks"))
        live = [json.loads(event.to_line()) for event in runner.run("go").events]
    # Parents are named by event ids, and the live trace has events between that are not exported.
    kept = [event for event in live if event["type"] != "journal.append"]
    names = {event["event_id"]: f"event-{number}" for number, event in enumerate(kept, 1)}
    earlier = ""
    for event in live:
        earlier = names.get(event["event_id"], earlier)
        names[event["event_id"]] = earlier
    for event in kept:
        event["parent_id"] = names.get(event["parent_id"])
    assert comparable(export(tmp_path)) == comparable(kept)
