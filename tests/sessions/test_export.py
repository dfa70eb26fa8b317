"""Any file that the loader takes exports to a trace that validates; any other is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curriculum.core.errors import JournalError
from curriculum.core.journal import Record
from curriculum.core.trace import GoldenClock
from curriculum.sessions.errors import SessionDamagedError
from curriculum.sessions.export import export_trace
from curriculum.sessions.listing import SessionFile
from curriculum.sessions.record import StoredRecord
from curriculum.sessions.store import SessionStore
from curriculum.trace.codes import Verdict
from tests.fuzz import session
from tests.sessions.parts import NAME, create, file_of, reopen, saved_turn


@given(st.binary(max_size=400))
@settings(max_examples=300)
def test_any_file_the_loader_takes_exports_to_a_trace_that_validates(data: bytes) -> None:
    session.check(data)


ODD = [
    (1, '"2026-01-01T', '"2026-13-01T', "line 2: timestamp has no right value"),
    (1, '"2026-01-01T', '"12026-01-01T', "line 2: timestamp has no right value"),
    (0, '"2026-01-01T', '"0000-01-01T', "line 1: timestamp has no right value"),
    (0, '"s-1"}', '"s-1","about":{"max_turns":9007199254740992}}', "line 1: data.about has no"),
    (3, '{"arguments":', '{"x":[],"arguments":', "line 4: data.display has no right value"),
    (3, '{"arguments":', '{"x":1e999,"arguments":', "line 4: not JSON: no float is as large"),
    (4, '"data":', '"recovered":true,"data":', "line 5: recovered stands on a tool_result record"),
    (6, '"data":', '"recovered":true,"data":', "line 7: recovered stands on a turn_end record"),
    (4, '"completed"', '"denied"', "line 5: the call 'call-0' has started, its result is denied"),
    (4, '"output":', '"reason":"Two words","output":', "line 5: data.reason has no right value"),
]


@pytest.mark.parametrize(("line", "old", "new", "said"), ODD, ids=[case[2] for case in ODD])
def test_an_odd_record_is_refused_in_one_line(
    line: int, old: str, new: str, said: str, tmp_path: Path
) -> None:
    lines = saved_turn(tmp_path, 1).decode().split("\n")
    assert old in lines[line]
    lines[line] = lines[line].replace(old, new, 1)
    file_of(tmp_path).write_text("\n".join(lines))
    with pytest.raises(SessionDamagedError) as refused:
        reopen(tmp_path)
    assert str(refused.value).startswith(f"{file_of(tmp_path)}: {said}")
    assert str(refused.value).isprintable()
    with pytest.raises(SessionDamagedError):
        list(SessionFile(tmp_path, NAME))


def test_a_call_that_never_started_has_no_outcome(tmp_path: Path) -> None:
    lines = saved_turn(tmp_path, 1).split(b"\n")
    del lines[3]
    file_of(tmp_path).write_bytes(b"\n".join(lines).replace(b'"sequence":4', b'"sequence":3'))
    with pytest.raises(SessionDamagedError, match="'call-0' has not started, its result is compl"):
        reopen(tmp_path)


def test_a_turn_that_a_restart_is_closing_is_closed_by_a_restart(tmp_path: Path) -> None:
    lines = saved_turn(tmp_path, 2).split(b"\n")
    file_of(tmp_path).write_bytes(b"\n".join(lines[:3]) + b"\n")
    reopen(tmp_path).close()
    file = file_of(tmp_path).read_bytes()
    file_of(tmp_path).write_bytes(
        file.replace(b'"recovered":true,', b"").replace(
            b'"kind":"tool_result",', b'"kind":"tool_result","recovered":true,', 1
        )
    )
    with pytest.raises(SessionDamagedError, match="line 5: a restart was closing the turn"):
        reopen(tmp_path)


class FarClock:
    """A clock that was set to a year with five digits."""

    def read(self) -> tuple[int, int]:
        return 300_000_000_000_000_000, 0


def test_a_clock_beyond_all_calendars_is_told_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r'timestamp has no right value: "11476-'):
        SessionStore.create(tmp_path, NAME, clock=FarClock())
    assert not file_of(tmp_path).exists()
    with create(tmp_path) as store:
        store._clock = FarClock()
        with pytest.raises(JournalError, match="timestamp has no right value"):
            store.append(Record("user_input", "t1", {"content": "x"}))
        store._clock = GoldenClock()
        assert store.append(Record("user_input", "t1", {"content": "x"})) == 1


def records(*times: str, **about: Any) -> list[StoredRecord]:
    header = StoredRecord(0, times[0], "session", "", {"session_id": NAME, "about": about})
    said = StoredRecord(1, times[1], "user_input", "t1", {"content": "x"})
    return [header, said, StoredRecord(2, times[2], "turn_end", "t1", {"status": "failed"})]


@pytest.mark.parametrize(
    "about", [{"max_turns": True}, {"model": 7}, {"harness": 7}, {"model": ""}]
)
def test_whatever_a_header_says_of_the_run_its_export_validates(about: dict[str, Any]) -> None:
    assert session.check_trace(records(*session.TIMES[:3], **about)) == Verdict.COMPLETE


@pytest.mark.parametrize("later", ["9999-12-31T23:59:59.999999Z", "2026-02-31T00:00:00.000000Z"])
def test_a_clock_that_jumped_centuries_exports_all_the_same(later: str) -> None:
    jumped = records("0001-01-01T00:00:00.000000Z", later, "1970-01-01T00:00:00.000000Z")
    assert session.check_trace(jumped) == Verdict.COMPLETE
    lines: list[str] = []
    export_trace(jumped, lines.append)
    assert all('"elapsed_us":9007199254740991' in line for line in lines[1:])
