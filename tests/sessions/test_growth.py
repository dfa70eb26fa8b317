"""A long session: memory is bounded by what is replayed, work grows with the file and no faster."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from curriculum.core.trace import GoldenClock, format_timestamp
from curriculum.sessions.export import export_trace
from curriculum.sessions.listing import SessionFile, summarise
from curriculum.sessions.reader import READ_BYTES
from curriculum.sessions.record import MAX_RECORD_BYTES, StoredRecord, encode
from curriculum.sessions.replay import Replay
from tests.sessions.parts import NAME, QuickDisk, file_of, reopen

OUTPUT = "o" * 64 * 1024


def write_session(home: Path, turns: int, status: str, output: str = "ok") -> int:
    """A session of so many turns of one call each; returns its bytes."""
    clock = GoldenClock()
    position = 0
    path = file_of(home)
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:

        def put(kind: str, turn_id: str, data: dict[str, object]) -> None:
            nonlocal position
            time = format_timestamp(clock.read()[0])
            file.write(encode(StoredRecord(position, time, kind, turn_id, data)))
            position += 1

        put("session", "", {"session_id": NAME})
        for number in range(turns):
            turn, name = f"turn-{number}", f"call-{number}"
            call = {"call_id": name, "name": "bash", "arguments": "{}"}
            put("user_input", turn, {"content": "go"})
            put("model_response", turn, {"content": "", "tool_calls": [call]})
            put("tool_start", turn, {"call_id": name, "display": {"command": "ls"}})
            put("tool_result", turn, {"call_id": name, "status": "completed", "output": output})
            put("turn_end", turn, {"status": status})
    return path.stat().st_size


def peak_of(work: Callable[[], object]) -> int:
    """The most bytes of Python's memory that `work` held at once."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("how", ["open", "list"])
def test_f17_a_long_session_opens_in_bounded_memory(how: str, tmp_path: Path) -> None:
    """Failed turns of 64 KiB each, so that nothing is replayed: 300 need no more than 30."""
    peaks = []
    for turns in (30, 300):
        home = tmp_path / str(turns)
        size = write_session(home, turns, "failed", OUTPUT)
        assert size > turns * len(OUTPUT)

        def look(home: Path = home, turns: int = turns) -> None:
            if how == "open":
                with reopen(home, disk=QuickDisk()) as store:
                    assert store.replay == Replay(left_out=turns)
            else:
                assert summarise(str(home), NAME).turns == turns

        peaks.append(peak_of(look))
    assert peaks[1] < peaks[0] + 64 * 1024
    assert peaks[1] < 4 * (READ_BYTES + len(OUTPUT))


def test_f17_an_export_holds_no_history(tmp_path: Path) -> None:
    peaks = []
    for turns in (30, 300):
        write_session(tmp_path / str(turns), turns, "completed", OUTPUT)
        session = SessionFile(tmp_path / str(turns), NAME)
        peaks.append(peak_of(lambda session=session: export_trace(session, len)))  # type: ignore[misc]
    assert peaks[1] < peaks[0] + 256 * 1024


def test_f17_only_what_is_replayed_is_kept(tmp_path: Path) -> None:
    write_session(tmp_path, 50, "completed", OUTPUT)
    with reopen(tmp_path, disk=QuickDisk()) as store:
        assert store.replay.turns == 50
        assert len(store.replay.messages) == 150


def test_every_byte_of_a_long_session_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = write_session(tmp_path, 2000, "completed")
    read = 0
    real = os.pread

    def count(fd: int, length: int, at: int) -> bytes:
        nonlocal read
        data = real(fd, length, at)
        read += len(data)
        return data

    monkeypatch.setattr("curriculum.sessions.reader.os.pread", count)
    reopen(tmp_path, disk=QuickDisk()).close()
    assert read == size


def test_a_line_without_end_is_read_in_bounded_memory_and_set_aside(tmp_path: Path) -> None:
    write_session(tmp_path, 1, "completed")
    with file_of(tmp_path).open("ab") as file:
        file.truncate(8 * MAX_RECORD_BYTES)  # zeros, as a file system may leave behind

    def look() -> None:
        with reopen(tmp_path, disk=QuickDisk()) as store:
            assert store.recovery.torn_bytes > 7 * MAX_RECORD_BYTES
            assert os.path.getsize(store.recovery.torn_path) == store.recovery.torn_bytes

    assert peak_of(look) < 3 * MAX_RECORD_BYTES
    assert file_of(tmp_path).stat().st_size < 10_000


def test_a_whole_line_that_is_too_long_is_damage(tmp_path: Path) -> None:
    write_session(tmp_path, 1, "completed")
    with file_of(tmp_path).open("ab") as file:
        file.write(b"x" * (MAX_RECORD_BYTES + 10) + b"\n")
    with pytest.raises(Exception, match="line 7: longer than 16777216 bytes"):
        reopen(tmp_path)
