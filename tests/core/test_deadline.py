"""Deadlines of a run, a request, a tool call and child work, by a clock that tests move."""

from __future__ import annotations

import time as real_time
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.core.deadline import DeadlineToken, RequestDeadline, ToolDeadline
from curriculum.core.errors import CancelledError, TransientModelError
from curriculum.core.loop import AgentRunner, RunResult
from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import Retry, ScriptedModel
from curriculum.core.retry import RetryingModel, RetryPolicy
from curriculum.core.seams import CancelToken
from curriculum.core.tools import RunningCall, ToolBox, ToolResult
from curriculum.core.trace import Recorder
from curriculum.core.waiting import VirtualTime
from curriculum.tools.bash import Bash
from tests.core.parts import (
    Probe,
    asks,
    call,
    ends_well,
    payloads,
    runner_of,
    statuses,
    types,
)

SECOND = 1_000_000
DONE = ModelTurn("done")


class Slow:
    """Streams pieces; a number among them lets so many seconds pass first."""

    def __init__(self, time: VirtualTime, *answers: Sequence[object]) -> None:
        self._time, self._answers = time, iter(answers)
        self.tokens: list[CancelToken] = []

    def bind(self, token: CancelToken) -> Slow:
        self.tokens.append(token)
        return self

    def stream(self, messages: object, tools: object) -> Iterator[object]:
        for item in next(self._answers):
            if isinstance(item, (int, float)):
                self._time.pass_us(int(item * SECOND))
            elif item == "look":  # what an adapter does while it waits for a byte
                self.tokens[-1].check()
            elif isinstance(item, Exception):
                raise item
            else:
                yield item


# The token.


def test_a_token_raises_itself_when_its_time_is_up() -> None:
    time = VirtualTime()
    token = DeadlineToken(time, 2 * SECOND)
    time.pass_us(2 * SECOND - 1)
    assert not token.cancelled
    token.check()
    time.pass_us(1)
    assert (token.cancelled, token.by, token.expired) == (True, "policy", True)
    with pytest.raises(CancelledError, match=r"^the run took longer than 2 s$") as stop:
        token.check()
    assert stop.value.by == "policy"


def test_check_alone_notices_that_the_time_is_up() -> None:
    time = VirtualTime()
    token = DeadlineToken(time, 0)
    with pytest.raises(CancelledError, match="took longer"):
        token.check()


def test_who_asked_first_is_who_asked() -> None:
    time = VirtualTime()
    token = DeadlineToken(time, SECOND)
    token.cancel("user")
    time.pass_us(2 * SECOND)
    assert (token.cancelled, token.by, token.expired) == (True, "user", False)
    with pytest.raises(CancelledError, match="cancelled") as stop:
        token.check()
    assert stop.value.by == "user"


def test_a_child_ends_with_its_parent_and_not_the_other_way_round() -> None:
    time = VirtualTime()
    parent = DeadlineToken(time, 10 * SECOND)
    child = DeadlineToken(time, SECOND, parent, "the call")
    time.pass_us(SECOND)
    assert (child.cancelled, parent.cancelled) == (True, False)
    grandchild = DeadlineToken(time, 60 * SECOND, parent, "the call")
    time.pass_us(9 * SECOND)
    assert (grandchild.cancelled, grandchild.by, grandchild.expired) == (True, "policy", False)
    with pytest.raises(CancelledError, match="the run took longer than 10 s"):
        grandchild.check()


def test_a_child_raised_by_hand_raises_its_parent() -> None:
    parent = CancelToken()
    DeadlineToken(VirtualTime(), SECOND, DeadlineToken(VirtualTime(), SECOND, parent)).cancel()
    assert parent.by == "user"


def test_a_child_whose_own_time_is_up_says_so_while_the_parent_runs() -> None:
    time = VirtualTime()
    child = DeadlineToken(time, SECOND, CancelToken(), "the call")
    time.pass_us(SECOND)
    with pytest.raises(CancelledError, match="the call took longer than 1 s"):
        child.check()


def test_a_limit_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^limit_us must be at least 0$"):
        DeadlineToken(VirtualTime(), -1)


# The run.


def stopped_by_deadline(result: RunResult, message: str = "the run took longer than 5 s") -> None:
    ends_well(result)
    assert result.stop_reason == "cancelled"
    assert payloads(result, "cancel.request") == [{"by": "policy"}]
    error = payloads(result, "error")[0]
    assert (error["kind"], error["message"]) == ("cancelled", message)


def run_with(time: VirtualTime, model: object, *tools: Probe, seconds: int = 5) -> RunResult:
    runner = runner_of([], *tools, cancel=DeadlineToken(time, seconds * SECOND))
    runner.model = model  # type: ignore[assignment]
    return runner.run("go")


def test_a_run_whose_time_is_up_before_it_began_asks_nothing() -> None:
    model = ScriptedModel([DONE])
    result = run_with(VirtualTime(), model, seconds=0)
    stopped_by_deadline(result, "the run took longer than 0 s")
    assert model.requests == []


def test_a_run_within_its_time_is_untouched() -> None:
    time = VirtualTime()
    result = ends_well(run_with(time, Slow(time, [1, "a", 1, "b", ModelTurn("ab")])))
    assert result.final_text == "ab"


def test_the_deadline_of_the_run_reaches_the_stream_between_pieces() -> None:
    time = VirtualTime()
    result = run_with(time, Slow(time, ["a", 6, "b", "c", ModelTurn("abc")]))
    stopped_by_deadline(result)
    response = payloads(result, "model.response")[0]
    assert (response["status"], response["content"]) == ("cancelled", "a")
    assert [message.role for message in result.messages] == ["user"]


def test_the_deadline_of_the_run_wakes_a_wait_for_another_attempt() -> None:
    time = VirtualTime()
    token = DeadlineToken(time, 5 * SECOND)
    runner = runner_of([], cancel=token)
    fault = TransientModelError("busy")
    fault.retry_after_seconds = 20
    runner.model = RetryingModel(ScriptedModel([fault, DONE]), time, token)
    started = time.read()[1]
    stopped_by_deadline(runner.run("go"))
    assert time.read()[1] - started == 5 * SECOND


def test_a_tool_that_ignores_the_deadline_finishes_and_then_the_run_ends() -> None:
    time = VirtualTime()
    probe = Probe(act=lambda running: time.pass_us(6 * SECOND))
    model = Slow(time, [asks(call(0), call(1))], [DONE])
    result = run_with(time, model, probe)
    stopped_by_deadline(result)
    assert statuses(result) == {"call-0": "completed", "call-1": "not_executed"}
    assert len(probe.ran) == 1


def test_a_tool_that_looks_is_told_and_its_result_is_kept() -> None:
    time = VirtualTime()

    def act(running: RunningCall) -> ToolResult:
        time.pass_us(6 * SECOND)
        assert running.cancel.cancelled
        return ToolResult("failed", "half of it", reason="cancelled")

    result = run_with(time, Slow(time, [asks(call(0))], [DONE]), Probe(act=act))
    stopped_by_deadline(result)
    assert payloads(result, "tool.result")[0]["output"] == "half of it"
    assert types(result).count("model.request") == 1


def test_bash_is_killed_with_its_group_at_the_deadline_of_the_run(tmp_path: object) -> None:
    time = VirtualTime()

    def now() -> float:
        """Bash looks at the time in each round: let a second of the run pass with it."""
        time.pass_us(SECOND)
        return real_time.monotonic()

    bash = Bash(str(tmp_path), {"PATH": "/usr/bin:/bin"}, now=now)
    model = ScriptedModel([asks(call(0, "bash", '{"command":"echo begun; sleep 300"}')), DONE])
    token = DeadlineToken(time, 60 * SECOND)
    runner = AgentRunner(model, ToolBox([bash], ["bash"]), cancel=token, recorder=Recorder.golden())
    result = runner.run("go")
    stopped_by_deadline(result, "the run took longer than 60 s")
    outcome = payloads(result, "tool.result")[0]
    assert (outcome["status"], outcome["reason"]) == ("failed", "cancelled")


def test_child_work_ends_with_the_run_that_began_it() -> None:
    time, children = VirtualTime(), []

    def delegate(running: RunningCall) -> ToolResult:
        token = DeadlineToken(time, 60 * SECOND, running.cancel, "the child")
        child = runner_of([], cancel=token)
        child.model = Slow(time, ["a", 6, "b", ModelTurn("ab")])  # type: ignore[assignment]
        children.append(ends_well(child.run("a part of it")))
        return ToolResult("failed", str(children[0].error), reason="cancelled")

    result = run_with(time, Slow(time, [asks(call(0))], [DONE]), Probe(act=delegate))
    stopped_by_deadline(result)
    stopped_by_deadline(children[0])


def test_a_child_out_of_time_leaves_the_run_going() -> None:
    time, children = VirtualTime(), []

    def delegate(running: RunningCall) -> ToolResult:
        token = DeadlineToken(time, SECOND, running.cancel, "the child")
        child = runner_of([], cancel=token)
        child.model = Slow(time, ["a", 2, "b", ModelTurn("ab")])  # type: ignore[assignment]
        children.append(ends_well(child.run("a part of it")))
        return ToolResult("failed", str(children[0].error), reason="timeout")

    result = run_with(time, Slow(time, [asks(call(0))], [DONE]), Probe(act=delegate))
    assert ends_well(result).final_text == "done"
    stopped_by_deadline(children[0], "the child took longer than 1 s")


# One request.


def requests_limited(
    time: VirtualTime, model: Slow, attempts: int = 1, run: CancelToken | None = None
) -> RunResult:
    run = run or CancelToken()
    runner = runner_of([], cancel=run)
    timed = RequestDeadline(model.bind, time, 2 * SECOND, run)  # type: ignore[arg-type]
    policy = RetryPolicy(max_attempts=attempts)
    runner.model = RetryingModel(timed, time, run, policy, lambda most: 0)
    return ends_well(runner.run("go"))


def test_a_request_that_takes_too_long_is_a_transient_failure() -> None:
    time = VirtualTime()
    result = requests_limited(time, Slow(time, [3, "late", ModelTurn("late")]))
    error = payloads(result, "error")[0]
    assert error["message"] == "the request took longer than 2 s (given up after attempt 1)"
    assert types(result).count("model.delta") == 0


def test_a_late_request_is_repeated_with_its_full_time() -> None:
    time = VirtualTime()
    model = Slow(time, [3, "late"], [1.5, "ok", ModelTurn("ok")])
    result = requests_limited(time, model, attempts=2)
    assert result.final_text == "ok"
    assert len(set(map(id, model.tokens))) == 2, "each attempt has a token of its own"


def test_a_request_that_was_shown_in_part_is_not_repeated() -> None:
    time = VirtualTime()
    result = requests_limited(time, Slow(time, ["a", 3, "b"], [DONE]), attempts=3)
    assert result.stop_reason == "failed"
    assert types(result).count("model.request") == 1


def test_a_complete_answer_counts_also_when_it_is_late() -> None:
    time = VirtualTime()
    result = requests_limited(time, Slow(time, [3, ModelTurn("late but whole")]))
    assert result.final_text == "late but whole"


def test_an_adapter_that_looks_at_its_token_stops_waiting() -> None:
    time = VirtualTime()
    model = Slow(time, [3, "look", "never"], [DONE])
    result = requests_limited(time, model, attempts=2)
    assert result.final_text == "done"
    cause = payloads(result, "retry.wait")[0]["cause"]
    assert cause == "transient: the request took longer than 2 s"


def test_a_cancelled_run_is_cancelled_and_no_slow_request() -> None:
    time, run = VirtualTime(), CancelToken()

    class Cancels(Slow):
        def stream(self, messages: object, tools: object) -> Iterator[object]:
            run.cancel("user")
            yield from super().stream(messages, tools)

    result = requests_limited(time, Cancels(time, [3, "look", DONE]), attempts=3, run=run)
    assert (result.stop_reason, types(result).count("model.request")) == ("cancelled", 1)
    assert payloads(result, "cancel.request") == [{"by": "user"}]


def test_the_token_of_a_request_is_raised_with_the_run() -> None:
    time, run = VirtualTime(), CancelToken()
    model = Slow(time, [DONE])
    list(RequestDeadline(model.bind, time, SECOND, run).stream([], []))  # type: ignore[arg-type]
    (token,) = model.tokens
    assert not token.cancelled
    run.cancel("harness")
    assert (token.cancelled, token.by) == (True, "harness")


def test_a_model_with_a_deadline_is_asked_what_it_would_be_asked_without() -> None:
    class Told:
        def respond(self, messages: object, tools: object) -> ModelTurn:
            return ModelTurn(f"{messages}, {tools}")

    timed = RequestDeadline(lambda token: Told(), VirtualTime(), SECOND, CancelToken())
    messages, tools = [Message("user", "go")], [{"name": "read"}]
    assert list(timed.stream(messages, tools)) == [ModelTurn(f"{messages}, {tools}")]


def test_the_retries_of_a_model_pass_the_deadline() -> None:
    time = VirtualTime()
    result = requests_limited(time, Slow(time, [Retry("stale", 0), "ok", ModelTurn("ok")]))
    assert [p["cause"] for p in payloads(result, "retry.wait")] == ["stale"]


def test_the_stream_of_a_late_request_is_closed() -> None:
    time, closed = VirtualTime(), []

    class Held(Slow):
        def stream(self, messages: object, tools: object) -> Iterator[object]:
            try:
                yield from super().stream(messages, tools)
            finally:
                closed.append(True)

    model = Held(time, [3, "late", DONE])
    stream = RequestDeadline(model.bind, time, SECOND, CancelToken()).stream([], [])  # type: ignore[arg-type]
    with pytest.raises(TransientModelError, match="longer than 1 s") as caught:
        next(stream)
    assert (closed, caught.tb is not None) == ([True], True), "closed while its frames are kept"


# One tool call.


def tools_limited(act: Callable[[RunningCall], object], time: VirtualTime) -> RunResult:
    probe = Probe(act=act)
    tool = ToolDeadline(probe, time, 2 * SECOND)
    runner = AgentRunner(
        ScriptedModel([asks(call(0), call(1)), DONE]),
        ToolBox([tool], ["probe"]),
        recorder=Recorder.golden(),
    )
    result = ends_well(runner.run("go"))
    assert len(probe.ran) == types(result).count("tool.start")
    return result


def test_a_call_within_its_time_is_untouched() -> None:
    time = VirtualTime()
    result = tools_limited(lambda running: time.pass_us(SECOND), time)
    assert [set(p) for p in payloads(result, "tool.result")] == [
        {"call_id", "status", "output"}
    ] * 2


def test_a_tool_with_a_deadline_shows_what_it_prints() -> None:
    def act(running: RunningCall) -> None:
        running.output("stderr", f"by {running.call_id}")

    shown = payloads(tools_limited(act, VirtualTime()), "tool.output")
    assert [(p["stream"], p["text"]) for p in shown] == [
        ("stderr", "by call-0"),
        ("stderr", "by call-1"),
    ]


def test_a_tool_that_stops_at_its_deadline_has_timed_out_and_the_run_goes_on() -> None:
    time = VirtualTime()

    def act(running: RunningCall) -> ToolResult:
        time.pass_us(3 * SECOND)
        assert running.cancel.cancelled
        return ToolResult("failed", "half", reason="cancelled", notes=("killed",))

    result = tools_limited(act, time)
    first, second = payloads(result, "tool.result")
    assert (first["status"], first["reason"], first["output"]) == ("failed", "timeout", "half")
    assert first["notes"] == ["killed", "the call took longer than 2 s"]
    assert second["reason"] == "timeout", "each call has its own time"
    assert result.final_text == "done"


def test_a_tool_that_raises_at_its_deadline_has_timed_out_too() -> None:
    time = VirtualTime()

    def act(running: RunningCall) -> None:
        time.pass_us(3 * SECOND)
        running.cancel.check()

    result = tools_limited(act, time)
    assert result.stop_reason == "completed"
    assert {p["reason"] for p in payloads(result, "tool.result")} == {"timeout"}


def test_a_tool_that_ignores_its_deadline_keeps_its_result_with_a_note() -> None:
    time = VirtualTime()
    result = tools_limited(lambda running: time.pass_us(3 * SECOND), time)
    for outcome in payloads(result, "tool.result"):
        assert (outcome["status"], outcome["output"]) == ("completed", "ran")
        assert outcome["notes"] == ["the call took longer than 2 s"]


def test_a_failure_of_another_kind_stays_what_it_is() -> None:
    time = VirtualTime()

    def act(running: RunningCall) -> ToolResult:
        time.pass_us(3 * SECOND)
        return ToolResult("failed", "no", exit_code=3)

    outcome = payloads(tools_limited(act, time), "tool.result")[0]
    assert (outcome["exit_code"], "reason" in outcome) == (3, False)


def test_the_end_of_the_run_is_no_timeout_of_the_call() -> None:
    time = VirtualTime()
    run = DeadlineToken(time, SECOND)

    def act(running: RunningCall) -> ToolResult:
        time.pass_us(3 * SECOND)
        assert running.cancel.cancelled
        return ToolResult("failed", reason="cancelled")

    tool = ToolDeadline(Probe(act=act), time, 2 * SECOND)
    runner = AgentRunner(
        ScriptedModel([asks(call(0)), DONE]),
        ToolBox([tool], ["probe"]),
        cancel=run,
        recorder=Recorder.golden(),
    )
    result = runner.run("go")
    stopped_by_deadline(result, "the run took longer than 1 s")
    assert payloads(result, "tool.result")[0]["reason"] == "cancelled"


def test_ctrl_c_in_a_limited_tool_cancels_the_run() -> None:
    time = VirtualTime()

    def act(running: RunningCall) -> ToolResult:
        running.cancel.cancel("user")  # what Bash does
        return ToolResult("failed", reason="cancelled")

    result = tools_limited(act, time)
    assert (result.stop_reason, payloads(result, "cancel.request")) == (
        "cancelled",
        [{"by": "user"}],
    )
    assert statuses(result) == {"call-0": "failed", "call-1": "not_executed"}


def test_a_tool_that_raises_because_the_run_ends_has_no_timeout() -> None:
    def act(running: RunningCall) -> None:
        running.cancel.cancel("user")
        running.cancel.check()

    result = tools_limited(act, VirtualTime())
    assert result.stop_reason == "cancelled"
    assert statuses(result) == {"call-0": "unknown", "call-1": "not_executed"}


def test_a_limited_tool_is_the_tool_to_model_and_approver() -> None:
    probe = Probe()
    tool = ToolDeadline(probe, VirtualTime(), SECOND)
    assert tool.definition is probe.definition
    assert tool.prepare("x") == probe.prepare("x")


STEPS = st.one_of(
    st.sampled_from(["text", "call", "look", "fault"]), st.floats(0.1, 3).map(lambda s: round(s, 1))
)


@given(
    answers=st.lists(st.lists(STEPS, max_size=4), max_size=6),
    works=st.lists(st.tuples(st.floats(0, 3), st.booleans()), max_size=8),
    run_seconds=st.integers(0, 12),
    user_after=st.one_of(st.none(), st.integers(0, 8)),
)
def test_wherever_time_runs_out_the_trace_is_complete_and_every_call_has_one_result(
    answers: list[list[object]],
    works: list[tuple[float, bool]],
    run_seconds: int,
    user_after: int | None,
) -> None:
    time, numbers = VirtualTime(), iter(range(10**6))
    run = DeadlineToken(time, run_seconds * SECOND)
    left = list(works)

    def act(running: RunningCall) -> ToolResult | None:
        seconds, looks = left.pop(0) if left else (0.0, False)
        time.pass_us(int(seconds * SECOND))
        if len(works) - len(left) == user_after:
            running.cancel.cancel("user")
        if looks and running.cancel.cancelled:
            return ToolResult("failed", reason="cancelled")
        return None

    def answer(steps: list[object]) -> list[object]:
        made: list[object] = [
            TransientModelError("busy") if step == "fault" else step
            for step in steps
            if step not in ("call", "text")
        ]
        if "text" in steps:
            made.append("text")
        calls = [call(next(numbers)) for step in steps if step == "call"]
        return [*made, ModelTurn("text" if "text" in steps else "", tuple(calls))]

    model = Slow(time, *map(answer, answers), *[[ModelTurn("end")]] * 40)
    probe = Probe(act=act)
    timed = RequestDeadline(model.bind, time, 2 * SECOND, run)  # type: ignore[arg-type]
    runner = AgentRunner(
        RetryingModel(timed, time, run, RetryPolicy(max_attempts=3), lambda most: most),
        ToolBox([ToolDeadline(probe, time, 2 * SECOND)], ["probe"]),
        cancel=run,
        recorder=Recorder.golden(),
    )
    result = ends_well(runner.run("go"))
    started = [p["call_id"] for p in payloads(result, "tool.start")]
    assert len(started) == len(set(started)) == len(probe.ran)
    assert len(payloads(result, "cancel.request")) == (result.stop_reason == "cancelled")
