"""Every fault, wherever it strikes, ends in one recorded error and one recorded stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from curriculum.core.approval import ApprovalRequest, Decision
from curriculum.core.errors import CancelledError, ModelError, TransientModelError
from curriculum.core.loop import AgentConfig, AgentRunner
from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import ScriptedModel
from curriculum.core.seams import CancelToken
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolResult
from curriculum.core.trace import Event, Recorder
from tests.core.parts import (
    Answers,
    Probe,
    asks,
    call,
    ends_well,
    events_of,
    payloads,
    runner_of,
    statuses,
    types,
)


def raises(fault: BaseException) -> Callable[[RunningCall], object]:
    def act(call: RunningCall) -> object:
        raise fault

    return act


class Raising:
    """A model that raises anything, also what is not an Exception."""

    def __init__(self, fault: BaseException) -> None:
        self._fault = fault

    def respond(self, messages: Sequence[Message], tools: object) -> ModelTurn:
        raise self._fault


@pytest.mark.parametrize(
    ("fault", "kind", "retryable"),
    [
        (ModelError("no"), "model", False),
        (TransientModelError("later"), "model", True),
        (RuntimeError("bug"), "model", False),
        (KeyError(), "model", False),
    ],
)
def test_a_model_that_raises_ends_the_run(fault: Exception, kind: str, retryable: bool) -> None:
    result = ends_well(runner_of([fault]).run("go"))
    assert result.stop_reason == "failed"
    error = payloads(result, "error")[0]
    assert (error["kind"], error["retryable"]) == (kind, retryable)
    assert payloads(result, "model.response")[0]["status"] == "failed"
    assert [message.role for message in result.messages] == ["user"]


def test_an_exhausted_script_says_so() -> None:
    result = ends_well(runner_of([asks(call(0))], Probe()).run("go"))
    assert "the script has only 1 turns" in payloads(result, "error")[0]["message"]


@pytest.mark.parametrize("answer", [None, "text", 5, {"content": "x"}, ToolResult("completed")])
def test_a_model_that_returns_no_turn_breaks_the_protocol(answer: object) -> None:
    class Odd:
        def respond(self, messages: object, tools: object) -> object:
            return answer

    runner = runner_of([])
    runner.model = Odd()  # type: ignore[assignment]
    result = ends_well(runner.run("go"))
    assert payloads(result, "error")[0]["kind"] == "protocol"


def test_ctrl_c_in_the_model_cancels_the_run() -> None:
    runner = runner_of([])
    runner.model = Raising(KeyboardInterrupt())
    result = ends_well(runner.run("go"))
    assert result.stop_reason == "cancelled"
    assert payloads(result, "model.response")[0]["status"] == "cancelled"
    assert payloads(result, "cancel.request") == [{"by": "user"}]


def test_ctrl_c_in_a_tool_leaves_its_call_unknown_and_the_next_not_executed() -> None:
    probe = Probe(act=raises(KeyboardInterrupt()))
    result = ends_well(runner_of([asks(call(0), call(1))], probe).run("go"))
    assert result.stop_reason == "cancelled"
    assert statuses(result) == {"call-0": "unknown", "call-1": "not_executed"}
    assert events_of(result, "tool.result")[0].provenance == {"source": "synthesized"}


def test_system_exit_goes_on_but_not_unrecorded() -> None:
    probe = Probe(act=raises(SystemExit(3)))
    runner = runner_of([asks(call(0))], probe)
    with pytest.raises(SystemExit):
        runner.run("go")
    assert [event.type for event in runner.recorder.events[-2:]] == ["error", "session.stop"]
    assert runner.recorder.events[-1].payload["reason"] == "failed"


@pytest.mark.parametrize("bug", [RuntimeError("bug"), ZeroDivisionError(), OSError(5, "eio")])
def test_a_bug_in_a_tool_ends_the_run_with_its_call_unknown(bug: Exception) -> None:
    result = ends_well(runner_of([asks(call(0), call(1))], Probe(act=raises(bug))).run("go"))
    assert payloads(result, "error")[0]["kind"] == "tool"
    assert type(bug).__name__ in payloads(result, "error")[0]["message"]
    assert statuses(result) == {"call-0": "unknown", "call-1": "not_executed"}


@pytest.mark.parametrize("outcome", ["text", 0, ToolResult("denied"), ToolResult("not_executed")])
def test_a_tool_that_returns_no_outcome_of_running_is_a_bug(outcome: object) -> None:
    result = ends_well(runner_of([asks(call(0))], Probe(act=lambda _: outcome)).run("go"))
    assert payloads(result, "error")[0]["kind"] == "tool"
    assert statuses(result) == {"call-0": "unknown"}


def test_a_bug_in_prepare_ends_the_run_before_anything_starts() -> None:
    class Broken(Probe):
        def prepare(self, arguments: str) -> Prepared:
            raise RuntimeError("bug")

    result = ends_well(runner_of([asks(call(0))], Broken()).run("go"))
    assert statuses(result) == {"call-0": "not_executed"}
    assert "tool.start" not in types(result)


class Fails:
    def __init__(self, fault: BaseException) -> None:
        self._fault = fault

    def decide(self, request: ApprovalRequest) -> Decision:
        raise self._fault


@pytest.mark.parametrize(
    ("fault", "reason"), [(RuntimeError("bug"), "failed"), (KeyboardInterrupt(), "cancelled")]
)
def test_an_approver_that_fails_lets_nothing_run(fault: BaseException, reason: str) -> None:
    probe = Probe()
    result = runner_of([asks(call(0))], probe, granted=False, approver=Fails(fault)).run("go")
    assert ends_well(result).stop_reason == reason
    assert probe.ran == []
    assert payloads(result, "approval.decision")[0]["decision"] == "cancelled"


@pytest.mark.parametrize(
    "answer",
    [None, True, "allow", Decision("yes", "user", "x"), Decision("allow", "model", "m")],  # type: ignore[arg-type]
)
def test_an_answer_that_is_no_decision_lets_nothing_run(answer: object) -> None:
    class Odd:
        def decide(self, request: ApprovalRequest) -> object:
            return answer

    probe = Probe()
    result = runner_of([asks(call(0))], probe, granted=False, approver=Odd()).run("go")
    assert payloads(ends_well(result), "error")[0]["kind"] == "approval"
    assert probe.ran == []


def test_a_token_cancelled_before_the_run_asks_no_model() -> None:
    cancel = CancelToken()
    cancel.cancel("policy")
    cancel.cancel("user")
    runner = runner_of([ModelTurn("x")], cancel=cancel)
    result = ends_well(runner.run("go"))
    assert (result.stop_reason, len(runner.model.requests)) == ("cancelled", 0)  # type: ignore[union-attr]
    assert events_of(result, "cancel.request")[0].actor["kind"] == "policy"


def test_a_tool_in_flight_finishes_and_then_the_cancellation_counts() -> None:
    probe = Probe(act=lambda running: running.cancel.cancel("user"))
    result = ends_well(runner_of([asks(call(0), call(1))], probe).run("go"))
    assert statuses(result) == {"call-0": "completed", "call-1": "not_executed"}
    assert result.stop_reason == "cancelled"


def test_a_stream_is_cancelled_between_two_pieces() -> None:
    cancel = CancelToken()

    class Stream:
        def stream(self, messages: object, tools: object) -> Iterator[str | ModelTurn]:
            yield "one "
            cancel.cancel()
            yield "two"
            yield ModelTurn("one two")

    runner = runner_of([], cancel=cancel)
    runner.model = Stream()
    result = ends_well(runner.run("go"))
    response = payloads(result, "model.response")[0]
    assert (response["status"], response["content"]) == ("cancelled", "one ")
    assert [message.role for message in result.messages] == ["user"]


def test_a_refused_question_cancels_and_closes_the_calls() -> None:
    result = runner_of(
        [asks(call(0), call(1))], Probe(), granted=False, approver=Answers("cancelled")
    ).run("go")
    assert ends_well(result).stop_reason == "cancelled"
    assert set(statuses(result).values()) == {"not_executed"}


@pytest.mark.parametrize("fail_at", range(9))
def test_a_trace_sink_that_fails_ends_the_run_and_loses_no_event(fail_at: int) -> None:
    seen: list[Event] = []

    def sink(event: Event) -> None:
        if len(seen) == fail_at:
            raise OSError(28, "No space left on device")
        seen.append(event)

    script = [asks(call(0)), ModelTurn("done")]
    result = runner_of(script, Probe(), recorder=Recorder.golden(sink)).run("go")
    assert result.error is not None
    assert result.error.kind == "trace"
    assert "No space left" in result.error.message
    assert result.stop_reason == "failed"
    assert list(result.events[:fail_at]) == seen
    assert [event.sequence for event in result.events] == list(range(len(result.events)))


def test_an_error_of_an_earlier_turn_does_not_end_the_conversation() -> None:
    runner = runner_of([ModelError("flaky"), ModelTurn("done")])
    assert runner.turn("one").stop_reason == "failed"
    result = runner.run("two")
    assert result.stop_reason == "completed"
    assert types(result).count("error") == 1


def test_the_caller_finds_the_traceback_of_a_bug() -> None:
    bug = ZeroDivisionError("x")
    for script, probe in (([bug], Probe()), ([asks(call(0))], Probe(act=raises(bug)))):
        result = runner_of(script, probe).run("go")
        assert result.error is not None
        assert result.error.__cause__ is bug


def test_parts_in_the_wrong_place_are_refused_at_once() -> None:
    with pytest.raises(TypeError, match="in this order"):
        AgentRunner(ScriptedModel([]), AgentConfig())  # type: ignore[arg-type]
    probe = Probe()
    probe.definition = {"name": "probe"}  # type: ignore[assignment]
    with pytest.raises(TypeError, match="no ToolDefinition"):
        ToolBox([probe])


def test_the_caller_is_told_who_cancelled() -> None:
    result = ends_well(runner_of([CancelledError("deadline", by="policy")]).run("go"))
    assert isinstance(result.error, CancelledError)
    assert result.error.by == "policy"


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two tools are named 'probe'"):
        ToolBox([Probe(), Probe()])
    with pytest.raises(ValueError, match="granted names no tool"):
        ToolBox([Probe()], granted=["bash"])
    assert ScriptedModel([]).requests == []
