"""Random runs whose requests do not all fit: their traces, and what the model was really shown."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from curriculum.core.context import ContextWindow, DropTurns, Reduction, TruncateOutput, rebuild
from curriculum.core.errors import ContextOverflowError, ModelError
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
from curriculum.core.model import Retry, ScriptedModel
from curriculum.core.summary import Summarise
from curriculum.core.tokens import MeasuredModel, TokenCounter
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import Event, Recorder
from curriculum.core.values import value

__unittest = True


@value
class CompactedRun:
    """What an observer saw, what the model was shown, and what there was at the start."""

    events: Sequence[Event]
    requests: Sequence[Sequence[Message]]
    before: Sequence[Message]


class ShownModel:
    """Answers at random: calls, text, retries, failures. Keeps what each attempt showed."""

    def __init__(self, rng: random.Random, counter: TokenCounter) -> None:
        self.requests: list[list[Message]] = []
        self._rng = rng
        self._counter = counter
        self._made = 0

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | Retry | ModelTurn]:
        self.requests.append(list(messages))
        for _ in range(self._rng.choice([0, 0, 0, 1, 2])):
            yield Retry("busy", 1000)
            self.requests.append(list(messages))
        what = self._rng.choice(["calls", "calls", "calls", "text", "text", "overflow", "fault"])
        if what == "overflow":
            raise ContextOverflowError("too long")
        if what == "fault":
            yield "half an ans"
            raise ModelError("gone")
        count = self._rng.randrange(1, 3) if what == "calls" else 0
        calls = [ToolCall(f"c{self._made + n}", "look", '{"at": "x"}') for n in range(count)]
        self._made += count
        counted = sum(map(self._counter.cost, messages))
        # What was counted too low or too high makes later requests fit, or not.
        usage = Usage(counted * self._rng.choice([5, 10, 25]) // 10, 1)
        said = self._rng.choice(["", "said", " said \n"])
        text = f"{said}{self._rng.randrange(1000)}" if said else ""
        yield ModelTurn(text, tuple(calls), usage=usage)


class Look:
    """A tool with outputs of any length."""

    definition = ToolDefinition("look", "Looks.", {"type": "object"})

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({"arguments": arguments}, None)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        output = "é\n" * self._rng.choice([1, 10, 100, 200])
        fails = self._rng.random() < 0.2
        return ToolResult("failed", output, 3) if fails else ToolResult("completed", output)


def compacted_run(seed: int) -> CompactedRun:
    """A session of some turns behind a random window."""
    rng, counter = random.Random(seed), TokenCounter(count=len)
    model = ShownModel(rng, counter)
    writer = ScriptedModel([ModelTurn(f"account {n}") for n in range(100)])
    reductions: list[Reduction] = [TruncateOutput(10, 10), Summarise(writer, keep=1), DropTurns()]
    chosen = rng.sample(reductions, rng.randrange(1, 4))
    history = [Message("user", "before " * 9), Message("assistant", "yes")] * rng.randrange(3)
    system = rng.choice(["", "Be brief."])
    runner = AgentRunner(
        MeasuredModel(model, counter),
        ToolBox([Look(rng)], ["look"]),
        system_prompt=system,
        history=history,
        context=ContextWindow(rng.choice([300, 600, 1200]), counter, chosen),
        recorder=Recorder.golden(),
    )
    for number in range(rng.randrange(1, 5)):
        result = runner.turn(f"question {number} " * rng.randrange(1, 9))
    runner.stop(result)
    before = [*([Message("system", system)] if system else []), *history]
    return CompactedRun(runner.recorder.events, model.requests, before)


class _OnlyOnOverflow:
    """Shows everything, and without the first turn once that was too long."""

    def fit(
        self, messages: Sequence[Message], overflow: ContextOverflowError | None
    ) -> tuple[Sequence[Message], Mapping[str, object] | None]:
        if not overflow:
            return messages, None
        counts = {"message_count_before": len(messages), "message_count": len(messages) - 2}
        report = {"policy": "on-overflow", "reason": "overflow", "dropped": [0, 1], **counts}
        return rebuild(messages, report), report


def overcome_run() -> CompactedRun:
    """A compacted request that fails, and a next turn that shows everything once more."""
    history = [Message("user", "before"), Message("assistant", "yes")]
    answers: list[ModelTurn | Exception] = [ContextOverflowError("too long"), ModelError("gone")]
    model, recorder = ScriptedModel([*answers, ModelTurn("so")]), Recorder.golden()
    policy = _OnlyOnOverflow()
    runner = AgentRunner(model, history=history, context=policy, recorder=recorder)
    runner.turn("first")
    runner.stop(runner.turn("second"))
    return CompactedRun(recorder.events, model.requests, history)
