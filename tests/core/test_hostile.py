"""Parts that lie, break or cannot even be described: the run still ends as every run does."""

from __future__ import annotations

from typing import Literal

import pytest

from curriculum.core.approval import ApprovalRequest, Decision
from curriculum.core.errors import CancelledError, ModelError, RunError
from curriculum.core.journal import Record
from curriculum.core.messages import ModelTurn, ToolCall, Usage
from curriculum.core.model import Retry
from curriculum.core.seams import CancelToken
from curriculum.core.tools import Prepared, RunningCall, ToolResult
from curriculum.core.trace import Event, Recorder
from tests.core.parts import Probe, SpyJournal, asks, call, ends_well, payloads, runner_of

SCRIPT = [asks(call(0)), ModelTurn("done")]


class EvilError(Exception):
    def __str__(self) -> str:
        raise self


class ForgetfulError(ModelError):
    def __init__(self) -> None:
        pass


class Unshowable:
    def __repr__(self) -> str:
        raise EvilError


@pytest.mark.parametrize("fault", [EvilError(), ForgetfulError(), RecursionError()])
def test_a_fault_that_cannot_describe_itself_is_recorded_all_the_same(fault: Exception) -> None:
    def act(_: RunningCall) -> object:
        raise fault

    class Broken(Probe):
        def prepare(self, arguments: str) -> Prepared:
            raise fault

    class Fails:
        def decide(self, request: ApprovalRequest) -> Decision:
            raise fault

        def append(self, record: Record) -> None:
            raise fault

    for runner in (
        runner_of([fault]),
        runner_of(SCRIPT, Probe(act=act)),
        runner_of(SCRIPT, Broken()),
        runner_of(SCRIPT, Probe(), granted=False, approver=Fails()),
        runner_of(SCRIPT, Probe(), journal=Fails()),
        runner_of(SCRIPT, Probe(act=lambda _: Unshowable())),
    ):
        assert ends_well(runner.run("go")).stop_reason == "failed"


def test_a_sink_that_cannot_describe_its_fault_ends_the_run() -> None:
    def sink(event: Event) -> None:
        raise EvilError

    result = runner_of(SCRIPT, Probe(), recorder=Recorder.golden(sink)).run("go")
    assert "EvilError, which cannot be described" in str(result.error)


@pytest.mark.parametrize("fault", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("at", range(6))
def test_a_journal_that_is_interrupted_is_not_asked_again(
    fault: type[BaseException], at: int
) -> None:
    class Interrupted(SpyJournal):
        def append(self, record: Record) -> int:
            if len(self.records) == at:
                raise fault
            return super().append(record)

    journal = Interrupted()
    runner = runner_of(SCRIPT, Probe(), journal=journal)
    try:
        runner.run("go")
    except SystemExit:
        assert fault is SystemExit
    events = runner.recorder.events
    assert [event.type for event in events[-2:]] == ["error", "session.stop"]
    assert len(journal.records) == at


@pytest.mark.parametrize(
    "turn",
    [
        ModelTurn("x", usage=Usage(2**60, 0)),
        ModelTurn("x", usage=Usage(True, 0)),
        ModelTurn("x", usage={"input_tokens": 1}),  # type: ignore[arg-type]
        asks(*[call(number) for number in range(513)]),
    ],
)
def test_an_answer_that_no_trace_could_hold_breaks_the_protocol(turn: ModelTurn) -> None:
    result = ends_well(runner_of([turn], Probe(), max_tool_calls=1000).run("go"))
    assert payloads(result, "error")[0]["kind"] == "protocol"


@pytest.mark.parametrize("usage", [Usage(0, 0), Usage(2**53 - 1, 2**53 - 1)])
def test_an_answer_may_have_used_nothing_or_all_that_can_be_counted(usage: Usage) -> None:
    result = ends_well(runner_of([ModelTurn("x", usage=usage)]).run("go"))
    assert payloads(result, "model.response")[0]["usage"] == {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
    }


def test_the_largest_answer_fits_in_its_line() -> None:
    calls = [ToolCall(f"{number:0256}", "probe" * 100, "x" * 4000) for number in range(512)]
    result = ends_well(runner_of([asks(*calls)], Probe()).run("go"))
    assert result.stop_reason == "max-tool-calls"


@pytest.mark.parametrize("retry", [Retry(5, 1), Retry("x", -1), Retry("x", True)])  # type: ignore[arg-type]
def test_a_retry_that_says_nothing_breaks_the_protocol(retry: Retry) -> None:
    class Retries:
        def stream(self, messages: object, tools: object) -> object:
            yield retry
            yield ModelTurn("x")

    runner = runner_of([])
    runner.model = Retries()  # type: ignore[assignment]
    assert payloads(ends_well(runner.run("go")), "error")[0]["kind"] == "protocol"


def test_what_a_display_holds_is_told_to_whoever_wrote_the_tool() -> None:
    class Nested(Probe):
        def prepare(self, arguments: str) -> Prepared:
            return Prepared({"n": {"m": [1]}}, 1)

    error = payloads(ends_well(runner_of(SCRIPT, Nested()).run("go")), "error")[0]
    assert "a display holds scalars and flat mappings of them, not {'m': [1]}" in error["message"]


@pytest.mark.parametrize(
    "outcome",
    [
        ToolResult("completed", 5),  # type: ignore[arg-type]
        ToolResult("completed", exit_code=True),
        ToolResult("completed", exit_code=2**60),
        ToolResult("failed", reason="Time Out"),
        ToolResult("failed", reason="timeOut"),
        ToolResult("failed", reason="time_out"),
        ToolResult("failed", reason=""),
        ToolResult("failed", reason="x" * 65),
        ToolResult("failed", notes=(5,)),  # type: ignore[arg-type]
    ],
)
def test_a_result_with_fields_of_the_wrong_types_is_a_bug_of_its_tool(outcome: ToolResult) -> None:
    result = ends_well(runner_of(SCRIPT, Probe(act=lambda _: outcome)).run("go"))
    assert payloads(result, "error")[0]["kind"] == "tool"


@pytest.mark.parametrize("reason", ["a", "z", "output-limit", "x" * 64])
def test_a_reason_is_a_word_of_small_letters_and_hyphens(reason: str) -> None:
    probe = Probe(act=lambda _: ToolResult("failed", reason=reason))
    result = ends_well(runner_of(SCRIPT, probe).run("go"))
    assert payloads(result, "tool.result")[0]["reason"] == reason


@pytest.mark.parametrize(
    "prepared",
    [
        ToolResult("completed"),
        None,
        Prepared({"n": float("nan")}, 1),
        Prepared({"n": object()}, 1),
        Prepared({"n": 2**60}, 1),
        Prepared({"n": ["a"]}, 1),
        Prepared({"n": {"m": {"deep": 1}}}, 1),
    ],
)
def test_what_cannot_be_shown_is_not_run(prepared: object) -> None:
    class Odd(Probe):
        def prepare(self, arguments: str) -> object:  # type: ignore[override]
            return prepared

    probe = Odd()
    result = ends_well(runner_of(SCRIPT, probe).run("go"))
    assert payloads(result, "error")[0]["kind"] == "tool"
    assert probe.ran == []


class Mine(Decision):  # type: ignore[misc]
    is_valid = True


@pytest.mark.parametrize(
    "answer",
    [
        Decision("allow", "user", ""),
        Decision("allow", "user", "x" * 65),
        Decision("perhaps", "user", "x"),  # type: ignore[arg-type]
        Decision("allow", "user", 5),  # type: ignore[arg-type]
        Decision("allow", "user", "x", 5),  # type: ignore[arg-type]
        Mine("allow", "model", "x"),  # type: ignore[arg-type]
    ],
)
def test_a_decision_that_no_trace_could_hold_lets_nothing_run(answer: Decision) -> None:
    class Odd:
        def decide(self, request: ApprovalRequest) -> Decision:
            return answer

    probe = Probe()
    result = runner_of(SCRIPT, probe, granted=False, approver=Odd()).run("go")
    assert payloads(ends_well(result), "error")[0]["kind"] == "approval"
    assert probe.ran == []


@pytest.mark.parametrize("name", ["x", "x" * 64])
def test_who_decides_has_a_name_of_1_to_64_characters(name: str) -> None:
    class Named:
        def decide(self, request: ApprovalRequest) -> Decision:
            return Decision("allow", "user", name)

    result = ends_well(runner_of(SCRIPT, Probe(), granted=False, approver=Named()).run("go"))
    assert result.stop_reason == "completed"


@pytest.mark.parametrize("position", [-1, True, "x", 1.0])
def test_a_position_that_is_none_is_a_journal_fault(position: object) -> None:
    class Odd:
        def append(self, record: Record) -> object:
            return position

    result = ends_well(runner_of(SCRIPT, Probe(), journal=Odd()).run("go"))
    assert payloads(result, "error")[0]["kind"] == "journal"


def test_nobody_cancels_as_the_model() -> None:
    for make in (CancelledError, lambda by: CancelToken().cancel(by)):
        with pytest.raises(ValueError, match="nobody cancels as 'model'"):
            make(by="model") if make is CancelledError else make("model")  # type: ignore[operator]


@pytest.mark.parametrize("by", ["user", "harness", "policy"])
def test_a_cancellation_is_by_the_user_the_harness_or_a_policy(
    by: Literal["user", "harness", "policy"],
) -> None:
    assert CancelledError(by=by).by == by
    token = CancelToken()
    token.cancel(by)
    with pytest.raises(CancelledError) as cancelled:
        token.check()
    assert (cancelled.value.by, cancelled.value.message) == (by, "the run was cancelled")


@pytest.mark.parametrize("text", [b"bytes", None, 5])
def test_an_input_that_is_no_text_is_refused_with_nothing_recorded(text: object) -> None:
    runner = runner_of(SCRIPT, Probe())
    with pytest.raises(TypeError, match="not text"):
        runner.run(text)  # type: ignore[arg-type]
    assert runner.recorder.events == []


def test_a_model_cannot_change_the_definition_of_a_tool() -> None:
    probe = Probe()
    runner = runner_of(SCRIPT, probe)
    runner.tools.descriptors()[0]["parameters"]["type"] = "edited"  # type: ignore[index]
    assert probe.definition.parameters == {"type": "object"}


def test_the_base_of_all_faults_can_be_recorded_too() -> None:
    result = ends_well(runner_of([RunError("plain")]).run("go"))
    assert payloads(result, "error")[0]["kind"] == "internal"
