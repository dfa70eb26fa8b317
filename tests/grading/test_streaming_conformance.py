"""The streaming kit checks the rules of deltas on the trace, and its own use."""

from __future__ import annotations

import pytest

from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn
from curriculum.core.model import ScriptedModel
from curriculum.core.trace import Event
from curriculum.core.values import replace
from curriculum.grading.stream_under_test import Source, Wrapped
from curriculum.grading.streaming_conformance import check_deltas, check_stream


def test_a_check_that_is_lacking_must_exist() -> None:
    under_test = Wrapped(lambda model: Source(()))
    under_test.lacks = {"telepathy": "not built in"}
    with pytest.raises(ValueError, match="telepathy"):
        check_stream(under_test)


def run_with_deltas() -> list[Event]:
    model = ScriptedModel([ModelTurn(chunks=("a ", "b ", "c"))])
    return list(AgentRunner(model).run("go").events)


def edited(events: list[Event], number: int, **payload: object) -> list[Event]:
    event = events[number]
    return [
        *events[:number],
        replace(event, payload={**event.payload, **payload}),
        *events[number + 1 :],
    ]


def test_the_rules_of_deltas_are_checked_on_the_trace() -> None:
    events = run_with_deltas()
    first = [event.type for event in events].index("model.delta")
    check_deltas(events)
    with pytest.raises(AssertionError, match="delta indexes without a gap"):
        check_deltas(edited(events, first + 1, index=2))
    with pytest.raises(AssertionError, match="deltas that add up to the response"):
        check_deltas(edited(events, first + 1, text="B "))
    with pytest.raises(AssertionError, match="deltas between request and response"):
        check_deltas(edited(events, first, request_id="request-9"))
    late = [*events[: first + 2], events[first + 3], events[first + 2], *events[first + 4 :]]
    with pytest.raises(AssertionError, match="deltas"):
        check_deltas(late)
