"""The grader of s01 C is graded: each wrong transition table is told why, with a path."""

from __future__ import annotations

import pytest

from curriculum.grading.s01 import (
    grade_cancellation,
)
from curriculum.grading.transition_table import Row, check_table
from curriculum.lessons.s01_agent_loop import solutions


def table(change: dict[tuple[str, str], Row | None] | None = None, *more: Row) -> list[Row]:
    """The reference with some rows replaced (None: left out) and more rows at the end."""
    assert solutions.CANCELLATION is not None
    change = change or {}
    assert change.keys() <= {(row[0], row[1]) for row in solutions.CANCELLATION}
    rows = [change.get((row[0], row[1]), row) for row in solutions.CANCELLATION]
    return [*(row for row in rows if row is not None), *more]


def with_row(state: str, event: str, target: str, *records: str) -> list[Row]:
    return table({(state, event): (state, event, target, records)})


STOP = ("error", "session.stop cancelled")
WRONG_TABLES: dict[str, tuple[object, str]] = {
    "a case forgotten": (
        table({("acting", "cancel by policy"): None}),
        "not complete: no row for state 'acting' and event 'cancel by policy'; path:"
        " check point -> answer with a call -> check point -> cancel by policy",
    ),
    "a second cancel forgotten": (
        table({("asking, cancelled", "cancel by user"): None}),
        "not complete: no row for state 'asking, cancelled' and event 'cancel by user'; path:"
        " check point -> cancel by user -> cancel by user",
    ),
    "both cancels forgotten": (
        table({("acting", "cancel by user"): None, ("acting", "cancel by policy"): None}),
        "event 'cancel by user'; path: [^;]*\n.*event 'cancel by policy'",
    ),
    "empty": ([], "the table is empty; begin with the rows of the state 'ready'"),
    "two rows for one case": (
        table({}, ("acting", "tool ends", "ready", ("tool.result completed",))),
        "not deterministic: two rows for state 'acting' and event 'tool ends'",
    ),
    "a way out of the stop": (
        table({}, ("stopped", "check point", "ready", ())),
        "a way out of the stop 'stopped'",
    ),
    "a tool without a result": (
        with_row("acting, cancelled", "tool overdue", "stopped", *STOP),
        "the run stops while a tool in flight has no result; path: .* -> tool overdue",
    ),
    "two results": (
        with_row(
            "acting, cancelled",
            "tool ends",
            "stopped",
            "tool.result completed",
            "tool.result unknown",
            *STOP,
        ),
        "a call gets a second result",
    ),
    "a started tool called not executed": (
        with_row("acting, cancelled", "tool overdue", "stopped", "tool.result not_executed", *STOP),
        "a tool that has started is reported as not_executed",
    ),
    "a killed tool called completed": (
        with_row("acting, cancelled", "tool overdue", "stopped", "tool.result completed", *STOP),
        "reported as completed before it has ended",
    ),
    "the cancel is not in the trace": (
        with_row("ready", "cancel by user", "ready, cancelled"),
        "without cancel.request in the trace before session.stop; path: cancel by user",
    ),
    "the cancel names the wrong one": (
        with_row("asking", "cancel by policy", "asking, cancelled", "cancel.request user"),
        "cancel.request names user, but policy asked first",
    ),
    "the cancel is recorded twice": (
        with_row("acting, cancelled", "cancel by user", "acting, cancelled", "cancel.request user"),
        "cancel.request is recorded twice",
    ),
    "nothing checks an endless stream": (
        with_row("asking, cancelled", "chunk", "asking, cancelled", "model.delta"),
        "can go on for ever in 'asking, cancelled': nothing checks for it; path: .* -> chunk",
    ),
    "an overdue tool is waited for": (
        with_row("acting, cancelled", "tool overdue", "acting, cancelled"),
        "the tool is over, but its call has no tool.result",
    ),
    "the loop goes on after a cancel": (
        with_row("ready, cancelled", "check point", "asking", "model.request"),
        "a model request is made although a cancel was asked for",
    ),
    "a tool is started after a cancel": (
        with_row("called, cancelled", "check point", "acting", "tool.start"),
        "a tool is started although a cancel was asked for",
    ),
    "a request is left open": (
        with_row("asking, cancelled", "answer", "stopped", *STOP),
        "the answer has arrived, but no model.response|while a model request has no response",
    ),
    "no error before the stop": (
        with_row("ready, cancelled", "check point", "stopped", "session.stop cancelled"),
        "a cancelled run needs one error before session.stop",
    ),
    "a cancel that nobody asked for": (
        with_row("ready", "check point", "stopped", "cancel.request user", *STOP),
        "although nobody asked",
    ),
    "a state never reached": (
        table({}, ("paused", "check point", "ready", ())),
        "no path from 'ready' leads to the state 'paused'",
    ),
    "a call that no answer asked for": (
        with_row("called", "check point", "called", "tool.call"),
        "a tool.call is recorded that no answer asked for",
    ),
    "a word of its own": (
        with_row("ready", "check point", "asking", "model.ask"),
        "'model.ask' is none of",
    ),
    "stops when told to work": (
        with_row("ready", "check point", "stopped", "session.stop completed"),
        "completed without a final answer",
    ),
    "a call left open": (
        with_row("called, cancelled", "check point", "stopped", *STOP),
        "the run stops while a call has no result",
    ),
    "stops in the middle of an answer": (
        with_row("asking", "cancel by user", "stopped", "cancel.request user", *STOP),
        "the run stops while a model request has no response",
    ),
    "the call is not recorded": (
        with_row("asking", "answer with a call", "called", "model.response completed"),
        "an answer that asks for a tool has to record tool.call",
    ),
    "the answer is not recorded": (
        with_row("asking, cancelled", "answer", "ready, cancelled"),
        "the answer has arrived, but no model.response closes its request",
    ),
    "waits at a check point": (
        with_row("ready", "check point", "ready"),
        "a check point without a cancel has to go on with the work",
    ),
    "waits at a check point after a cancel": (
        with_row("ready, cancelled", "check point", "ready, cancelled"),
        "the state 'ready, cancelled' never reaches a stop; path: cancel by",
    ),
    "asks twice": (
        with_row("asking", "chunk", "asking", "model.request"),
        "a second model request is made while one is open",
    ),
    "asks before the result": (
        with_row("called", "check point", "asking", "model.request"),
        "a model request is made while a call has no result",
    ),
    "a delta too late": (
        with_row("acting", "tool ends", "ready", "tool.result completed", "model.delta"),
        "a model.delta stands outside a request",
    ),
    "a response to nothing": (
        with_row("called", "check point", "acting", "model.response completed", "tool.start"),
        "a model.response answers no open request",
    ),
    "a piece taken for the answer": (
        with_row("asking", "chunk", "ready", "model.response completed"),
        "a response is completed before its answer is in",
    ),
    "an answer cancelled by nobody": (
        with_row(
            "asking", "answer", "stopped", "model.response cancelled", "session.stop completed"
        ),
        "a response is cancelled by nobody",
    ),
    "the call before its answer": (
        with_row("asking", "answer with a call", "called", "tool.call", "model.response completed"),
        "a tool.call is recorded before the model.response it belongs to",
    ),
    "one call recorded twice": (
        with_row(
            "asking",
            "answer with a call",
            "called",
            "model.response completed",
            "tool.call",
            "tool.call",
        ),
        "the same call is recorded twice",
    ),
    "a start without a call": (
        with_row("acting", "tool ends", "ready", "tool.result completed", "tool.start"),
        "a tool is started that has no open call",
    ),
    "started twice": (
        with_row("called", "check point", "acting", "tool.start", "tool.start"),
        "the same call is started twice",
    ),
    "two errors": (
        with_row("ready, cancelled", "check point", "stopped", "error", *STOP),
        "more than one error is recorded",
    ),
    "an error for nothing": (
        with_row("asking", "chunk", "asking", "model.delta", "error"),
        "an error is recorded although nothing went wrong",
    ),
    "a stop cancelled by nobody": (
        with_row(
            "asking", "answer", "stopped", "model.response completed", "session.stop cancelled"
        ),
        "the run stops as cancelled, but nobody asked",
    ),
    "completed with an error": (
        with_row(
            "asking, cancelled",
            "answer",
            "stopped",
            "model.response completed",
            "error",
            "session.stop completed",
        ),
        "although a cancel was asked for",
    ),
    "cancelled, and then completed": (
        with_row(
            *("asking, cancelled", "answer", "stopped"),
            *("model.response completed", "session.stop completed"),
        ),
        "the run stops as completed although a cancel was asked for; path: .* -> answer",
    ),
    "two deltas for one piece": (
        with_row("asking", "chunk", "asking", "model.delta", "model.delta"),
        "more than one model.delta is recorded for one piece; path: check point -> chunk",
    ),
    "no delta for a piece": (
        with_row("asking", "chunk", "asking"),
        "a piece has arrived, but no model.delta shows it; path: check point -> chunk",
    ),
    "a delta for no piece": (
        with_row("ready", "check point", "asking", "model.request", "model.delta"),
        "a model.delta shows a piece that has not arrived",
    ),
    "a word after the last": (
        with_row("ready, cancelled", "check point", "stopped", *STOP, "model.delta"),
        "'model.delta' is recorded after session.stop",
    ),
    "completed without a start": (
        with_row("called, cancelled", "check point", "stopped", "tool.result completed", *STOP),
        "a tool that never started is reported as completed",
    ),
    "given up too early": (
        with_row("acting, cancelled", "tool ends", "stopped", "tool.result unknown", *STOP),
        "a tool is given up as unknown before it is overdue",
    ),
    "no beginning": (
        [row for row in table() if row[0] != "ready"],
        "no row for the state that every run begins in, 'ready'",
    ),
    "an event of its own": (
        table({}, ("ready", "SIGINT", "stopped", STOP)),
        "'SIGINT' is none of the events",
    ),
    "a comma forgotten": (
        [("ready", "check point", "asking", "model.request")],
        "row 1: the records are 'model.request', not a tuple of words",
    ),
    "not a table": ("cancelled", "a table is a list of rows"),
    "a row too short": ([("ready", "chunk", "asking")], "row 1 is"),
}


@pytest.mark.parametrize("name", WRONG_TABLES)
def test_a_wrong_table_is_told_why(name: str) -> None:
    wrong, message = WRONG_TABLES[name]
    with pytest.raises(AssertionError, match=message):
        grade_cancellation(wrong)  # type: ignore[arg-type]


def test_each_row_of_the_reference_is_needed() -> None:
    assert solutions.CANCELLATION is not None
    for row in solutions.CANCELLATION:
        assert check_table(table({(row[0], row[1]): None})), row
