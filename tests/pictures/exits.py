"""Runs of the real loop that take every arrow and reach every end; the map is made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from curriculum.core.approval import ApprovalRequest, Decision
from curriculum.core.errors import BudgetError, ContextOverflowError
from curriculum.core.loop import AgentConfig, AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
from curriculum.core.model import Retry
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import Recorder

Event = Mapping[str, Any]
Item = str | Retry | ModelTurn | BaseException


class Script:
    """A model that streams what is written: one list of items for each request."""

    def __init__(self, answers: Sequence[Sequence[Item]]) -> None:
        self._answers = iter(answers)

    def stream(self, messages: object, tools: object) -> Iterator[str | Retry | ModelTurn]:
        for item in next(self._answers):
            if isinstance(item, BaseException):
                raise item
            yield item


class Speaker:
    """A tool that says something while it runs."""

    definition = ToolDefinition("speak", "Says something.", {"type": "object"})

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({"arguments": arguments}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        call.output("stdout", "hello\n")
        return ToolResult("completed", "hello\n")


class Together:
    """A scheduler that starts all calls of an answer before it runs one."""

    def groups(self, calls: Sequence[ToolCall], tools: ToolBox) -> list[Sequence[ToolCall]]:
        return [calls]

    def run(self, work: Sequence[Any]) -> list[ToolResult | Exception]:
        return [run_one() for run_one in work]


class Word:
    """An approver that has one word."""

    def __init__(self, word: str) -> None:
        self._word = word

    def decide(self, request: ApprovalRequest) -> Decision:
        return Decision(self._word, "user", "user")  # type: ignore[arg-type]


class Shorter:
    """A context policy that sends the last message alone after an overflow."""

    def fit(
        self, messages: Sequence[Message], overflow: ContextOverflowError | None
    ) -> tuple[Sequence[Message], None]:
        return (messages[-1:] if overflow else messages), None


class Empty:
    """A budget with room for nothing."""

    def reserve(self, step: str, messages: object) -> None:
        raise BudgetError("nothing is left", limit=0, resource="turns")

    def settle(self, step: str, usage: Usage | None) -> None:
        """Nothing was spent."""


def _asks(*numbers: int) -> ModelTurn:
    return ModelTurn("", tuple(ToolCall(f"call-{n}", "speak", "{}") for n in numbers))


@dataclass(frozen=True)
class Run:
    """What the model does with each request, what is plugged in, and how many turns there are."""

    answers: Sequence[Sequence[Item]]
    seams: Mapping[str, Any] = field(default_factory=dict)
    config: AgentConfig = field(default_factory=AgentConfig)
    turns: int = 1


DONE = ModelTurn("Done.")
RUNS = {
    "completed": Run([[DONE]]),
    "a call": Run([[_asks(1)], [DONE]]),
    "no request left": Run([[_asks(1)]], config=AgentConfig(max_turns=1)),
    "no call left": Run([[_asks(1, 2)]], config=AgentConfig(max_tool_calls=1)),
    "no answer": Run([[RuntimeError("no answer")]]),
    "streamed": Run([["Do", "ne.", DONE]]),
    "a streamed call": Run([["So", ModelTurn("So", _asks(1).tool_calls)], [DONE]]),
    "a broken stream, then another turn": Run([["Do"], [DONE]], turns=2),
    "two calls at once": Run([[_asks(1, 2)], [DONE]], {"scheduler": Together()}),
    "allowed": Run([[_asks(1)], [DONE]], {"approver": Word("allow")}),
    "cancelled at the question": Run([[_asks(1)]], {"approver": Word("cancelled")}),
    "retried": Run([[Retry("overloaded", 1000), DONE]]),
    "overflow": Run([[ContextOverflowError("long")], [DONE]], {"context": Shorter()}),
    "nothing left to spend": Run([], {"budget": Empty()}),
}


def perform(name: str) -> list[Event]:
    """The events of that run."""
    run = RUNS[name]
    tools = ToolBox([Speaker()], [] if "approver" in run.seams else ["speak"])
    model, recorder = Script(run.answers), Recorder.golden()
    runner = AgentRunner(model, tools, run.config, recorder=recorder, **run.seams)
    for _ in range(run.turns):
        result = runner.turn("Say hello.")
    runner.stop(result)
    return [{"type": event.type, "payload": event.payload} for event in recorder.events]
