"""The graders of s09 are graded: the reference passes, each wrong solution is told why."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import pytest

from curriculum.core.context import rebuild
from curriculum.core.messages import Message
from curriculum.core.trace import Event
from curriculum.core.values import replace
from curriculum.grading.compacted_runs import compacted_run
from curriculum.grading.s09 import (
    MESSAGES,
    POLICIES,
    grade_keep_last_turns,
    grade_left_out,
    grade_requests_of,
    grade_what_becomes,
    observe_policy,
)
from curriculum.lessons.s09_context import solutions
from curriculum.lessons.s09_context.demo import HISTORY, main

Events = Sequence[Event]
Messages = Sequence[Message]


def test_the_reference_passes() -> None:
    grade_left_out(solutions.left_out)
    grade_keep_last_turns(solutions.KeepLastTurns)
    assert solutions.WHAT_BECOMES is not None
    grade_what_becomes(solutions.WHAT_BECOMES)
    grade_requests_of(solutions.requests_of)


def test_the_runs_reach_all_that_a_solution_has_to_know() -> None:
    events = [event for seed in range(40) for event in compacted_run(seed).events]
    reports = [e.payload for e in events if e.type == "context.compact"]
    assert {report["reason"] for report in reports} == {"budget", "overflow"}
    assert any("summary" in report for report in reports)
    assert any(report["dropped"] and "summary" not in report for report in reports)
    assert any("truncated" in report and report["dropped"] for report in reports)
    statuses = {e.payload["status"] for e in events if e.type == "model.response"}
    assert statuses >= {"completed", "failed"}
    kinds = [e.type for e in events]
    assert any("retry_of" in event.payload for event in events)
    assert any(
        kinds[n] == "context.compact" and "retry_of" in events[n + 4].payload
        for n in range(len(events) - 4)
    )


def test_the_requests_of_the_demo_can_be_rebuilt_from_its_trace() -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        runner: Any = main()
    before = [Message("system", "Answer from what the tools show."), *HISTORY]
    rebuilt = solutions.requests_of(runner.recorder.events, before)
    assert rebuilt == [list(shown) for shown in runner.model.model.requests]
    assert len(rebuilt) == 4


# A


def no_retries(events: Events) -> Any:
    """A retry is a request that left out nothing."""
    rows, report = [], None
    for event in events:
        if event.type == "context.compact":
            report = event.payload
        elif event.type == "model.request":
            shown = event.payload["message_count"]
            before, reason = (
                (report["message_count_before"], report["reason"]) if report else (shown, None)
            )
            rows.append((event.payload["request_id"], shown, before, reason))
            report = None
    return rows


def sticky(events: Events) -> Any:
    """A compaction is taken to be for all later requests."""
    rows, report = [], None
    for event in events:
        if event.type == "context.compact":
            report = event.payload
        elif event.type == "model.request":
            shown = event.payload["message_count"]
            before, reason = (
                (report["message_count_before"], report["reason"]) if report else (shown, None)
            )
            rows.append((event.payload["request_id"], shown, before, reason))
    return rows


def counts_dropped(events: Events) -> Any:
    """What is gone is counted as what was there."""
    return [(i, shown, before - shown, why) for i, shown, before, why in solutions.left_out(events)]


def responses_only(events: Events) -> Any:
    """A request without an answer does not count."""
    answered = {
        e.payload["request_id"]
        for e in events
        if e.type == "model.response" and e.payload["status"] == "completed"
    }
    return [row for row in solutions.left_out(events) if row[0] in answered]


def cut_is_whole(events: Events) -> Any:
    """Where no message is gone, nothing is left out."""
    return [
        (i, shown, before, why if shown < before else None)
        for i, shown, before, why in solutions.left_out(events)
    ]


WRONG_ROWS: dict[Callable[[Events], Any], str] = {
    no_retries: "expected: \\('request-",
    sticky: "expected: \\('request-",
    counts_dropped: "expected: \\('request-",
    responses_only: "a tuple for each of",
    cut_is_whole: "'(budget|overflow)'\\)\n",
    lambda events: {row[0]: row for row in solutions.left_out(events)}: "a list of tuples",
    lambda events: [("request-1", 1, 1, None)]: "a tuple for each of",
}


@pytest.mark.parametrize("wrong", WRONG_ROWS, ids=lambda wrong: wrong.__name__)
def test_wrong_rows_are_told_why(wrong: Callable[[Events], Any]) -> None:
    with pytest.raises(AssertionError, match=WRONG_ROWS[wrong]):
        grade_left_out(wrong)


# B


class LastMessages(solutions.KeepLastTurns):
    """Counts messages: a result may be shown without its call."""

    def fit(self, messages: Messages, overflow: Any) -> Any:
        dropped = list(range(max(0, len(messages) - self._turns)))
        if not dropped:
            return messages, None
        return self.told(messages, dropped, overflow)

    def told(self, messages: Messages, dropped: list[int], overflow: Any) -> Any:
        report = {
            "policy": "keep-last-turns",
            "reason": "overflow" if overflow else "budget",
            "dropped": dropped,
            "message_count_before": len(messages),
            "message_count": len(messages) - len(dropped),
        }
        return rebuild(messages, report), report


class ForgetsTheRules(LastMessages):
    """The system prompt is old, too."""

    def fit(self, messages: Messages, overflow: Any) -> Any:
        view, report = solutions.KeepLastTurns.fit(self, messages, overflow)
        if report is None:
            return view, report
        last = max(report["dropped"])
        return self.told(messages, list(range(last + 1)), overflow)


class IgnoresOverflow(solutions.KeepLastTurns):
    """Sends what was refused once more."""

    def fit(self, messages: Messages, overflow: Any) -> Any:
        return super().fit(messages, None)


class NeverGivesUp(solutions.KeepLastTurns):
    """Sends the current turn again and again."""

    def fit(self, messages: Messages, overflow: Any) -> Any:
        try:
            return super().fit(messages, overflow)
        except Exception:
            return super().fit(messages, None)


class Silent(solutions.KeepLastTurns):
    """Leaves out without a word."""

    def fit(self, messages: Messages, overflow: Any) -> Any:
        return super().fit(messages, overflow)[0], None


class AlwaysReports(LastMessages):
    """Reports also that nothing was left out."""

    def fit(self, messages: Messages, overflow: Any) -> Any:
        view, report = solutions.KeepLastTurns.fit(self, messages, overflow)
        return (view, report) if report else self.told(messages, [], overflow)


class WrongReason(solutions.KeepLastTurns):
    """Every compaction is for the budget."""

    def fit(self, messages: Messages, overflow: Any) -> Any:
        view, report = super().fit(messages, overflow)
        return view, report and {**report, "reason": "budget"}


class CountsWhatIsLeft(solutions.KeepLastTurns):
    """Indexes of what stays, under the name of what goes."""

    def fit(self, messages: Messages, overflow: Any) -> Any:
        view, report = super().fit(messages, overflow)
        if report:
            gone = report["dropped"]
            kept = [n for n in range(len(messages)) if n not in gone]
            report = {**report, "dropped": kept}
        return view, report


class OneTurnMore(solutions.KeepLastTurns):
    """Off by one."""

    def __init__(self, turns: int) -> None:
        super().__init__(turns + 1)


class Edits(solutions.KeepLastTurns):
    """Takes the messages away for good."""

    def fit(self, messages: Messages, overflow: Any) -> Any:
        view, report = super().fit(messages, overflow)
        if report and isinstance(messages, list):
            messages[:] = view
        return view, report


WRONG_POLICIES: dict[type[solutions.KeepLastTurns], str] = {
    LastMessages: "of 'system|of 'user|of 'assistant",
    ForgetsTheRules: "of 'system .*: 'system",
    IgnoresOverflow: "the overflow to be raised|keeping 1",
    NeverGivesUp: "the overflow to be raised, as no less than was sent can be sent",
    Silent: "a report of what is left out",
    AlwaysReports: "no report, as nothing is left out",
    WrongReason: "reason 'overflow'",
    CountsWhatIsLeft: "dropped \\[",
    OneTurnMore: "keeping",
    Edits: "the messages to be left as they are",
}


@pytest.mark.parametrize("wrong", WRONG_POLICIES)
def test_wrong_policies_are_told_why(wrong: type[solutions.KeepLastTurns]) -> None:
    with pytest.raises(AssertionError, match=WRONG_POLICIES[wrong]):
        grade_keep_last_turns(wrong)


# C


def changed(name: str, policy: str, prediction: str) -> Mapping[str, Mapping[str, str]]:
    assert solutions.WHAT_BECOMES is not None
    table = {key: dict(row) for key, row in solutions.WHAT_BECOMES.items()}
    assert table[name][policy] != prediction
    table[name][policy] = prediction
    return table


WRONG_TABLES: dict[str, tuple[Any, str]] = {
    "the system prompt is dropped": (
        changed("system prompt", "drop-turns", "goes"),
        "'system prompt' under drop-turns: you predict 'goes', it 'stays'",
    ),
    "the current input is summarised": (
        changed("current input", "summarise", "goes"),
        "you predict 'goes', it 'stays'",
    ),
    "the current turn is dropped": (
        changed("output of the current turn", "drop-turns", "goes"),
        "you predict 'goes', it 'stays'",
    ),
    "summaries spare the current turn": (
        changed("output of the current turn", "summarise", "stays"),
        "you predict 'stays', it 'goes'",
    ),
    "a call without its result": (
        changed("call of the second turn", "drop-turns", "stays"),
        "you predict 'stays', it 'goes'",
    ),
    "everything is cut": (
        changed("latest output", "truncate-output", "cut"),
        "you predict 'cut', it 'stays'",
    ),
    "old output is dropped by cutting": (
        changed("its output", "truncate-output", "goes"),
        "you predict 'goes', it 'cut'",
    ),
    "another word": (
        changed("first input", "summarise", "summarised"),
        "you predict 'summarised', it 'goes'",
    ),
    "a row left out": ({"first input": {}}, "no row for 'system prompt', "),
    "a column left out": ({name: {} for name in MESSAGES}, "the columns drop-turns"),
}


@pytest.mark.parametrize("name", WRONG_TABLES)
def test_wrong_tables_are_told_why(name: str) -> None:
    wrong, message = WRONG_TABLES[name]
    with pytest.raises(AssertionError, match=message):
        grade_what_becomes(wrong)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_was_given_a_reason_to_take_all_it_may(policy: str) -> None:
    words = observe_policy(policy)
    assert {"goes", "cut"} & {*words.values()}
    assert words["current input"] == words["system prompt"] == "stays"


# D

Rebuild = Callable[[Events, Messages], Any]


def without_history(events: Events, before: Messages) -> Any:
    return solutions.requests_of(events, [])


def ignores_compaction(events: Events, before: Messages) -> Any:
    return solutions.requests_of([e for e in events if e.type != "context.compact"], before)


def keeps_failed_answers(events: Events, before: Messages) -> Any:
    renamed = [
        replace(e, payload={**e.payload, "status": "completed"})
        if e.type == "model.response"
        else e
        for e in events
    ]
    return solutions.requests_of(renamed, before)


def output_only(events: Events, before: Messages) -> Any:
    """The model reads the output, not the result."""
    requests = solutions.requests_of(events, before)
    return [
        [replace(m, content="...") if m.role == "tool" else m for m in request]
        for request in requests
    ]


def with_call_id(events: Events, before: Messages) -> Any:
    """The payload as it is."""
    requests = solutions.requests_of(events, before)
    return [
        [
            replace(m, content=f'{{"call_id":"{m.call_id}",{m.content[1:]}')
            if m.role == "tool"
            else m
            for m in request
        ]
        for request in requests
    ]


def forgets_calls(events: Events, before: Messages) -> Any:
    requests = solutions.requests_of(events, before)
    return [[replace(m, tool_calls=()) for m in request] for request in requests]


def drops_for_good(events: Events, before: Messages) -> Any:
    """A compaction changes the messages of all later requests."""
    messages, requests = list(before), []
    for event in events:
        if event.type == "context.compact":
            if event.payload["message_count_before"] == len(messages):
                messages = rebuild(messages, event.payload)
        elif event.type == "model.request":
            requests.append(list(messages))
        else:
            messages += solutions.requests_of([event, *_request()], [])[0]
    return requests


@cache
def _request() -> Events:
    with contextlib.redirect_stdout(io.StringIO()):
        events = main().recorder.events
    return [next(event for event in events if event.type == "model.request")]


def summary_first(events: Events, before: Messages) -> Any:
    """A summary stands before everything."""
    requests = solutions.requests_of(events, before)
    return [
        sorted(request, key=lambda m: not m.content.startswith("Summary of"))
        for request in requests
    ]


def retries_are_whole(events: Events, before: Messages) -> Any:
    """An attempt that repeats another shows everything."""
    plain = [
        replace(e, payload={k: v for k, v in e.payload.items() if k != "retry_of"}) for e in events
    ]
    return solutions.requests_of(plain, before)


def one_too_few(events: Events, before: Messages) -> Any:
    return solutions.requests_of(events, before)[:-1]


WRONG_REBUILDS: dict[Rebuild, str] = {
    without_history: "message 0 of request|to show",
    ignores_compaction: "message \\d+ of request|to show",
    keeps_failed_answers: "message \\d+ of request|to show",
    output_only: "message \\d+ of request",
    with_call_id: "message \\d+ of request",
    forgets_calls: "message \\d+ of request",
    drops_for_good: "message \\d+ of request|to show",
    summary_first: "message 0 of request",
    retries_are_whole: "message \\d+ of request|to show",
    one_too_few: "\\d+ requests \\(in the run number",
}


@pytest.mark.parametrize("wrong", WRONG_REBUILDS, ids=lambda wrong: wrong.__name__)
def test_wrong_rebuilds_are_told_why(wrong: Rebuild) -> None:
    with pytest.raises(AssertionError) as failure:
        grade_requests_of(wrong)
    assert re.search(WRONG_REBUILDS[wrong], str(failure.value))
