"""Random but real runs: an AgentRunner with every seam plugged in, driven by a script.

What hypothesis draws is data (`Plan`); `perform` turns it into a run and returns the trace. Every
such trace is right by construction, so the validator has to call it complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from curriculum.core.approval import ApprovalRequest, Decision
from curriculum.core.errors import (
    BudgetError,
    ContextOverflowError,
    InvalidArgumentsError,
    TransientModelError,
)
from curriculum.core.journal import Record
from curriculum.core.loop import AgentConfig, AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
from curriculum.core.model import Retry
from curriculum.core.seams import CancelToken
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import Recorder

FAULTS = {
    "bug": RuntimeError("a bug"),
    "transient": TransientModelError("overloaded"),
    "overflow": ContextOverflowError("too long"),
    "interrupt": KeyboardInterrupt(),
}


@dataclass(frozen=True)
class Answer:
    """What the model does with one request, and how."""

    retries: int
    chunks: tuple[str, ...]
    says_more: bool
    calls: tuple[tuple[str, str], ...]
    fault: str
    cancels: bool


@dataclass(frozen=True)
class Plan:
    """Everything that decides a run."""

    inputs: tuple[str, ...]
    answers: tuple[Answer, ...]
    decisions: tuple[str, ...]
    granted: bool
    grouped: bool
    system: str
    history: int
    max_turns: int
    max_calls: int
    journal: str
    journal_room: int
    compacts: bool
    budget_room: int


TEXTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["", "\ud800", "a\u2028b\x85", "[REDACTED:key:1]", "é" * 100]),
)
TOOLS = ("works", "fails", "raises", "talks", "unknown", "refuses", "cancels", "nowhere")
ANSWERS = st.builds(
    Answer,
    retries=st.sampled_from([0, 0, 0, 1, 2]),
    chunks=st.lists(TEXTS, max_size=3).map(tuple),
    says_more=st.booleans(),
    calls=st.lists(
        st.tuples(st.sampled_from(TOOLS), st.sampled_from(["", "", "", "", "again", "clash"])),
        max_size=3,
    ).map(tuple),
    fault=st.sampled_from(["", "", "", "", "", "", *FAULTS, "stream-ends", "other-text"]),
    cancels=st.sampled_from([False] * 9 + [True]),
)
DECISIONS = ("allow", "allow", "deny", "cancelled", "expired", "raises", "nonsense", "interrupt")
PLANS = st.builds(
    Plan,
    inputs=st.lists(TEXTS, min_size=1, max_size=3).map(tuple),
    answers=st.lists(ANSWERS, min_size=1, max_size=6).map(tuple),
    decisions=st.lists(st.sampled_from(DECISIONS), max_size=6).map(tuple),
    granted=st.booleans(),
    grouped=st.booleans(),
    system=st.sampled_from(["", "Be brief."]),
    history=st.integers(0, 2),
    max_turns=st.integers(1, 4),
    max_calls=st.integers(0, 5),
    journal=st.sampled_from(["memory", "memory", "durable", "failing"]),
    journal_room=st.integers(0, 12),
    compacts=st.booleans(),
    budget_room=st.sampled_from([1000, 1000, 3]),
)


class PlannedModel:
    """Streams the planned answers; after the last it has nothing to say."""

    def __init__(self, plan: Plan, cancel: CancelToken) -> None:
        self._answers = iter(plan.answers)
        self._cancel = cancel
        self._made = 0

    def _call(self, name: str, kind: str) -> ToolCall:
        if kind != "again" or not self._made:
            self._made += 1
        call_id = "clash" if kind == "clash" else f"call {self._made}"
        return ToolCall(call_id, name, '{"a": 1' if name == "refuses" else "{}")

    def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, object]]
    ) -> Iterator[str | Retry | ModelTurn]:
        answer = next(self._answers, None)
        if answer is None:
            yield ModelTurn("That is all.")
            return
        for _ in range(answer.retries):
            yield Retry("overloaded", 1000)
        if answer.cancels:
            self._cancel.cancel("harness")
        yield from answer.chunks
        if answer.fault in FAULTS:
            raise FAULTS[answer.fault]
        if answer.fault == "stream-ends":
            return
        calls = tuple(self._call(*call) for call in answer.calls)
        text = "".join(answer.chunks)
        if answer.fault == "other-text" or (answer.says_more and not text):
            text += " and more"
        usage = Usage(10, 5) if answer.says_more else None
        yield ModelTurn(text, calls, stop=answer.says_more, usage=usage)


class PlannedTool:
    """A tool that does what its name says."""

    def __init__(self, name: str, cancel: CancelToken) -> None:
        self.definition = ToolDefinition(name, "", {})
        self._cancel = cancel

    def prepare(self, arguments: str) -> Prepared:
        name = self.definition.name
        if name == "refuses":
            raise InvalidArgumentsError("not this")
        return Prepared({"arguments": arguments, "environment": {"LANG": "C"}}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        name = self.definition.name
        if name == "raises":
            raise OSError("a bug")
        if name == "cancels":
            self._cancel.cancel("policy")
            return ToolResult("failed", "", reason="cancelled", notes=("was told to stop",))
        if name == "fails":
            return ToolResult("failed", "no", exit_code=-9, truncated=True, reason="signal")
        if name == "unknown":
            return ToolResult("unknown", "it may have run")
        if name == "talks":
            call.output("stdout", "one\n")
            call.output("stderr", "two\n")
        return ToolResult("completed", "\udc80 out" * 3, exit_code=0)


class PlannedApprover:
    """Gives the planned decisions, then allows."""

    def __init__(self, plan: Plan) -> None:
        self._words = iter(plan.decisions)

    def decide(self, request: ApprovalRequest) -> Decision:
        word = next(self._words, "allow")
        if word == "raises":
            raise RuntimeError("no terminal")
        if word == "interrupt":
            raise KeyboardInterrupt
        if word == "nonsense":
            return "yes"  # type: ignore[return-value]
        return Decision(word, "user", "user", "because" if word == "deny" else "")  # type: ignore[arg-type]


class PlannedJournal:
    """Durable, or with room for only so many records."""

    def __init__(self, plan: Plan) -> None:
        self._kind, self._room = plan.journal, plan.journal_room
        self._position = 0

    def append(self, record: Record) -> int | None:
        self._position += 1
        if self._kind == "failing" and self._position > self._room:
            raise OSError("disk full")
        return None if self._kind == "memory" else self._position


class DropOldest:
    """Leaves out the first messages after an overflow, or whenever there are more than three."""

    def fit(
        self, messages: Sequence[Message], overflow: ContextOverflowError | None
    ) -> tuple[Sequence[Message], Mapping[str, object] | None]:
        if overflow and len(messages) < 2:
            raise overflow
        if not overflow and len(messages) <= 3:
            return messages, None
        report = {
            "policy": "drop-oldest",
            "reason": "overflow" if overflow else "budget",
            "dropped": [0],
            "message_count_before": len(messages),
            "message_count": len(messages) - 1,
        }
        return messages[1:], report


class Purse:
    """So many steps, each worth one."""

    def __init__(self, room: int) -> None:
        self._limit, self._spent = room, 0

    def _report(self, **more: int) -> Mapping[str, object]:
        left = self._limit - self._spent
        fields = {"resource": "calls", "unit": "steps", "limit": self._limit, "remaining": left}
        return {**fields, "spent": self._spent, **more}

    def reserve(self, step: str, messages: Sequence[Message]) -> Mapping[str, object] | None:
        if self._spent >= self._limit:
            raise BudgetError("nothing is left", limit=self._limit, resource="calls")
        return self._report(reserved=1) if step == "request" else None

    def settle(self, step: str, usage: Usage | None) -> Mapping[str, object] | None:
        self._spent += 1
        return self._report()


class Together:
    """All calls of an answer in one group."""

    def groups(self, calls: Sequence[ToolCall], tools: ToolBox) -> list[Sequence[ToolCall]]:
        return [calls] if calls else []

    def run(self, work: Sequence[object]) -> list[ToolResult | Exception]:
        return [run_one() for run_one in work]  # type: ignore[operator]


def make_runner(plan: Plan) -> AgentRunner:
    """The runner of a plan."""
    cancel = CancelToken()
    tools = [PlannedTool(name, cancel) for name in TOOLS if name != "nowhere"]
    history = [Message("user", "before"), Message("assistant", "yes")] * plan.history
    optional: dict[str, object] = {}
    if plan.compacts:
        optional["context"] = DropOldest()
    if plan.grouped:
        optional["scheduler"] = Together()
    if plan.budget_room < 1000 or plan.grouped:
        optional["budget"] = Purse(plan.budget_room)
    return AgentRunner(
        PlannedModel(plan, cancel),
        ToolBox(tools, [tool.definition.name for tool in tools] if plan.granted else ["works"]),
        AgentConfig(plan.max_turns, plan.max_calls),
        system_prompt=plan.system,
        history=history,
        approver=PlannedApprover(plan),
        journal=PlannedJournal(plan),
        cancel=cancel,
        recorder=Recorder.golden(),
        **optional,  # type: ignore[arg-type]
    )


def perform(plan: Plan) -> bytes:
    """Run it; returns the trace."""
    runner = make_runner(plan)
    result = None
    for content in plan.inputs:
        result = runner.turn(content)
        if result.error is not None and result.error.kind == "journal":
            break  # a session whose journal is lost is over
    assert result is not None
    runner.stop(result)
    return "".join(event.to_line() for event in runner.recorder.events).encode()
