"""All layers at once: retry, deadlines, context, parallel reads and budgets in one runner.

Whatever the model answers, whatever fails and whenever somebody stops it, four things hold: the
trace is complete, every call has one result, no write runs twice, and no budget is passed by more
than the one step that was reserved too low.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from curriculum.core.approval import ApprovalRequest, Decision
from curriculum.core.budget import AllOf, Limit, WallTime
from curriculum.core.context import ContextWindow, DropTurns, TruncateOutput
from curriculum.core.deadline import DeadlineToken, RequestDeadline, ToolDeadline
from curriculum.core.errors import (
    ContextOverflowError,
    ModelError,
    RateLimitError,
    TransientModelError,
)
from curriculum.core.loop import AgentConfig, AgentRunner, RunResult
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
from curriculum.core.meters import Calls, Money, Prices, Tokens, Turns, most_tokens
from curriculum.core.parallel import ParallelReads
from curriculum.core.retry import RetryingModel, RetryPolicy
from curriculum.core.seams import CancelToken
from curriculum.core.tokens import MeasuredModel, TokenCounter
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import Event, Recorder
from curriculum.core.values import value
from curriculum.core.waiting import VirtualTime
from tests.core.parts import SpyJournal, findings_in, payloads, statuses, types

SECOND = 1_000_000
OUTPUT_LIMIT = 50  # tokens of an answer, as the budgets reckon
PRICES = Prices(1_000_000, 3_000_000)
FAULTS = {
    "transient": TransientModelError,
    "rate-limit": RateLimitError,
    "overflow": ContextOverflowError,
    "permanent": ModelError,
}
ACTS = ["works", "works", "works", "long", "long", "slow", "fails", "raises", "stops"]


@value
class Answer:
    """What one request gets: pieces of text, perhaps a fault, calls as (tool, act), usage."""

    pieces: int
    fault: str
    calls: tuple[tuple[str, str], ...]
    usage: tuple[int, int] | None


@value
class Plan:
    """One session: what is asked, what happens, and what is allowed."""

    inputs: tuple[int, ...]
    answers: tuple[Answer, ...]
    decisions: tuple[str, ...]
    honest: bool
    turns: int
    calls: int
    tokens: int
    money: int
    seconds: int
    context: int
    threads: int
    cancel_at: int | None
    lost_at: int | None


class Model:
    """Answers by the plan. `honest`: never more tokens than the budgets reckon."""

    def __init__(self, plan: Plan, time: VirtualTime) -> None:
        last = Answer(1, "", (), (10, 5))
        self._answers = chain(plan.answers, repeat(last))
        self._plan, self._time = plan, time
        self._calls = 0
        self.dearest = (0, 0)  # tokens, micro-dollars

    def stream(self, messages: Sequence[Message], tools: object) -> Iterator[str | ModelTurn]:
        answer = next(self._answers)
        text = ""
        for _ in range(answer.pieces):
            self._time.pass_us(SECOND // 4)
            text += "piece "
            yield "piece "
        if answer.fault:
            fault = FAULTS[answer.fault](answer.fault)
            fault.retryable = answer.fault in ("transient", "rate-limit")
            raise fault
        calls = []
        for name, act in answer.calls:
            self._calls += 1
            calls.append(ToolCall(f"call-{self._calls}", name, act))
        yield ModelTurn(text, tuple(calls), usage=self._usage(answer, messages))

    def _usage(self, answer: Answer, messages: Sequence[Message]) -> Usage | None:
        if answer.usage is None:
            return None
        inputs, outputs = answer.usage
        if self._plan.honest:
            inputs, outputs = min(inputs, most_tokens(messages)), min(outputs, OUTPUT_LIMIT)
        tokens, money = self.dearest
        self.dearest = (max(tokens, inputs + outputs), max(money, PRICES.cost(inputs, outputs)))
        return Usage(inputs, outputs)


class Acts:
    """A tool that does what its arguments say, and remembers each call that it ran."""

    def __init__(self, name: str, time: VirtualTime) -> None:
        self.definition = ToolDefinition(name, "", {"type": "object"}, name == "read")
        self.ran: list[str] = []
        self._time, self._lock = time, threading.Lock()

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({"act": arguments}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        act = str(prepared.action)
        with self._lock:
            self.ran.append(call.call_id)
            if act == "slow":
                self._time.pass_us(2 * SECOND)
        if act == "raises":
            raise ZeroDivisionError("a bug")
        if act == "stops":
            call.cancel.cancel("harness")
        if act == "long":
            return ToolResult("completed", call.call_id + " x" * 2500)
        return ToolResult("failed" if act == "fails" else "completed", call.call_id)


class Decides:
    """Answers by the plan, then always yes."""

    def __init__(self, decisions: Sequence[str]) -> None:
        self._decisions = chain(decisions, repeat("allow"))

    def decide(self, request: ApprovalRequest) -> Decision:
        return Decision(next(self._decisions), "user", "tester")  # type: ignore[arg-type]


class Session:
    """A runner with every layer in it, as the plan sets them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.time = VirtualTime()
        self.cancel = DeadlineToken(self.time, plan.seconds * SECOND)
        recorder = Recorder.golden(self._see)
        self.model = Model(plan, self.time)
        self.read, self.write = Acts("read", self.time), Acts("write", self.time)
        tools = ToolBox([self.read, ToolDeadline(self.write, self.time, SECOND)], ["read"])
        counter = TokenCounter(tools.descriptors())

        def bound_to(token: CancelToken) -> MeasuredModel:
            return MeasuredModel(self.model, counter)

        timed = RequestDeadline(bound_to, self.time, SECOND, self.cancel)
        parts = [
            Limit(Turns(), plan.turns),
            Limit(Calls(), plan.calls),
            Limit(Tokens(OUTPUT_LIMIT), plan.tokens),
            Limit(Money(PRICES, OUTPUT_LIMIT), plan.money),
            WallTime(self.time, plan.seconds * SECOND),
        ]
        self.runner = AgentRunner(
            RetryingModel(timed, self.time, self.cancel, RetryPolicy(3), lambda most: most),
            tools,
            AgentConfig(6, 12),
            system_prompt="Be brief.",
            approver=Decides(plan.decisions),
            journal=SpyJournal(plan.lost_at),
            cancel=self.cancel,
            context=ContextWindow(plan.context, counter, [DropTurns(), TruncateOutput(100, 100)]),
            scheduler=ParallelReads(self.cancel, plan.threads),
            budget=AllOf(parts, recorder),
            recorder=recorder,
        )

    def _see(self, event: Event) -> None:
        if event.sequence == self.plan.cancel_at:
            self.cancel.cancel("user")

    def hold(self) -> RunResult:
        """All turns, then the end."""
        for size in self.plan.inputs:
            result = self.runner.turn("ask " * size)
        return self.runner.stop(result)


def check(session: Session, result: RunResult) -> None:
    """What holds of every session."""
    plan, seen = session.plan, types(result)
    assert findings_in(result) == []  # with no finding the verdict is complete
    assert seen.count("session.stop") == 1
    assert seen[-1] == "session.stop"

    proposed = [one["call_id"] for one in payloads(result, "tool.call")]
    results = [one["call_id"] for one in payloads(result, "tool.result")]
    assert sorted(results) == sorted(proposed)
    assert len(set(results)) == len(results)

    started = {one["call_id"] for one in payloads(result, "tool.start")}
    ran = [*session.read.ran, *session.write.ran]
    assert len(ran) == len(set(ran)), "nothing runs twice"
    assert set(ran) <= started
    for call_id, status in statuses(result).items():
        assert call_id in started or status not in ("completed", "failed", "unknown")

    for one in payloads(result, "tool.result"):
        if one["status"] in ("completed", "failed") and one["output"]:
            assert one["output"].split()[0] == one["call_id"], "each result is its own call's"

    first = [one for one in payloads(result, "model.request") if one["attempt"] == 1]
    assert len(first) <= plan.turns
    assert len(started) <= plan.calls
    tokens, money = session.model.dearest
    allowance = {"turns": 0, "calls": 0, "tokens": tokens, "money": money}
    for report in payloads(result, "budget.spend"):
        reserved = report.get("reserved", 0)
        assert report["remaining"] == report["limit"] - report["spent"] - reserved
        if report["resource"] in allowance:
            over = report["spent"] - report["limit"]
            assert over <= (0 if plan.honest else allowance[report["resource"]])
            assert not reserved or report["remaining"] >= 0, (
                "nothing is set aside that is not there"
            )


ANSWERS = st.builds(
    Answer,
    st.integers(0, 3),
    st.sampled_from(["", "", "", "", "", "", *FAULTS]),
    st.lists(
        st.tuples(st.sampled_from(["read", "read", "write"]), st.sampled_from(ACTS)), max_size=4
    ).map(tuple),
    st.one_of(st.none(), st.tuples(st.integers(0, 3000), st.integers(0, 300))),
)
DECISIONS = st.sampled_from(["allow", "allow", "deny", "cancelled", "expired"])
MAYBE = st.one_of(st.none(), st.none(), st.none(), st.integers(0, 80))


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Sessions that mostly get somewhere before they end."""
    return Plan(
        tuple(draw(st.lists(st.integers(1, 200), min_size=1, max_size=3))),
        tuple(draw(st.lists(ANSWERS, min_size=1, max_size=8))),
        tuple(
            draw(st.lists(st.sampled_from(["allow", "deny", "cancelled", "expired"]), max_size=3))
        ),
        draw(st.booleans()),
        draw(st.sampled_from([12, 12, 12, 4, 2, 0])),
        draw(st.sampled_from([12, 12, 12, 4, 2, 0])),
        draw(st.sampled_from([300_000, 300_000, 30_000, 6_000, 2_000])),
        draw(st.sampled_from([300_000, 300_000, 30_000, 6_000, 2_000])),
        draw(st.sampled_from([30, 30, 10, 4, 1])),
        draw(st.sampled_from([100_000, 2_000, 1_000, 600, 300])),
        draw(st.integers(1, 4)),
        draw(MAYBE),
        draw(MAYBE),
    )


@given(plans())
def test_whatever_happens_with_all_layers_together_four_things_hold(plan: Plan) -> None:
    session = Session(plan)
    check(session, session.hold())


AMPLE: dict[str, Any] = {
    "inputs": (200, 200, 1),
    "answers": (
        Answer(1, "", (("read", "long"), ("read", "works"), ("write", "works")), (10, 5)),
        Answer(0, "overflow", (), None),
        Answer(1, "", (), None),
        Answer(0, "transient", (), None),
        Answer(1, "", (("write", "slow"),), None),
        Answer(1, "", (("write", "slow"),), None),
    ),
    "decisions": (),
    "honest": True,
    "turns": 12,
    "calls": 12,
    "tokens": 300_000,
    "money": 300_000,
    "seconds": 5,
    "context": 3_000,
    "threads": 4,
    "cancel_at": None,
    "lost_at": None,
}


def test_the_layers_do_act_together_in_one_session() -> None:
    """So that the property above is about something: each layer shows in this one trace."""
    session = Session(Plan(**AMPLE))
    result = session.hold()
    check(session, result)
    seen = types(result)
    for type in ("retry.wait", "context.compact", "budget.spend", "cancel.request"):
        assert type in seen
    together = [one for one in seen if one in ("tool.start", "tool.result")][:3]
    assert together == ["tool.start", "tool.start", "tool.result"]
    assert {one["reason"] for one in payloads(result, "context.compact")} == {"budget", "overflow"}
    assert payloads(result, "cancel.request") == [{"by": "policy"}] * 2  # of the third turn too
    assert (result.stop_reason, len(session.write.ran)) == ("cancelled", 3)


def test_a_small_budget_ends_such_a_session_between_two_steps() -> None:
    session = Session(Plan(**{**AMPLE, "tokens": 8_000}))
    result = session.hold()
    check(session, result)
    assert result.stop_reason == "budget"
    assert 0 < len(session.write.ran) < 3
