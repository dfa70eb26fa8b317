"""Random records, random damage, faults at every step of opening: never a file that is stuck."""

from __future__ import annotations

import errno
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curriculum.core.errors import JournalError
from curriculum.core.journal import Record
from curriculum.sessions.errors import SessionDamagedError, SessionError
from tests.sessions.parts import (
    QuickDisk,
    SpyDisk,
    check_request,
    create,
    file_of,
    records_of,
    reopen,
    saved_turn,
)

CALL_IDS = st.sampled_from(["a", "b", "c"])
STATUS = st.sampled_from(["completed", "failed", "denied", "unknown", "not_executed"])
CALLS = st.lists(
    st.builds(lambda c: {"call_id": c, "name": "mark", "arguments": "{}"}, CALL_IDS), max_size=3
)


def record(kind: str, **fields: Any) -> st.SearchStrategy[Record]:
    data = st.fixed_dictionaries(fields)
    return st.builds(Record, st.just(kind), st.sampled_from(["t1", "t2"]), data)


RECORDS = st.one_of(
    record("user_input", content=st.sampled_from(["x", "\u2028", "é"])),
    record("model_response", content=st.just("y"), tool_calls=CALLS),
    record("tool_start", call_id=CALL_IDS, display=st.just({})),
    record("tool_start", call_id=CALL_IDS, display=st.just({})),
    record("tool_result", call_id=CALL_IDS, status=STATUS, output=st.just("z")),
    record("tool_result", call_id=CALL_IDS, status=STATUS, output=st.just("z")),
    record("turn_end", status=st.sampled_from(["completed", "failed", "cancelled"])),
)


@given(records=st.lists(RECORDS, max_size=40), torn=st.integers(0, 60))
@settings(max_examples=200)
def test_whatever_is_appended_in_any_order_the_file_opens_again(
    records: list[Record], torn: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        kept = []
        with create(home, disk=QuickDisk()) as store:
            for one in records:
                try:
                    assert store.append(one) == len(kept) + 1
                except JournalError:
                    continue
                kept.append((one.kind, one.turn_id, one.data))
        data = file_of(home).read_bytes()
        found = [(r["kind"], r["turn_id"], r["data"]) for r in records_of(data)[1:]]
        assert found == kept, "what was taken is in the file, what was refused is not"
        file_of(home).write_bytes(data[: len(data) - torn])
        with reopen(home, "with-evidence", disk=QuickDisk()) as store:
            for message in store.replay.messages:
                assert message.role != "system"
            turns = split_turns(list(store.replay.messages))
            for turn in turns:
                assert turn[0].role == "user"
                check_request([*turn, turn[0]])
        first = file_of(home).read_bytes()
        reopen(home, disk=QuickDisk()).close()
        assert file_of(home).read_bytes() == first


def split_turns(messages: list[Any]) -> list[list[Any]]:
    turns: list[list[Any]] = []
    for message in messages:
        if message.role == "user":
            turns.append([])
        turns[-1].append(message)
    return turns


@given(data=st.data())
@settings(max_examples=300)
def test_damage_anywhere_is_refused_or_harmless_and_nothing_is_lost(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        whole = bytearray(saved_turn(home, 2))
        for _ in range(data.draw(st.integers(1, 3))):
            at = data.draw(st.integers(0, len(whole) - 1))
            whole[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
        file_of(home).write_bytes(whole)
        try:
            with reopen(home, disk=QuickDisk()) as store:
                torn, line = store.recovery.torn_path, 0
        except SessionDamagedError as refusal:
            torn, line = "", refusal.line
        if line:
            assert line <= whole.count(b"\n") + 1
            assert file_of(home).read_bytes() == whole
            return
        aside = Path(torn).read_bytes() if torn else b""
        before = bytes(whole[: len(whole) - len(aside)])
        assert file_of(home).read_bytes().startswith(before), "every byte is in one of two files"
        assert bytes(whole) == before + aside


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS])
def test_a_fault_at_any_step_of_opening_is_told_and_mended_by_the_next(
    number: int, tmp_path: Path
) -> None:
    lines = saved_turn(tmp_path, 2).splitlines(keepends=True)
    start = b"".join(lines[:4]) + b'{"torn'
    file_of(tmp_path).write_bytes(start)
    with reopen(tmp_path, disk=QuickDisk()) as store:
        expected = store.replay
    whole = without_times(file_of(tmp_path))
    steps = told = 0
    while steps == told:
        steps += 1
        for torn in file_of(tmp_path).parent.glob("*.torn-*"):
            torn.unlink()
        file_of(tmp_path).write_bytes(start)
        said = open_with_fault(tmp_path, steps, number)
        told += bool(said)
        assert not said or (f"(errno {number})" in said and "s-1.jsonl" in said)
        with reopen(tmp_path, disk=QuickDisk()) as store:
            assert store.replay == expected
        assert without_times(file_of(tmp_path)) == whole
    assert told > 12, "each step was tried, up to the one that is not there"


def open_with_fault(home: Path, step: int, number: int) -> str:
    """What opening says when that step of the disk fails; "" if there is no such step."""

    def fail(at: int, name: str) -> None:
        if at == step:
            raise OSError(number, "planted")

    disk = SpyDisk(fail)
    try:
        reopen(home, disk=disk).close()
    except SessionError as fault:
        return str(fault)
    assert len(disk.steps) < step, "every fault is told"
    return ""


def without_times(path: Path) -> list[dict[str, Any]]:
    return [{**one, "timestamp": ""} for one in records_of(path.read_bytes())]
