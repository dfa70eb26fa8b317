"""How a turn ends is on record word for word: its status, its error, what became of each call."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from curriculum.core.loop import AgentConfig, AgentRunner
from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import RunningCall
from curriculum.core.trace import Recorder
from tests.core.parts import (
    Probe,
    SpyJournal,
    asks,
    call,
    ends_well,
    events_of,
    payloads,
    runner_of,
)

DONE = ModelTurn("done")


def test_a_session_starts_under_its_number_and_names_its_harness() -> None:
    runner = AgentRunner(
        ScriptedModel([DONE]),
        config=AgentConfig(harness="mine 1.0 beta"),
        recorder=Recorder.golden(),
    )
    (start,) = payloads(ends_well(runner.run("go")), "session.start")
    assert start["session_id"] == "session-1"
    assert start["harness"] == {"name": "mine", "version": "1.0 beta"}


def test_parts_in_the_wrong_order_are_told_the_right_one() -> None:
    with pytest.raises(TypeError) as fault:
        AgentRunner(ScriptedModel([DONE]), AgentConfig())  # type: ignore[arg-type]
    assert str(fault.value) == (
        "AgentRunner takes a model, a ToolBox, an AgentConfig, in this order"
    )


def test_events_are_numbered_as_events() -> None:
    result = ends_well(runner_of([DONE]).run("go"))
    ids = [event.event_id for event in result.events]
    assert ids == [f"event-{number}" for number in range(1, len(ids) + 1)]


def test_a_session_with_a_history_says_whose_it_is_and_else_its_own() -> None:
    history = [Message("user", "before"), Message("assistant", "so")]
    for given, said in (("", "session-1"), ("session-of-old", "session-of-old")):
        runner = AgentRunner(ScriptedModel([DONE]), history=history, recorder=Recorder.golden())
        runner.start(resumed_from=given) if given else runner.start()
        (start,) = payloads(runner.run("go"), "session.start")
        assert start["resumed_from"] == {"session_id": said, "roles": ["user", "assistant"]}


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ([DONE], "completed"),
        ([ValueError("broken on purpose")], "failed"),
        ([KeyboardInterrupt()], "cancelled"),
    ],
)
def test_the_last_record_of_a_turn_says_how_it_ended(
    script: list[ModelTurn | BaseException], status: str
) -> None:
    journal = SpyJournal()
    runner = runner_of([], journal=journal)
    runner.model = Raises(script[0])  # type: ignore[assignment]
    ends_well(runner.run("go"))
    assert journal.records[-1].kind == "turn_end"
    assert journal.records[-1].data == {"status": status}


class Raises:
    """A model that gives one answer, or raises it."""

    def __init__(self, answer: ModelTurn | BaseException) -> None:
        self._answer = answer

    def respond(self, messages: object, tools: object) -> ModelTurn:
        if isinstance(self._answer, BaseException):
            raise self._answer
        return self._answer


def test_ctrl_c_is_told_as_what_it_is() -> None:
    runner = runner_of([])
    runner.model = Raises(KeyboardInterrupt())  # type: ignore[assignment]
    (error,) = payloads(ends_well(runner.run("go")), "error")
    assert error["message"] == "interrupted from the keyboard"
    assert error["kind"] == "cancelled"


def fail(_: RunningCall) -> None:
    raise ValueError("broken on purpose")


def interrupt(_: RunningCall) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("act", "why"),
    [(fail, "ValueError: broken on purpose"), (interrupt, "interrupted from the keyboard")],
)
def test_each_open_call_is_closed_with_the_reason_and_what_may_have_happened(
    act: Callable[[RunningCall], None], why: str
) -> None:
    script = [asks(call(0), call(1)), DONE]
    result = ends_well(runner_of(script, Probe(act=act)).run("go"))
    assert payloads(result, "tool.result") == [
        {
            "call_id": "call-0",
            "status": "unknown",
            "output": f"{why}; the call may have taken effect",
        },
        {"call_id": "call-1", "status": "not_executed", "output": f"{why}; nothing ran"},
    ]
    agent = {"kind": "harness", "id": "agent"}
    assert [event.actor for event in events_of(result, "tool.result")] == [agent, agent]


def test_the_result_of_a_call_that_ran_is_told_by_its_tool() -> None:
    result = ends_well(runner_of([asks(call(0, "hammer")), DONE], Probe("hammer")).run("go"))
    (event,) = events_of(result, "tool.result")
    assert event.actor == {"kind": "tool", "id": "hammer"}


def test_a_call_of_no_tool_is_told_which_there_are() -> None:
    for tools, known in (((), "none"), ((Probe("saw"), Probe("hammer")), "saw, hammer")):
        result = ends_well(runner_of([asks(call(0, "axe")), DONE], *tools).run("go"))
        output = payloads(result, "tool.result")[0]["output"]
        assert output == f"no tool is named 'axe'; tools: {known}"


def test_the_model_is_told_of_each_tool() -> None:
    class Told(ScriptedModel):
        def respond(self, messages: object, tools: object) -> ModelTurn:
            return ModelTurn(repr(tools))

    runner = runner_of([], Probe("saw"))
    runner.model = Told([])
    assert runner.run("go").final_text == repr(
        [{"name": "saw", "description": "A test tool.", "parameters": {"type": "object"}}]
    )
