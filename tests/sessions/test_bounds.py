"""What is bounded, at its bound and one beyond it; and what other systems' disks need."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

import pytest

from curriculum.core.errors import JournalError
from curriculum.core.journal import Record
from curriculum.core.trace import GoldenClock, Recorder
from curriculum.sessions.disk import SystemDisk
from curriculum.sessions.errors import RecordError
from curriculum.sessions.export import export_trace
from curriculum.sessions.ids import known_ids
from curriculum.sessions.listing import SessionFile, summarise
from curriculum.sessions.observe import show_acknowledgement, show_recovery
from curriculum.sessions.reader import READ_BYTES
from curriculum.sessions.record import MAX_RECORD_BYTES, StoredRecord, decode, encode
from curriculum.sessions.state import OpenCall, UnknownOutcome
from curriculum.sessions.store import SessionStore
from curriculum.sessions.text import first_words, shown
from tests.sessions.parts import NAME, QuickDisk, SpyDisk, create, file_of, reopen, saved_turn

TIME = "2026-01-01T00:00:00.000000Z"


def test_a_record_is_as_long_as_a_line_may_be_and_no_longer(tmp_path: Path) -> None:
    store = create(tmp_path, disk=QuickDisk())
    spare = len(encode(StoredRecord(1, TIME, "user_input", "t", {"content": ""})))
    longest = "x" * (MAX_RECORD_BYTES - spare)
    with pytest.raises(JournalError) as refused:
        store.append(Record("user_input", "t", {"content": longest + "x"}))
    wanted = f"the user_input record has {MAX_RECORD_BYTES + 1} bytes of {MAX_RECORD_BYTES}"
    assert wanted in str(refused.value)
    assert store.append(Record("user_input", "t", {"content": longest})) == 1
    assert len(file_of(tmp_path).read_bytes().splitlines(keepends=True)[1]) == MAX_RECORD_BYTES
    store.close()
    with reopen(tmp_path, disk=QuickDisk()) as store:
        assert store.recovery.turn_id == "t"


@pytest.mark.parametrize("size", [READ_BYTES - 1, READ_BYTES, READ_BYTES + 1, 2 * READ_BYTES])
def test_a_record_that_ends_where_a_block_does_is_read(size: int, tmp_path: Path) -> None:
    store = create(tmp_path, disk=QuickDisk())
    before = file_of(tmp_path).stat().st_size
    spare = len(encode(StoredRecord(1, TIME, "user_input", "t", {"content": ""})))
    store.append(Record("user_input", "t", {"content": "x" * (size - before - spare)}))
    assert file_of(tmp_path).stat().st_size == size
    store.append(Record("turn_end", "t", {"status": "completed"}))
    store.close()
    with reopen(tmp_path, disk=QuickDisk()) as store:
        assert store.replay.turns == 1
        assert len(store.replay.messages[0].content) == size - before - spare


@pytest.mark.parametrize("size", [1, READ_BYTES, READ_BYTES + 1])
def test_a_torn_tail_of_any_size_is_set_aside_once(size: int, tmp_path: Path) -> None:
    data = saved_turn(tmp_path, 0)
    tail = b"{" * size
    folder = file_of(tmp_path).parent
    (folder / f"{NAME}.torn-1").write_bytes(b"of another crash")
    (folder / f"{NAME}.torn-2").write_bytes(tail[: size // 2])  # a copy that was cut short
    file_of(tmp_path).write_bytes(data + tail)
    with reopen(tmp_path, disk=QuickDisk()) as store:
        assert store.recovery.torn_bytes == size
        assert store.recovery.torn_path == str(folder / f"{NAME}.torn-2")
    assert (folder / f"{NAME}.torn-2").read_bytes() == tail
    file_of(tmp_path).write_bytes(data + b"other")
    with reopen(tmp_path, disk=QuickDisk()) as store:
        assert store.recovery.torn_path == str(folder / f"{NAME}.torn-3")
    assert (folder / f"{NAME}.torn-2").read_bytes() == tail
    assert (folder / f"{NAME}.torn-1").read_bytes() == b"of another crash"


def test_a_copy_of_another_tail_is_not_written_over_wherever_they_differ(tmp_path: Path) -> None:
    data = saved_turn(tmp_path, 0)
    tail = b"{" * (3 * READ_BYTES)
    other = tail[: 2 * READ_BYTES + 9] + b"}"
    torn = file_of(tmp_path).with_name(f"{NAME}.torn-1")
    torn.write_bytes(other)
    file_of(tmp_path).write_bytes(data + tail)
    with reopen(tmp_path, disk=QuickDisk()) as store:
        assert store.recovery.torn_path.endswith(".torn-2")
    assert torn.read_bytes() == other


def test_every_folder_on_the_way_is_made_and_synced_the_outermost_first(tmp_path: Path) -> None:
    disk = SpyDisk()
    create(tmp_path / "a" / "b" / "c", disk=disk).close()
    synced = [what for name, what in disk.steps if name == "sync"]
    assert synced == [tmp_path.name, "a", "b", "c", "sessions"]


def test_a_header_has_no_turn() -> None:
    header = encode(StoredRecord(0, TIME, "session", "", {"session_id": NAME}))
    assert decode(header[:-1]).turn_id == ""


def test_line_ends_and_tabs_are_shown_as_what_they_are() -> None:
    assert shown("a\nb\tc\r") == "a\\nb\\tc\\x0d"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x" * 10, "x" * 10),
        ("x" * 11, "x" * 9 + "…"),
        (" " * 30 + "x" * 10, "x" * 10),
        (" " * 31 + "x" * 9, "x" * 9),
        (" " * 31 + "x" * 10, "x" * 9 + "…"),
        ("a\n\tb", "a b"),
        ("a\x1b", "a\\x1b"),
        ("", ""),
    ],
)
def test_the_first_words_fit_in_their_width(text: str, words: str) -> None:
    assert first_words(text, 10) == words


def test_a_list_keeps_two_hundred_characters_of_the_first_input(tmp_path: Path) -> None:
    with create(tmp_path, disk=QuickDisk()) as store:
        store.append(Record("user_input", "t1", {"content": "x" * 201}))
        store.append(Record("turn_end", "t1", {"status": "completed"}))
        store.append(Record("user_input", "t2", {"content": "more"}))
    assert summarise(str(tmp_path), NAME).first_input == "x" * 200


def exported(home: Path) -> list[dict[str, Any]]:
    lines: list[str] = []
    count = export_trace(SessionFile(home, NAME), lines.append)
    assert count == len(lines)
    return [json.loads(line) for line in lines]


def test_an_export_shortens_names_to_what_a_trace_allows(tmp_path: Path) -> None:
    call = {"call_id": "c", "name": "n" * 257, "arguments": "{}"}
    with create(tmp_path, about={"model": "m" * 257}, disk=QuickDisk()) as store:
        store.append(Record("user_input", "t", {"content": ""}))
        store.append(Record("model_response", "t", {"content": "", "tool_calls": [call]}))
        store.append(Record("tool_start", "t", {"call_id": "c", "display": {}}))
        result = {"call_id": "c", "status": "completed", "output": ""}
        store.append(Record("tool_result", "t", result))
    events = {event["type"]: event for event in exported(tmp_path)}
    assert events["session.start"]["payload"]["model"] == "m" * 257
    assert events["model.response"]["actor"] == {"kind": "model", "id": "m" * 256}
    assert events["tool.call"]["payload"]["name"] == "n" * 257
    assert events["tool.result"]["actor"] == {"kind": "tool", "id": "n" * 256}


@pytest.mark.parametrize(("bound", "told"), [(0, 8), (1, 1), (-1, 8), ("3", 8), (None, 8)])
def test_an_export_has_the_bound_of_the_header_if_it_is_one(
    bound: Any, told: int, tmp_path: Path
) -> None:
    about = {"harness": "a b c"} if bound is None else {"harness": "a b c", "max_turns": bound}
    create(tmp_path, about=about, disk=QuickDisk()).close()
    [start] = exported(tmp_path)
    assert start["payload"]["config"] == {"max_turns": told}
    assert start["payload"]["harness"] == {"name": "a", "version": "b c"}


class Moments:
    """A clock that reads these times, in µs since the epoch, one after the other."""

    def __init__(self, *times: int) -> None:
        self._times = list(times)

    def read(self) -> tuple[int, int]:
        return self._times.pop(0), 0


def test_an_export_counts_time_over_days_and_months(tmp_path: Path) -> None:
    midnight = 1_769_904_000_000_000  # 2026-02-01
    hour = 3_600_000_000
    times = (midnight - 1, midnight + 25 * hour + 62_000_003, midnight - hour)
    with SessionStore.create(tmp_path, NAME, clock=Moments(*times), disk=QuickDisk()) as store:
        store.append(Record("user_input", "t", {"content": ""}))
        store.append(Record("turn_end", "t", {"status": "cancelled"}))
    events = exported(tmp_path)
    assert [event["elapsed_us"] for event in events] == [0, *[25 * hour + 62_000_004] * 3]
    assert [event["timestamp"][:19] for event in events] == [
        "2026-01-31T23:59:59",
        "2026-02-02T01:01:02",
        *["2026-01-31T23:00:00"] * 2,
    ]


def test_a_recovery_is_told_under_the_name_of_its_agent(tmp_path: Path) -> None:
    file = file_of(tmp_path)
    lines = saved_turn(tmp_path, 2).splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:4]))
    recorder = Recorder.golden()
    with reopen(tmp_path) as store:
        event = show_recovery(recorder, store, "helper")
        assert event is not None
        assert event.actor == {"kind": "harness", "id": "helper"}
        notice = event.payload.pop("notice")  # type: ignore[attr-defined]
        assert notice == store.replay.notice
        closed = {"not_executed": 1, "unknown": 1}
        assert event.payload == {"session_id": NAME, "closed": closed}
        outcome = store.unacknowledged[0]
        assert isinstance(outcome, UnknownOutcome)
    event = show_acknowledgement(recorder, outcome)
    assert (event.type, event.actor) == ("outcome.acknowledge", {"kind": "user", "id": "user"})
    assert event.payload == {"call_id": "call-0", "by": "user"}


def test_the_cache_of_a_drive_is_emptied_where_a_system_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS, where fsync says nothing of the drive and there is no fdatasync."""
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", lambda fd, what: asked.append((fd, what)))
    monkeypatch.delattr(os, "fdatasync")
    disk = SystemDisk()
    disk.sync(7)
    disk.sync_data(8)
    assert asked == [(7, 51), (8, 51)]


def test_a_disk_asks_for_the_least_that_keeps_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []
    monkeypatch.setattr(os, "fsync", lambda fd: asked.append(("fsync", fd)))
    monkeypatch.setattr(os, "fdatasync", lambda fd: asked.append(("fdatasync", fd)))
    disk = SystemDisk()
    disk.sync(7)
    disk.sync_data(8)
    assert asked == [("fsync", 7), ("fdatasync", 8)]


@pytest.mark.parametrize(("depth", "why"), [(64, "session_version is"), (65, "nesting is deeper")])
def test_nesting_counts_brackets_and_braces_but_none_in_a_text(depth: int, why: str) -> None:
    beside = ",[]" * 70  # more brackets than that, but not within each other
    inner = "[" * (depth - 2) + '{"b":"[{"}' + "]" * (depth - 2)
    with pytest.raises(RecordError, match=f"^{why}"):
        decode(f'{{"a":{inner},"c":[1{beside}]}}'.encode())


def test_a_call_has_started_when_its_start_is_on_record() -> None:
    assert not OpenCall(None).has_started  # type: ignore[arg-type]
    assert OpenCall(None, {}).has_started  # type: ignore[arg-type]


def test_a_forked_child_holds_the_null_device_and_nothing_more(tmp_path: Path) -> None:
    store = create(tmp_path, disk=QuickDisk())
    told, tell = os.pipe()
    before = len(os.listdir("/proc/self/fd"))
    child = os.fork()
    if not child:
        try:
            where = os.readlink(f"/proc/self/fd/{store._fd}")
            found = [where, os.get_inheritable(store._fd), len(os.listdir("/proc/self/fd"))]
            os.write(tell, json.dumps(found).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(tell)
    with open(told, "rb") as file:
        assert json.load(file) == [os.devnull, False, before]
    store.close()


def test_a_file_whose_name_is_no_id_is_no_session(tmp_path: Path) -> None:
    saved_turn(tmp_path, 0)
    for name in (
        ".hidden.jsonl",
        "-x.jsonl",
        "a b.jsonl",
        ".jsonl",
        "s-2.json",
        "x" * 65 + ".jsonl",
    ):
        (file_of(tmp_path).parent / name).touch()
    (file_of(tmp_path).parent / f"{'x' * 64}.jsonl").touch()
    assert known_ids(str(tmp_path)) == [NAME, "x" * 64]


def test_an_id_is_made_for_a_session_that_is_given_none(tmp_path: Path) -> None:
    with SessionStore.create(tmp_path, clock=GoldenClock(), disk=QuickDisk()) as store:
        assert store.session_id.startswith("session-")
        assert Path(store.path).name == f"{store.session_id}.jsonl"
        assert (store.rule, store.recovery.turn_id, store.replay.notice) == (
            "completed-only",
            "",
            "",
        )
