"""State moves in one place: journal, memory, event, in that order; a failed write moves none."""

from __future__ import annotations

import pytest

from curriculum.core.errors import JournalError
from curriculum.core.journal import Record
from curriculum.core.messages import ModelTurn
from tests.core.parts import (
    Probe,
    SpyJournal,
    asks,
    call,
    ends_well,
    findings_in,
    payloads,
    runner_of,
    types,
)

SCRIPT = [asks(call(0)), ModelTurn("done")]
KINDS = ["user_input", "model_response", "tool_start", "tool_result", "model_response", "turn_end"]


def test_every_step_is_saved_before_the_next_one() -> None:
    journal, probe = SpyJournal(), Probe()
    runner = runner_of(SCRIPT, probe, journal=journal)
    before: list[tuple[str, int, int, int]] = []

    def look(record: Record) -> None:
        asked = len(runner.model.requests)  # type: ignore[union-attr]
        before.append((record.kind, len(runner._ledger.messages), asked, len(probe.ran)))

    journal.look = look
    result = ends_well(runner.run("go"))
    assert before == [
        ("user_input", 0, 0, 0),
        ("model_response", 1, 1, 0),
        ("tool_start", 2, 1, 0),
        ("tool_result", 2, 1, 1),
        ("model_response", 3, 2, 1),
        ("turn_end", 4, 2, 1),
    ]
    assert [p["record_kind"] for p in payloads(result, "journal.append")] == KINDS
    assert [p["position"] for p in payloads(result, "journal.append")] == list(range(6))
    assert len({record.turn_id for record in journal.records}) == 1


@pytest.mark.parametrize("fail_at", range(len(KINDS)))
def test_a_record_that_cannot_be_kept_leaves_memory_as_it_was(fail_at: int) -> None:
    journal, probe = SpyJournal(fail_at), Probe()
    runner = runner_of(SCRIPT, probe, journal=journal)
    before: list[tuple[object, ...]] = []
    journal.look = lambda record: before.append(tuple(runner._ledger.messages))
    result = ends_well(runner.run("go"))
    assert result.error is not None
    assert (result.stop_reason, result.error.kind) == ("failed", "journal")
    assert "No space left on device" in result.error.message
    assert result.messages == before[fail_at]
    assert len(before) == fail_at + 1, "nothing is written after a failed write"
    assert [record.kind for record in journal.records] == KINDS[:fail_at]
    assert len(probe.ran) == (fail_at > 2), "without a saved start nothing runs"


def test_a_start_that_was_saved_is_unknown_when_its_result_cannot_be() -> None:
    result = ends_well(runner_of(SCRIPT, Probe(), journal=SpyJournal(3)).run("go"))
    assert payloads(result, "tool.result")[0]["status"] == "unknown"


def test_a_start_that_was_not_saved_is_not_executed() -> None:
    result = ends_well(runner_of(SCRIPT, Probe(), journal=SpyJournal(2)).run("go"))
    assert payloads(result, "tool.result")[0]["status"] == "not_executed"
    assert "tool.start" not in types(result)


def test_a_journal_error_keeps_its_own_words() -> None:
    class Full:
        def append(self, record: Record) -> None:
            raise JournalError(
                "sessions/x.jsonl: no space left (errno 28)", path="sessions/x.jsonl"
            )

    result = runner_of(SCRIPT, Probe(), journal=Full()).run("go")
    error = payloads(result, "error")[0]
    assert error["message"] == "sessions/x.jsonl: no space left (errno 28)"


@pytest.mark.parametrize(
    ("script", "status"),
    [([ModelTurn("x")], "completed"), ([RuntimeError("x")], "failed"), ([asks()], "completed")],
)
def test_the_end_of_a_turn_says_how_it_ended(script: list[object], status: str) -> None:
    journal = SpyJournal()
    runner_of(script, Probe(), journal=journal).run("go")  # type: ignore[arg-type]
    assert journal.records[-1].kind == "turn_end"
    assert journal.records[-1].data == {"status": status}


def test_the_opaque_value_of_a_turn_goes_to_record_and_message_untouched() -> None:
    journal = SpyJournal()
    opaque = [{"type": "reasoning", "encrypted_content": "xyz"}]
    result = runner_of([ModelTurn("x", opaque=opaque)], journal=journal).run("go")
    assert result.messages[1].opaque is opaque
    assert journal.records[1].data["opaque"] is opaque
    assert "encrypted_content" not in "".join(event.to_line() for event in result.events)


@pytest.mark.parametrize("fail_at", range(len(KINDS)))
def test_a_lost_journal_is_not_asked_again_even_if_it_has_healed(fail_at: int) -> None:
    class Heals(SpyJournal):
        def append(self, record: Record) -> int:
            try:
                return super().append(record)
            except OSError:
                self._fail_at = None
                raise

    journal = Heals(fail_at)
    runner = runner_of([*SCRIPT, ModelTurn("more")], Probe(), journal=journal)
    runner.turn("one")
    kept = len(journal.records)
    result = runner.run("two")
    assert result.stop_reason == "failed"
    assert "lost earlier" in str(result.error)
    assert len(journal.records) == kept
    assert findings_in(result) == []
