"""The store as the loop's journal: what is on disk at each save point, and what is refused."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curriculum.core.approval import ApprovalRequest, Decision
from curriculum.core.errors import JournalError
from curriculum.core.journal import Record
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import GoldenClock, Recorder, format_timestamp
from curriculum.sessions.errors import SessionError, SessionExistsError
from curriculum.sessions.record import TimeText
from curriculum.sessions.store import SessionStore
from tests.sessions.parts import (
    NAME,
    Marker,
    QuickDisk,
    SpyDisk,
    create,
    file_of,
    records_of,
    reopen,
    runner_of,
    saved_turn,
    script,
)

SURROGATES = ["\ud800", "\ud801"]


class Echo:
    """Gives back its arguments; looks at the disk before it does."""

    definition = ToolDefinition("echo", "Echo.", {"type": "object"})

    def __init__(self, look: Callable[[str], None]) -> None:
        self._look = look

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({"arguments": arguments}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        self._look("execution")
        return ToolResult("completed", str(prepared.action))


class LookingModel:
    """Answers as scripted; looks at the disk before it does."""

    def __init__(self, turns: list[ModelTurn], look: Callable[[str], None]) -> None:
        self._model, self._look = ScriptedModel(turns), look

    def respond(self, messages: Any, tools: Any) -> ModelTurn:
        self._look("request")
        return self._model.respond(messages, tools)


class LookingApprover:
    """Says yes; looks at the disk before it does."""

    def __init__(self, look: Callable[[str], None]) -> None:
        self._look = look

    def decide(self, request: ApprovalRequest) -> Decision:
        self._look("confirmation")
        return Decision("allow", "user", "tester")


def test_echo_contract_every_save_point_is_on_disk_before_the_next_step(tmp_path: Path) -> None:
    seen: list[tuple[str, list[str]]] = []
    store = create(tmp_path)

    def look(step: str) -> None:
        kinds = [record["kind"] for record in records_of(file_of(tmp_path).read_bytes())]
        seen.append((step, kinds[1:]))

    turns = [ModelTurn("", (ToolCall("call-1", "echo", '{"x":1}'),)), ModelTurn("done")]
    runner = AgentRunner(
        LookingModel(turns, look),
        ToolBox([Echo(look)]),
        approver=LookingApprover(look),
        journal=store,
        recorder=Recorder.golden(),
    )
    assert runner.run("go").error is None
    look("end")
    kinds = ["user_input", "model_response", "tool_start", "tool_result", "model_response"]
    assert seen == [
        ("request", kinds[:1]),
        ("confirmation", kinds[:2]),
        ("execution", kinds[:3]),
        ("request", kinds[:4]),
        ("end", [*kinds, "turn_end"]),
    ]
    result = records_of(file_of(tmp_path).read_bytes())[4]["data"]
    assert result == {"call_id": "call-1", "status": "completed", "output": '{"x":1}'}
    assert "exit_code" not in result


def test_a_denied_call_has_a_result_and_no_start(tmp_path: Path) -> None:
    store = create(tmp_path)
    turns = [ModelTurn("", (ToolCall("call-1", "echo"),)), ModelTurn("done")]
    AgentRunner(ScriptedModel(turns), ToolBox([Echo(print)]), journal=store).run("go")  # type: ignore[arg-type]
    records = records_of(file_of(tmp_path).read_bytes())
    assert [r["kind"] for r in records][3:5] == ["tool_result", "model_response"]
    assert records[3]["data"]["status"] == "denied"


def test_every_record_is_one_write_and_one_sync_in_that_order(tmp_path: Path) -> None:
    disk = SpyDisk()
    store = create(tmp_path, disk=disk)
    disk.steps.clear()
    runner_of(store, ScriptedModel(script(2)), Marker(tmp_path / "marks")).run("go")
    names = [name for name, _ in disk.steps]
    assert names == ["write", "sync_data"] * 8
    written = [data for name, data in disk.steps if name == "write"]
    assert all(data.endswith(b"\n") and data.count(b"\n") == 1 for data in written)
    assert file_of(tmp_path).read_bytes().endswith(b"".join(written))


def test_positions_are_the_lines_of_the_file_and_observers_see_them(tmp_path: Path) -> None:
    store = create(tmp_path)
    result = runner_of(store, ScriptedModel(script(1)), Marker(tmp_path / "marks")).run("go")
    seen = [(e.payload["position"], e.payload["record_kind"]) for e in result.events
            if e.type == "journal.append"]  # fmt: skip
    records = records_of(file_of(tmp_path).read_bytes())
    assert seen == [(r["sequence"], r["kind"]) for r in records[1:]]
    assert [r["sequence"] for r in records] == list(range(len(records)))


def test_records_of_a_turn_share_its_id_and_calls_keep_theirs(tmp_path: Path) -> None:
    saved_turn(tmp_path, 2)
    records = records_of(file_of(tmp_path).read_bytes())
    assert {record["turn_id"] for record in records[1:]} == {"turn-1"}
    ids = [(r["kind"], r["data"]["call_id"]) for r in records if "call_id" in r["data"]]
    assert ids == [(kind, f"call-{n}") for n in (0, 1) for kind in ("tool_start", "tool_result")]


def test_timestamps_come_from_the_clock_that_was_given(tmp_path: Path) -> None:
    saved_turn(tmp_path, 0)
    times = [record["timestamp"] for record in records_of(file_of(tmp_path).read_bytes())]
    assert times == [f"2026-01-01T00:00:00.00{n}000Z" for n in range(4)]


def test_the_same_turn_gives_the_same_bytes(tmp_path: Path) -> None:
    assert saved_turn(tmp_path / "one", 2) == saved_turn(tmp_path / "two", 2)


def test_a_session_that_exists_is_not_made_again(tmp_path: Path) -> None:
    data = saved_turn(tmp_path, 0)
    with pytest.raises(SessionExistsError, match="is there already"):
        create(tmp_path)
    assert file_of(tmp_path).read_bytes() == data


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
def test_a_session_that_could_not_be_made_is_not_left_in_the_list(
    step: int, tmp_path: Path
) -> None:
    def fail(number: int, name: str) -> None:
        if number == step:
            raise OSError(28, "planted")

    home = tmp_path / "home"
    with pytest.raises(SessionError, match=r"No space left on device \(errno 28\)"):
        create(home, disk=SpyDisk(fail))
    assert not file_of(home).exists()
    create(home).close()


@pytest.mark.parametrize(
    ("kind", "turn_id", "data", "why"),
    [
        ("user_input", "turn-1", {"content": 5}, "data.content has no right value"),
        ("user_input", "turn-1", {"content": "x", "extra": 1}, "is an unknown field"),
        ("user_input", "", {"content": "x"}, "turn_id has no right value"),
        ("note", "turn-1", {}, "is unknown"),
        ("session", "", {"session_id": "s-1"}, "a header stands on the first line"),
        ("turn_end", "turn-1", {"status": "completed"}, "is not open"),
        ("tool_start", "turn-1", {"call_id": "c", "display": {}}, "is not open"),
        ("user_input", "turn-1", {"content": "x" * 16 * 1024 * 1024}, "bytes"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(
    kind: Any, turn_id: str, data: dict[str, object], why: str, tmp_path: Path
) -> None:
    store = create(tmp_path)
    before = file_of(tmp_path).read_bytes()
    with pytest.raises(JournalError, match=why):
        store.append(Record(kind, turn_id, data))
    assert file_of(tmp_path).read_bytes() == before
    assert store.append(Record("user_input", "turn-1", {"content": "x"})) == 1, "it goes on"


@pytest.mark.parametrize("depth", [61, 62, 63, 300, 100_000])
def test_an_opaque_value_nests_as_deep_as_can_be_read_back(depth: int, tmp_path: Path) -> None:
    opaque: Any = '"[{\\'
    for _ in range(depth):
        opaque = [opaque]
    store = create(tmp_path)
    store.append(Record("user_input", "turn-1", {"content": "x"}))
    data = {"content": "[" * 100 + '"' + "{" * 100, "tool_calls": [], "opaque": opaque}
    record = Record("model_response", "turn-1", data)
    if depth > 62:
        with pytest.raises(JournalError, match=r"nesting is deeper|recursion"):
            store.append(record)
        return
    assert store.append(record) == 2
    store.append(Record("turn_end", "turn-1", {"status": "completed"}))
    store.close()
    with reopen(tmp_path) as store:
        assert store.replay.messages[1].opaque == opaque


@pytest.mark.parametrize("opaque", [{1: "x", "1": "y"}, dict.fromkeys(SURROGATES)])
def test_an_opaque_value_whose_keys_become_equal_is_refused(opaque: object, tmp_path: Path) -> None:
    store = create(tmp_path)
    store.append(Record("user_input", "turn-1", {"content": "x"}))
    data = {"content": "", "tool_calls": [], "opaque": [opaque]}
    with pytest.raises(JournalError, match="a key stands twice"):
        store.append(Record("model_response", "turn-1", data))


@pytest.mark.parametrize("keys", [(1, "1"), SURROGATES])
@pytest.mark.parametrize("is_nested", [False, True])
def test_a_display_whose_keys_become_equal_is_refused(
    keys: tuple[object, object], is_nested: bool, tmp_path: Path
) -> None:
    call = {"call_id": "c", "name": "mark", "arguments": "{}"}
    display: object = dict.fromkeys(keys)
    store = create(tmp_path)
    store.append(Record("user_input", "t", {"content": "x"}))
    store.append(Record("model_response", "t", {"content": "", "tool_calls": [call]}))
    data = {"call_id": "c", "display": {"environment": display} if is_nested else display}
    with pytest.raises(JournalError, match="a key stands twice"):
        store.append(Record("tool_start", "t", data))


def test_times_of_one_second_and_of_the_next_are_each_their_own() -> None:
    text = TimeText()
    for wall_us in (999_999, 1_000_000, 1_000_001, 59_999_999, 60_000_000, 0, 2**50):
        assert text.of(wall_us) == format_timestamp(wall_us)


@pytest.mark.parametrize("opaque", [{1, 2}, float("nan"), object(), b"x"])
def test_an_opaque_value_that_is_not_json_is_refused(opaque: object, tmp_path: Path) -> None:
    store = create(tmp_path)
    store.append(Record("user_input", "turn-1", {"content": "x"}))
    data = {"content": "", "tool_calls": [], "opaque": opaque}
    with pytest.raises(JournalError, match="the model_response record is not JSON"):
        store.append(Record("model_response", "turn-1", data))


def test_a_second_result_for_a_call_is_refused(tmp_path: Path) -> None:
    store = create(tmp_path)
    call = {"call_id": "c", "name": "mark", "arguments": "{}"}
    store.append(Record("user_input", "t", {"content": "x"}))
    store.append(Record("model_response", "t", {"content": "", "tool_calls": [call]}))
    with pytest.raises(JournalError, match="'c' has no result yet"):
        store.append(Record("turn_end", "t", {"status": "completed"}))
    result = {"call_id": "c", "status": "denied", "output": ""}
    store.append(Record("tool_result", "t", result))
    with pytest.raises(JournalError, match="no call 'c' is open"):
        store.append(Record("tool_result", "t", result))
    again = {"content": "", "tool_calls": [call]}
    with pytest.raises(JournalError, match="was used before in this turn"):
        store.append(Record("model_response", "t", again))


def test_a_second_start_of_a_call_is_refused(tmp_path: Path) -> None:
    store = create(tmp_path)
    call = {"call_id": "c", "name": "mark", "arguments": "{}"}
    store.append(Record("user_input", "t", {"content": "x"}))
    store.append(Record("model_response", "t", {"content": "", "tool_calls": [call]}))
    store.append(Record("tool_start", "t", {"call_id": "c", "display": {}}))
    with pytest.raises(JournalError, match="the call 'c' has started already"):
        store.append(Record("tool_start", "t", {"call_id": "c", "display": {}}))


def test_a_call_id_names_one_call_in_a_turn_and_may_name_another_in_the_next(
    tmp_path: Path,
) -> None:
    call = {"call_id": "c", "name": "mark", "arguments": "{}"}
    store = create(tmp_path)
    store.append(Record("user_input", "t0", {"content": "x"}))
    twice = {"content": "", "tool_calls": [call, call]}
    with pytest.raises(JournalError, match="'c' was used before in this turn"):
        store.append(Record("model_response", "t0", twice))
    for turn in ("t0", "t1"):
        if turn == "t1":
            store.append(Record("user_input", turn, {"content": "x"}))
        store.append(Record("model_response", turn, {"content": "", "tool_calls": [call]}))
        result = {"call_id": "c", "status": "denied", "output": ""}
        store.append(Record("tool_result", turn, result))
        store.append(Record("turn_end", turn, {"status": "completed"}))
    store.close()
    with reopen(tmp_path) as store:
        assert store.replay.turns == 2


def test_a_closed_store_takes_nothing(tmp_path: Path) -> None:
    store = create(tmp_path)
    store.close()
    store.close()
    with pytest.raises(JournalError, match="the session is closed"):
        store.append(Record("user_input", "turn-1", {"content": "x"}))


@pytest.mark.parametrize(("change", "why"), [("grow", "changed by another"), ("delete", "deleted")])
def test_a_file_that_somebody_else_changes_is_not_written_to(
    change: str, why: str, tmp_path: Path
) -> None:
    store = create(tmp_path)
    if change == "grow":
        with file_of(tmp_path).open("ab") as file:
            file.write(b"hello\n")
    else:
        file_of(tmp_path).unlink()
    for _ in range(2):
        with pytest.raises(JournalError, match=why):
            store.append(Record("user_input", "turn-1", {"content": "x"}))


@pytest.mark.parametrize("step", ["write", "sync_data"])
def test_ctrl_c_in_the_middle_of_an_append_leaves_the_file_as_memory_is(
    step: str, tmp_path: Path
) -> None:
    class Interrupted(QuickDisk):
        is_now = False

        def write(self, fd: int, data: bytes) -> int:
            if self.is_now and step == "write":
                super().write(fd, data[:10])
                raise KeyboardInterrupt
            return super().write(fd, data)

        def sync_data(self, fd: int) -> None:
            if self.is_now:
                raise KeyboardInterrupt

    disk = Interrupted()
    store = create(tmp_path, disk=disk)
    before = file_of(tmp_path).read_bytes()
    disk.is_now = True
    with pytest.raises(KeyboardInterrupt):
        store.append(Record("user_input", "turn-1", {"content": "x"}))
    assert file_of(tmp_path).read_bytes() == before
    disk.is_now = False
    assert store.append(Record("user_input", "turn-1", {"content": "x"})) == 1


def test_ctrl_c_between_a_write_and_its_consequence_cannot_spoil_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record is durable and memory has not moved: nothing more is written on top of that."""
    store = create(tmp_path)

    def interrupt(record: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store._state, "advance", interrupt)
        with pytest.raises(KeyboardInterrupt):
            store.append(Record("user_input", "turn-1", {"content": "x"}))
    with pytest.raises(JournalError, match="a record was interrupted"):
        store.append(Record("turn_end", "turn-1", {"status": "cancelled"}))
    store.close()
    with reopen(tmp_path) as store:
        assert store.recovery.turn_id == "turn-1"


def test_the_descriptor_is_closed_on_exec(tmp_path: Path) -> None:
    store = create(tmp_path)
    assert not os.get_inheritable(store._fd)
    assert fcntl.fcntl(store._fd, fcntl.F_GETFD) & fcntl.FD_CLOEXEC


def test_about_is_kept_in_the_header(tmp_path: Path) -> None:
    create(tmp_path, about={"model": "m", "max_turns": 8}).close()
    header = records_of(file_of(tmp_path).read_bytes())[0]
    assert header["data"] == {"session_id": NAME, "about": {"model": "m", "max_turns": 8}}
    reopen(tmp_path).close()


@pytest.mark.parametrize("how", ["create", "open"])
def test_a_wrong_name_of_a_rule_is_refused_before_any_file_is_touched(
    how: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="no replay rule is named 'all'"):
        getattr(SessionStore, how)(tmp_path / "home", NAME, rule="all", clock=GoldenClock())
    assert list(tmp_path.iterdir()) == []
