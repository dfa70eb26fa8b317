"""What a restart tells the model, by either rule, and what it tells the user and the observers."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from curriculum.core.errors import JournalError, ModelError
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.trace import Event
from curriculum.sessions.observe import show_acknowledgement, show_recovery
from curriculum.sessions.replay import NOTICE
from curriculum.sessions.store import SessionStore
from curriculum.trace.engines import make_engine
from curriculum.trace.validate import Options, validate
from tests.sessions.parts import (
    Marker,
    StrictModel,
    create,
    file_of,
    marks,
    reopen,
    runner_of,
    saved_turn,
    script,
)


def cut(home: Path, calls: int, lines: int) -> None:
    """A session whose process ended after so many records of a turn with so many calls."""
    kept = saved_turn(home, calls).splitlines(keepends=True)[:lines]
    file_of(home).write_bytes(b"".join(kept))


def verdict_of(events: Sequence[Event]) -> tuple[str, list[str]]:
    data = io.BytesIO("".join(event.to_line() for event in events).encode())
    report = validate(data.read, make_engine(), Options(is_strict=True))
    return report.verdict.name, [f"{f.code} {f.message}" for f in report.findings]


def test_the_notice_has_the_words_of_the_chapter() -> None:
    assert NOTICE == (
        "An interrupted tool turn was retained but excluded from context. Commands it started "
        "may already have run; none was retried."
    )


def test_a_completed_turn_comes_back_exactly_as_it_was(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        runner = runner_of(store, ScriptedModel(script(2)), Marker(tmp_path / "marks"))
        result = runner.run("go \u2028 é \U0001f600")
    for rule in ("completed-only", "with-evidence"):
        with reopen(tmp_path, rule) as store:
            assert store.replay.messages == result.messages
            assert (store.replay.turns, store.replay.left_out) == (1, 0)
            assert store.replay.notice == ""
    assert result.messages[1].opaque is not None


def test_a_lone_surrogate_is_replaced_alike_in_memory_and_on_disk(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        runner = runner_of(store, StrictModel("\ud800"), Marker(tmp_path / "marks"))
        result = runner.run("a\udfffb")
    with reopen(tmp_path) as store:
        assert [m.content for m in store.replay.messages] == ["a\ufffdb", "\ufffd"]
        assert store.replay.messages == result.messages


# The chapter's own three points: after the response, after a start, after a saved result.
@pytest.mark.parametrize(
    ("lines", "not_executed", "unknown"),
    [
        (3, ("call-0", "call-1"), ()),
        (4, ("call-1",), ("call-0",)),
        (5, ("call-1",), ()),
    ],
)
def test_completed_only_replays_nothing_of_an_interrupted_tool_turn(
    lines: int, not_executed: tuple[str, ...], unknown: tuple[str, ...], tmp_path: Path
) -> None:
    cut(tmp_path, 2, lines)
    ran = marks(tmp_path / "marks")
    with reopen(tmp_path) as store:
        assert store.recovery.not_executed == not_executed
        assert store.recovery.unknown == unknown
        assert store.recovery.turn_id == "turn-1"
        assert store.replay.messages == ()
        assert store.replay.notice == NOTICE
        assert store.replay.left_out == 1
    with reopen(tmp_path) as store:
        assert store.recovery.turn_id == ""
        assert store.replay.notice == NOTICE, "whoever did not see it the first time sees it now"
    assert marks(tmp_path / "marks") == ran


@pytest.mark.parametrize("lines", [3, 4, 5, 6, 7, 8])
def test_with_evidence_replays_an_interrupted_tool_turn_with_its_results(
    lines: int, tmp_path: Path
) -> None:
    cut(tmp_path, 2, lines)
    with reopen(tmp_path, "with-evidence") as store:
        messages = store.replay.messages
        assert [m.role for m in messages][:4] == ["user", "assistant", "tool", "tool"]
        assert [m.call_id for m in messages if m.role == "tool"] == ["call-0", "call-1"]
        assert messages[1].opaque is not None
        assert (store.replay.turns, store.replay.left_out, store.replay.notice) == (1, 0, "")
        statuses = [json.loads(m.content)["status"] for m in messages if m.role == "tool"]
        unknown = {"unknown": True}.get(statuses[0], statuses[1] == "unknown")
        assert unknown == bool(store.unacknowledged)


@pytest.mark.parametrize("rule", ["completed-only", "with-evidence"])
def test_a_turn_that_never_asked_for_a_tool_leaves_no_evidence_and_no_notice(
    rule: str, tmp_path: Path
) -> None:
    for lines in (2, 3):
        cut(tmp_path / str(lines), 0, lines)
        with reopen(tmp_path / str(lines), rule) as store:
            assert store.recovery.turn_id == "turn-1"
            assert store.replay.messages == ()
            assert (store.replay.left_out, store.replay.notice) == (1, "")


@pytest.mark.parametrize(
    ("fault", "status"), [(ModelError("down"), "failed"), (KeyboardInterrupt(), "cancelled")]
)
def test_a_failed_or_cancelled_tool_turn_is_left_out_or_evidence(
    fault: BaseException, status: str, tmp_path: Path
) -> None:
    turns: list[Any] = [ModelTurn("", (ToolCall("call-0", "mark"),)), fault]
    with create(tmp_path) as store:
        model: Any = ScriptedModel(turns)
        if isinstance(fault, KeyboardInterrupt):
            model = Interrupting(turns[0])
        result = runner_of(store, model, Marker(tmp_path / "marks")).run("go")
        assert result.error is not None
    assert f'"status":"{status}"' in file_of(tmp_path).read_text().splitlines()[-1]
    with reopen(tmp_path) as store:
        assert store.replay.messages == ()
        assert store.replay.notice == "", "it was not interrupted: the user saw it end"
    with reopen(tmp_path, "with-evidence") as store:
        assert store.replay.messages == result.messages
        assert store.unacknowledged == ()


class Interrupting:
    """Answers once, then Ctrl+C."""

    def __init__(self, turn: ModelTurn) -> None:
        self._turns = [turn]

    def respond(self, messages: Sequence[Message], tools: object) -> ModelTurn:
        if not self._turns:
            raise KeyboardInterrupt
        return self._turns.pop()


def test_the_notice_ends_with_the_next_turn(tmp_path: Path) -> None:
    cut(tmp_path, 1, 4)
    with reopen(tmp_path) as store:
        assert store.replay.notice == NOTICE
        assert runner_of(store, StrictModel(), Marker(tmp_path / "marks")).run("on").error is None
    with reopen(tmp_path) as store:
        assert store.replay.notice == ""
        assert (store.replay.turns, store.replay.left_out) == (1, 1)


def resumed(store: SessionStore, home: Path, model: Any) -> tuple[Any, Any]:
    """A conversation gone on with, as the interface documents it; (result, runner)."""
    runner = runner_of(store, model, Marker(home / "marks"))
    runner.start(store.session_id, resumed_from=store.session_id)
    show_recovery(runner.recorder, store)
    for outcome in store.unacknowledged:
        store.acknowledge(outcome, by="user")
        show_acknowledgement(runner.recorder, outcome, by="user")
    return runner.stop(runner.turn("and now?")), runner


@pytest.mark.parametrize("rule", ["completed-only", "with-evidence"])
@pytest.mark.parametrize("lines", range(1, 10))
def test_the_trace_of_a_resumed_session_is_complete(lines: int, rule: str, tmp_path: Path) -> None:
    cut(tmp_path, 2, lines)
    with file_of(tmp_path).open("ab") as file:
        file.write(b"{torn")
    with reopen(tmp_path, rule) as store:
        result, _ = resumed(store, tmp_path, StrictModel())
        assert result.error is None
    assert verdict_of(result.events) == ("COMPLETE", [])
    recover = [e.payload for e in result.events if e.type == "session.recover"]
    assert len(recover) == 1
    assert recover[0]["torn_bytes"] == 5
    assert recover[0]["session_id"] == "s-1"
    closed = {"not_executed": [0, 0, 0, 2, 1, 1, 0, 0, 0, 0][lines], "unknown": lines in (4, 6)}
    assert recover[0]["closed"] == closed
    is_left_out = rule == "completed-only" and 3 <= lines < 9
    assert ("notice" in recover[0]) == (is_left_out and lines != 9)
    acknowledged = [e.payload["call_id"] for e in result.events if e.type == "outcome.acknowledge"]
    assert acknowledged == {4: ["call-0"], 6: ["call-1"]}.get(lines, [])


def test_a_session_with_nothing_to_report_shows_no_recovery(tmp_path: Path) -> None:
    saved_turn(tmp_path, 1)
    with reopen(tmp_path) as store:
        result, _ = resumed(store, tmp_path, StrictModel())
    assert "session.recover" not in [event.type for event in result.events]


def test_an_acknowledgement_is_for_one_outcome_and_counts_once(tmp_path: Path) -> None:
    cut(tmp_path, 1, 4)
    with reopen(tmp_path, "with-evidence") as store:
        outcome = store.unacknowledged[0]
        store.acknowledge(outcome, by="policy")
        with pytest.raises(JournalError, match="has no unknown outcome"):
            store.acknowledge(outcome)
    assert '"by":"policy"' in file_of(tmp_path).read_text().splitlines()[-1]


def test_an_unknown_outcome_of_a_turn_that_failed_is_acknowledged_too(tmp_path: Path) -> None:
    """A tool that raises leaves an unknown outcome in a turn that the loop itself ended."""

    def explode(act: Any) -> None:
        act()
        raise RuntimeError("bug")

    with create(tmp_path, rule="with-evidence") as store:
        tool = Marker(tmp_path / "marks", explode)
        runner = runner_of(store, ScriptedModel([*script(1), *script(0)]), tool)
        assert runner.turn("go").error is not None
        assert [o.call.call_id for o in store.unacknowledged] == ["call-0"]
        stopped = runner.turn("more").error
        assert stopped is not None
        assert "nobody has acknowledged" in stopped.message


def test_ids_of_replayed_calls_cannot_be_used_again(tmp_path: Path) -> None:
    saved_turn(tmp_path, 1)
    with reopen(tmp_path) as store:
        runner = runner_of(store, ScriptedModel(script(1)), Marker(tmp_path / "marks"))
        error = runner.run("again").error
        assert error is not None
        assert "was used before" in error.message
    assert marks(tmp_path / "marks") == ["call-0"]
