"""The graders of s06 A, B and C are graded: the reference passes, wrong answers are told why."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from curriculum.core.journal import Record
from curriculum.core.values import replace
from curriculum.grading.recovery_table import check_recovery_table, grade_recovery_table
from curriculum.grading.s06 import grade_open_calls, grade_recover
from curriculum.grading.session_records import closed, conversation, state_after
from curriculum.lessons.s06_recovery import solutions
from curriculum.lessons.s06_recovery.solutions import OUTPUTS, open_calls, recover


def test_the_reference_passes() -> None:
    grade_open_calls(solutions.open_calls)
    grade_recover(solutions.recover)
    assert solutions.RECOVERY_TABLE is not None
    grade_recovery_table(solutions.RECOVERY_TABLE)


Calls = dict[str, str]


def ids_of(records: Sequence[Record], kind: str) -> list[str]:
    return [str(record.data["call_id"]) for record in records if record.kind == kind]


def proposed(records: Sequence[Record]) -> list[str]:
    data: list[Any] = [record.data for record in records if record.kind == "model_response"]
    return [call["call_id"] for answer in data for call in answer["tool_calls"]]


def across_turns(records: Sequence[Record]) -> Calls:
    """A call_id that was answered once is answered for ever."""
    done, started = ids_of(records, "tool_result"), ids_of(records, "tool_start")
    return {
        call_id: "unknown" if call_id in started else "not_executed"
        for call_id in proposed(records)
        if call_id not in done
    }


def starts_of_any_turn(records: Sequence[Record]) -> Calls:
    started = ids_of(records, "tool_start")
    return {i: "unknown" if i in started else "not_executed" for i in open_calls(records)}


def only_started(records: Sequence[Record]) -> Calls:
    return {i: status for i, status in open_calls(records).items() if status == "unknown"}


def all_unknown(records: Sequence[Record]) -> Calls:
    return dict.fromkeys(open_calls(records), "unknown")


def a_start_is_a_failure(records: Sequence[Record]) -> Calls:
    failed = {"unknown": "failed"}
    return {i: failed.get(status, status) for i, status in open_calls(records).items()}


def last_first(records: Sequence[Record]) -> Calls:
    return dict(reversed(open_calls(records).items()))


def denied_is_open(records: Sequence[Record]) -> Calls:
    """Only what started and ended counts as answered."""
    kept = [r for r in records if r.kind != "tool_result" or r.data["status"] != "denied"]
    return open_calls(kept)


def answered_too(records: Sequence[Record]) -> Calls:
    done = {
        str(r.data["call_id"]): str(r.data["status"])
        for r in records
        if "status" in r.data and "call_id" in r.data
    }
    return {**done, **open_calls(records)}


WRONG_CALLS: dict[str, tuple[Callable[[Sequence[Record]], object], str]] = {
    "ids across turns": (across_turns, "you say 'nothing of it'"),
    "starts of any turn": (starts_of_any_turn, "to be not_executed"),
    "only what started": (only_started, "you say 'nothing of it'"),
    "all unknown": (all_unknown, "to be not_executed"),
    "a start is a failure": (a_start_is_a_failure, "to be unknown"),
    "last first": (last_first, "the order"),
    "a refusal is no answer": (denied_is_open, "to be open|to be"),
    "answered calls too": (answered_too, "to be open"),
    "a list": (lambda records: list(open_calls(records)), "a dict from call_id to status"),
    "crashes on nothing": (lambda records: records[-1] and open_calls(records), "IndexError"),
}


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_wrong_open_calls_are_told_why(name: str) -> None:
    wrong, message = WRONG_CALLS[name]
    with pytest.raises(AssertionError, match=message):
        grade_open_calls(wrong)  # type: ignore[arg-type]


Records = list[Record]


def ends_first(records: Sequence[Record]) -> Records:
    return list(reversed(recover(records)))


def forgets_the_end(records: Sequence[Record]) -> Records:
    return recover(records)[:-1]


def forgets_the_results(records: Sequence[Record]) -> Records:
    return recover(records)[-1:]


def always_ends(records: Sequence[Record]) -> Records:
    return recover(records) or [Record("turn_end", "turn-1", {"status": "interrupted"})]


def says_failed(records: Sequence[Record]) -> Records:
    added = recover(records)
    return [replace(r, data={**r.data, "status": "failed"}) for r in added[:-1]] + added[-1:]


def says_not_executed(records: Sequence[Record]) -> Records:
    """The user will feel better."""
    return [
        replace(r, data={**r.data, "status": "not_executed", "output": OUTPUTS["not_executed"]})
        if r.kind == "tool_result"
        else r
        for r in recover(records)
    ]


def completes(records: Sequence[Record]) -> Records:
    """An answer is on disk, so the turn must be complete."""
    added = recover(records)
    last: Any = records[-1].data if records else {}
    if added and records[-1].kind == "model_response" and not last["tool_calls"]:
        return [Record("turn_end", added[-1].turn_id, {"status": "completed"})]
    return added


def starts_again(records: Sequence[Record]) -> Records:
    """What did not run can run now."""
    added = []
    for record in recover(records):
        if record.data["status"] == "not_executed":
            data = {"call_id": record.data["call_id"], "display": {}}
            added.append(Record("tool_start", record.turn_id, data))
        added.append(record)
    return added


def changes_what_it_gets(records: Sequence[Record]) -> Records:
    added = recover(records)
    records += added  # type: ignore[operator]
    return added


def of_no_turn(records: Sequence[Record]) -> Records:
    return [replace(record, turn_id="recovery") for record in recover(records)]


def without_a_word(records: Sequence[Record]) -> Records:
    return [
        replace(r, data={**r.data, "output": ""}) if r.kind == "tool_result" else r
        for r in recover(records)
    ]


def counts_its_work(records: Sequence[Record]) -> Records:
    """Says how many calls it closes: another number when it is called again."""
    added = recover(records)
    return [
        replace(r, data={**r.data, "output": f"one of {len(added) - 1} open calls"})
        if r.kind == "tool_result"
        else r
        for r in added
    ]


def adds_a_note(records: Sequence[Record]) -> Records:
    """A field of its own, that a session file does not know."""
    return [replace(r, data={**r.data, "recovered_by": "me"}) for r in recover(records)]


WRONG_RECOVERIES: dict[str, tuple[Callable[[Sequence[Record]], object], str]] = {
    "the end comes first": (ends_first, "has no result yet"),
    "no end": (forgets_the_end, "the turn is open, 0 calls"),
    "no results": (forgets_the_results, "has no result yet"),
    "ends what has ended": (always_ends, "records that can stand there"),
    "says failed": (says_failed, "the status (unknown|not_executed)"),
    "says not_executed": (says_not_executed, "the status unknown"),
    "completes the turn": (completes, "a turn that ends as interrupted"),
    "starts again": (starts_again, "to start nothing"),
    "changes what it gets": (changes_what_it_gets, "recover changed the list"),
    "of no turn": (of_no_turn, "records of the open turn"),
    "without a word": (without_a_word, "an output that tells the model"),
    "not the same twice": (counts_its_work, "a second recovery to add the rest"),
    "a field that nobody knows": (adds_a_note, "unknown field"),
    "None": (lambda records: None, "a list of Records"),
}


@pytest.mark.parametrize("name", WRONG_RECOVERIES)
def test_wrong_recoveries_are_told_why(name: str) -> None:
    wrong, message = WRONG_RECOVERIES[name]
    with pytest.raises(AssertionError, match=message):
        grade_recover(wrong)  # type: ignore[arg-type]


def test_any_order_of_the_results_is_good() -> None:
    grade_recover(lambda records: [*reversed(recover(records)[:-1]), *recover(records)[-1:]])


Row = tuple[str, str, str, str]


def rows(*changes: Row, without: Sequence[tuple[str, str]] = ()) -> list[Row]:
    """The reference with some rows replaced, added or left out."""
    assert solutions.RECOVERY_TABLE is not None
    table = {(row[0], row[1]): row for row in solutions.RECOVERY_TABLE}
    table.update({(row[0], row[1]): row for row in changes})
    return [row for key, row in table.items() if key not in without]


GO_ON = "recovery goes on"
REFERENCE = solutions.RECOVERY_TABLE or []
WRONG_TABLES: dict[str, tuple[object, str]] = {
    "runs it again": (
        rows(("called", GO_ON, "started", "tool_start")),
        "recovery starts a tool.*path: the user speaks -> the model asks -> recovery goes on",
    ),
    "unknown without a start": (
        rows(("called", GO_ON, "in doubt", "tool_result unknown")),
        "a call without a start is reported as unknown",
    ),
    "not executed after a start": (
        rows(("started", GO_ON, "open", "tool_result not_executed")),
        "a call that has started is reported as not_executed",
    ),
    "invents a result": (
        rows(("started", GO_ON, "open", "tool_result completed")),
        "recovery invents the result completed",
    ),
    "forgets the doubt": (
        rows(("in doubt", GO_ON, "idle", "turn_end interrupted")),
        "user input is taken although an outcome is unknown",
    ),
    "goes on in doubt": (
        rows(("idle, in doubt", "the user speaks", "open", "user_input")),
        "user input is taken although an outcome is unknown",
    ),
    "acknowledges by itself": (
        rows(("idle, in doubt", GO_ON, "idle", "outcome_acknowledged")),
        "recovery acknowledges for the user",
    ),
    "ends it again and again": (
        rows(("idle", GO_ON, "idle", "turn_end interrupted")),
        "recovery is not idempotent",
    ),
    "ends a turn with an open call": (
        rows(("called", GO_ON, "idle", "turn_end interrupted")),
        "recovery ends a turn while a call has no result",
    ),
    "completes what was cut off": (
        rows(("answered", GO_ON, "idle", "turn_end completed")),
        "recovery says that a turn which was cut off completed",
    ),
    "cannot be killed in recovery": (
        rows(without=[("in doubt", GO_ON)]),
        "not complete: no row for state 'in doubt' and event 'recovery goes on'; path:",
    ),
    "an approval in memory": (
        rows(
            ("called", "the call is allowed", "allowed", ""),
            ("allowed", GO_ON, "allowed", ""),
        ),
        "the state changes from 'called' to 'allowed': a crash would forget it",
    ),
    "the result is saved later": (
        rows(("started", "the tool ends", "started", "")),
        "when the tool ends, tool_result completed has to be saved",
    ),
    "gives up early": (
        rows(("open", GO_ON, "open", "")),
        "recovery stops although the turn has no end",
    ),
    "no answer for the user": (
        rows(without=[("idle, in doubt", "the user has looked")]),
        "not complete: no row for state 'idle, in doubt'.*the user has looked",
    ),
    "two rows for one case": ([*REFERENCE, REFERENCE[0]], "not deterministic"),
    "a state nobody reaches": (
        rows(("limbo", GO_ON, "limbo", "")),
        "no path from 'idle' leads to the state 'limbo'",
    ),
    "an unknown word": (rows(("idle", GO_ON, "idle", "shrug")), "'shrug' is none of"),
    "no table": ({}, "a table is a list of rows"),
    "nothing happens": ([("idle", GO_ON, "idle", "")], "no row for state 'idle'"),
}


@pytest.mark.parametrize("name", WRONG_TABLES)
def test_wrong_tables_are_told_why(name: str) -> None:
    wrong, message = WRONG_TABLES[name]
    with pytest.raises(AssertionError, match=message):
        grade_recovery_table(wrong)  # type: ignore[arg-type]


def test_another_design_passes_too() -> None:
    """A state for each step, even where two steps look alike from here."""
    table = rows(
        ("called", "the call is refused", "refused", "tool_result denied"),
        ("refused", "the model asks", "called", "model_response"),
        ("refused", "the model answers", "answered", "model_response"),
        ("refused", GO_ON, "idle", "turn_end interrupted"),
        ("called", GO_ON, "closing", "tool_result not_executed"),
        ("closing", GO_ON, "idle", "turn_end interrupted"),
    )
    assert check_recovery_table(table) == []


@pytest.mark.parametrize("seed", range(5))
def test_conversations_are_sessions_and_can_be_closed_anywhere(seed: int) -> None:
    records = conversation(random.Random(seed))
    assert not state_after(records).turn_id
    for size in range(len(records)):
        assert not state_after(closed(records[:size])).turn_id
