"""The graders of s03 A and C are graded: the reference passes, wrong answers are told why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from curriculum.core.trace import Event
from curriculum.grading.read_file import grade_read_file
from curriculum.grading.result_status import SITUATIONS, grade_result_status, observe_situation
from curriculum.grading.s03 import grade_pair_results, grade_word_count
from curriculum.lessons.s03_bash_tool import solutions


def test_the_reference_passes() -> None:
    grade_pair_results(solutions.pair_results)
    grade_word_count(solutions.WordCount)
    assert solutions.RESULT_STATUS is not None
    grade_result_status(solutions.RESULT_STATUS)
    grade_read_file(solutions.ReadFile)


Pairs = dict[str, tuple[str, str] | None]


def pick(events: Sequence[Event], type: str) -> list[Mapping[str, object]]:
    return [event.payload for event in events if event.type == type]


def by_position(events: Sequence[Event]) -> object:
    calls, results = pick(events, "tool.call"), pick(events, "tool.result")
    pairs = [(result["status"], result["output"]) for result in reversed(results)]
    return {
        call["call_id"]: pairs[number] if number < len(pairs) else None
        for number, call in enumerate(calls)
    }


def only_results(events: Sequence[Event]) -> object:
    return {r["call_id"]: (r["status"], r["output"]) for r in pick(events, "tool.result")}


def only_started(events: Sequence[Event]) -> object:
    started = {start["call_id"] for start in pick(events, "tool.start")}
    pairs = solutions.pair_results(events)
    return {call_id: pair for call_id, pair in pairs.items() if pair is None or call_id in started}


def failures_left_out(events: Sequence[Event]) -> object:
    pairs = solutions.pair_results(events)
    return {i: pair for i, pair in pairs.items() if pair is None or pair[0] == "completed"}


def starts_as_results(events: Sequence[Event]) -> object:
    running = {start["call_id"]: ("unknown", "") for start in pick(events, "tool.start")}
    return {**{i: pair or running.get(i) for i, pair in solutions.pair_results(events).items()}}


def approvals_count_too(events: Sequence[Event]) -> object:
    asked = {str(q["approval_id"]): None for q in pick(events, "approval.request")}
    return {**solutions.pair_results(events), **asked}


def all_the_same(events: Sequence[Event]) -> object:
    pairs = solutions.pair_results(events)
    last = next((pair for pair in reversed(pairs.values()) if pair), None)
    return dict.fromkeys(pairs, last)


def zipped(events: Sequence[Event]) -> object:
    pairs = solutions.pair_results(events)
    results = [(r["status"], r["output"]) for r in pick(events, "tool.result")]
    return dict(zip(pairs, [*results, *[None] * (len(pairs) - len(results))], strict=True))


WRONG_PAIRS: dict[str, tuple[Callable[[Sequence[Event]], object], str]] = {
    "paired by position": (by_position, "which is the result of 'id-"),
    "in the order of the results": (zipped, "you say|which is the result of"),
    "open calls left out": (only_results, "your result does not know that call"),
    "only what started": (only_started, "your result does not know that call"),
    "failures left out": (failures_left_out, "your result does not know that call"),
    "a start taken for a result": (starts_as_results, "still open: None"),
    "approvals taken for calls": (approvals_count_too, r"you also have \['approval-"),
    "the last result for all": (all_the_same, "which is the result of"),
    "status only": (
        lambda events: {i: pair and pair[0] for i, pair in solutions.pair_results(events).items()},
        "you say",
    ),
    "a list": (lambda events: list(solutions.pair_results(events).items()), "a dict from call_id"),
    "hard-coded": (lambda events: {"call-1": ("completed", "6\n")}, "does not know that call"),
    "crashes on an open trace": (
        lambda events: {
            call["call_id"]: next(
                (r["status"], r["output"])
                for r in pick(events, "tool.result")
                if r["call_id"] == call["call_id"]
            )
            for call in pick(events, "tool.call")
        },
        "StopIteration",
    ),
}


@pytest.mark.parametrize("name", WRONG_PAIRS)
def test_wrong_pairs_are_told_why(name: str) -> None:
    wrong, message = WRONG_PAIRS[name]
    with pytest.raises(AssertionError, match=message):
        grade_pair_results(wrong)  # type: ignore[arg-type]


def changed(situation: str, fact: str, prediction: object) -> dict[str, dict[str, object]]:
    assert solutions.RESULT_STATUS is not None
    table = {name: dict(row) for name, row in solutions.RESULT_STATUS.items()}
    assert table[situation][fact] != prediction
    table[situation][fact] = prediction
    return table


TABLE = {name: dict(row) for name, row in (solutions.RESULT_STATUS or {}).items()}
WRONG_STATUSES: dict[str, tuple[object, str]] = {
    "denied is failed": (
        changed("denied", "status", "failed"),
        "'denied': you predict status 'failed', the trace shows 'denied'",
    ),
    "a denied call starts": (
        changed("denied", "starts", True),
        "'denied': you predict starts True, the trace shows False",
    ),
    "a refusal is kept from the model": (
        changed("arguments break the definition", "model reads it", False),
        "you predict model reads it False, the trace shows True",
    ),
    "invalid arguments are asked about": (
        changed("arguments break the definition", "asked", True),
        "you predict asked True, the trace shows False",
    ),
    "a bug is a failure": (
        changed("the tool has a bug", "status", "failed"),
        "'the tool has a bug': you predict status 'failed', the trace shows 'unknown'",
    ),
    "the model reads what came last": (
        changed("no model request is left", "model reads it", True),
        "'no model request is left': you predict model reads it True",
    ),
    "the last batch runs": (
        changed("no model request is left", "status", "completed"),
        "you predict status 'completed', the trace shows 'not_executed'",
    ),
    "no answer is a no": (
        changed("the approver has a bug", "status", "denied"),
        "'the approver has a bug': you predict status 'denied', the trace shows 'not_executed'",
    ),
    "a cancelled call is unknown": (
        changed("cancelled before its turn", "status", "unknown"),
        "you predict status 'unknown', the trace shows 'not_executed'",
    ),
    "hyphens": (
        changed("no tool has that name", "status", "unknown-tool"),
        "you predict status 'unknown-tool', the trace shows 'unknown_tool'",
    ),
    "a row left out": ({"denied": {}}, "no row for 'allowed and it works', "),
    "a row misspelt": (
        {name.replace("denied", "refused"): row for name, row in TABLE.items()},
        "no row for 'denied'\n.*'refused' is none of the rows asked for",
    ),
    "a row left out, another one wrong": (
        {"denied": {**TABLE["denied"], "starts": True}},
        "no row for (.|\n)*'denied': you predict starts True, the trace shows False",
    ),
    "a column left out": ({s: {} for s in SITUATIONS}, "the columns status, asked"),
}


@pytest.mark.parametrize("name", WRONG_STATUSES)
def test_wrong_statuses_are_told_why(name: str) -> None:
    wrong, message = WRONG_STATUSES[name]
    with pytest.raises(AssertionError, match=message):
        grade_result_status(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_situation_has_the_same_outcome_every_time(situation: str) -> None:
    assert len({str(observe_situation(situation, seed)) for seed in range(20)}) == 1
