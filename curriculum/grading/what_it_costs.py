"""Grader of s11 C: what a run spends, predicted by a table and shown by real runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from curriculum.core.budget import Limit
from curriculum.core.errors import ContextOverflowError, ModelError, TransientModelError
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
from curriculum.core.meters import Tokens
from curriculum.core.model import Model, ScriptedModel, StreamingModel
from curriculum.core.retry import RetryingModel
from curriculum.core.seams import CancelToken
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.waiting import VirtualTime
from curriculum.grading.mistakes import mistake
from curriculum.grading.prediction_table import rows_to_grade

__unittest = True

DESIGN = 's11, "Exercises", C'
FACTS = ("requests", "calls", "spent", "reserved", "stop")

Row = Mapping[str, object]
Script = Sequence[ModelTurn | Exception]


def _words(usage: Usage | None) -> ModelTurn:
    return ModelTurn("in words", usage=usage)


def _asks(number: int, usage: Usage | None) -> ModelTurn:
    return ModelTurn(tool_calls=(ToolCall(f"c{number}", "work"),), usage=usage)


FIFTY, SIXTY = Usage(30, 20), Usage(50, 10)
SCRIPTS: Mapping[str, Script] = {
    "50 tokens": [_words(FIFTY)],
    "no usage told": [_words(None)],
    "dearer than its bound": [_words(Usage(600, 100))],
    "dearer, and asks for a call": [_asks(1, Usage(290, 10)), _words(FIFTY)],
    "three calls": [*[_asks(number, SIXTY) for number in range(3)], _words(SIXTY)],
    "calls for ever, no usage told": [_asks(number, None) for number in range(9)],
    "a denied call": [_asks(1, SIXTY), _words(FIFTY)],
    "the model fails": [ModelError("refused")],
    "overloaded, then 50 tokens": [TransientModelError("busy"), _words(FIFTY)],
    "too long, then 50 tokens": [ContextOverflowError("too long"), _words(FIFTY)],
    "cancelled while text arrives": [],
    "limit of 149": [_words(FIFTY)],
}


class _Work:
    """A tool that works."""

    definition = ToolDefinition("work", "Works.", {"type": "object"})

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({}, None)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        return ToolResult("completed", "done")


class _Cancelled:
    """A model during whose answer the user presses Ctrl+C."""

    def __init__(self, cancel: CancelToken) -> None:
        self._cancel = cancel

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | ModelTurn]:
        yield "half"
        self._cancel.cancel("user")
        yield "of it"


class _SameAgain:
    """A context policy whose shorter request is made up."""

    def fit(
        self, messages: Sequence[Message], overflow: ContextOverflowError | None
    ) -> tuple[Sequence[Message], None]:
        return messages, None


def observe_cost(situation: str) -> Row:
    """What a run in that situation really spends, read from its trace."""
    cancel, granted = CancelToken(), [] if situation == "a denied call" else ["work"]
    model: Model | StreamingModel = ScriptedModel(SCRIPTS[situation])
    if situation == "cancelled while text arrives":
        model = _Cancelled(cancel)
    if situation.startswith("overloaded"):
        model = RetryingModel(model, VirtualTime(), cancel)
    limit = 149 if situation == "limit of 149" else 400
    runner = AgentRunner(
        model,
        ToolBox([_Work()], granted),
        cancel=cancel,
        context=_SameAgain(),
        budget=Limit(Tokens(output_limit=100, estimate=lambda messages: 50), limit),
    )
    events = runner.run("go").events
    reports = [event.payload for event in events if event.type == "budget.spend"]
    last = reports[-1] if reports else {}
    return {
        "requests": sum(event.type == "model.request" for event in events),
        "calls": sum(event.type == "tool.start" for event in events),
        "spent": last.get("spent", 0),
        "reserved": last.get("reserved", 0),
        "stop": events[-1].payload["reason"],
    }


def grade_what_it_costs(table: Mapping[str, Row]) -> None:
    """C. What was predicted against what the trace shows, situation by situation."""
    good, wrong = rows_to_grade(table, list(SCRIPTS), FACTS, DESIGN)
    for situation in good:
        seen = observe_cost(situation)
        for fact in FACTS:
            said = table[situation][fact]
            if said != seen[fact] or type(said) is not type(seen[fact]):
                told = f"you predict {fact} {said!r}, the trace shows {seen[fact]!r}"
                wrong.append(f"{situation!r}: {told}")
    if wrong:
        found = "\n    - ".join(["", *wrong])
        raise mistake("predictions that real runs confirm", found, DESIGN)
