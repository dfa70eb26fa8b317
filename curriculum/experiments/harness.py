"""From settings to a harness: each section plugs one thing into one seam of the loop."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from curriculum.core.approval import ApprovalRequest, Decision
from curriculum.core.budget import AllOf, Limit, WallTime
from curriculum.core.context import ContextWindow, DropTurns, Reduction, TruncateOutput
from curriculum.core.journal import Journal, MemoryJournal, Record
from curriculum.core.loop import AgentConfig
from curriculum.core.messages import ToolCall
from curriculum.core.meters import Calls, Meter, Money, Prices, Tokens, Turns
from curriculum.core.model import Model, StreamingModel
from curriculum.core.parallel import ParallelReads
from curriculum.core.policy import PolicyApprover, Rule
from curriculum.core.retry import RetryingModel, RetryPolicy
from curriculum.core.seams import (
    Budget,
    CancelToken,
    ContextPolicy,
    InOrder,
    KeepEverything,
    Scheduler,
)
from curriculum.core.summary import Summarise
from curriculum.core.tokens import MeasuredModel, TokenCounter
from curriculum.core.tools import ToolBox, ToolResult
from curriculum.core.trace import Clock, Ids, Recorder, SystemClock
from curriculum.core.waiting import EachEvent, SystemWaiter, VirtualTime, Waiter
from curriculum.experiments.cassette import CassetteModel, read_cassette
from curriculum.experiments.faults import FlakyModel
from curriculum.experiments.settings import ExperimentError, Settings, number, text
from curriculum.experiments.task import SummaryModel
from curriculum.providers.chat_completions import ChatCompletionsModel
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.responses import ResponsesModel

PRICES = Prices(3_000_000, 15_000_000)
OUTPUT_LIMIT = 200  # tokens that an answer of the task has at most


# region: time
class RunTime:
    """The time of a run: virtual, where waiting costs nothing, or real.

    Virtual time of calls that overlap is the longest of them, as the group is done when its last
    call is; the real scheduler runs them in its threads all the same.
    """

    def __init__(self, settings: Settings, cancel: CancelToken) -> None:
        self._cancel = cancel
        self._virtual = VirtualTime() if settings["clock.kind"] == "virtual" else None
        self.clock: Clock = self._virtual or SystemClock()
        self.waiter: Waiter = self._virtual or SystemWaiter(self.clock)
        self.event_clock: Clock = self.clock
        if self._virtual:
            self.event_clock = EachEvent(self._virtual, number(settings, "clock.event_us"))
        self._taken: list[int] | None = None

    def pass_us(self, taken_us: int) -> None:
        """Something takes so long; called from any thread."""
        if taken_us and self._virtual and self._taken is not None:
            self._taken.append(taken_us)
        elif taken_us:
            self.waiter.wait(taken_us, self._cancel)

    def together(self, run: Callable[[], Sequence[ToolResult | Exception]]) -> object:
        """Run a group of calls; afterwards as much time has passed as its longest took."""
        self._taken = []
        try:
            return run()
        finally:
            taken, self._taken = self._taken, None
            self.pass_us(max(taken, default=0))


class TimedScheduler:
    """A scheduler whose groups take virtual time."""

    def __init__(self, scheduler: Scheduler, run_time: RunTime) -> None:
        self._scheduler, self._time = scheduler, run_time

    def groups(self, calls: Sequence[ToolCall], tools: ToolBox) -> Sequence[Sequence[ToolCall]]:
        return self._scheduler.groups(calls, tools)

    def run(
        self, work: Sequence[Callable[[], ToolResult | Exception]]
    ) -> Sequence[ToolResult | Exception]:
        outcomes: list[ToolResult | Exception] = []

        def run_group() -> Sequence[ToolResult | Exception]:
            outcomes.extend(self._scheduler.run(work))
            return outcomes

        self._time.together(run_group)
        return outcomes


# endregion


class TimedApprover:
    """A policy whose decisions take time, as those of a person do."""

    def __init__(self, rules: Sequence[Rule], run_time: RunTime, answer_us: int) -> None:
        self._policy, self._time, self._answer_us = PolicyApprover(rules), run_time, answer_us

    def decide(self, request: ApprovalRequest) -> Decision:
        self._time.pass_us(self._answer_us)
        return self._policy.decide(request)


@dataclass
class TimedJournal:
    """A journal with a stop-watch: the nanoseconds of each record, by kind."""

    journal: Journal
    spent_ns: dict[str, list[int]] = field(default_factory=dict)

    def append(self, record: Record) -> int | None:
        began = time.perf_counter_ns()
        position = self.journal.append(record)
        self.spent_ns.setdefault(record.kind, []).append(time.perf_counter_ns() - began)
        return position


# region: seams
def make_scheduler(settings: Settings, run_time: RunTime, cancel: CancelToken) -> Scheduler:
    """What may overlap."""
    if settings["scheduler.kind"] == "in-order":
        return TimedScheduler(InOrder(), run_time)
    return TimedScheduler(ParallelReads(cancel, number(settings, "scheduler.threads")), run_time)


def make_approver(settings: Settings, run_time: RunTime) -> TimedApprover | None:
    """Who allows; nobody is asked where all is granted."""
    rules = {
        "all": [Rule("allow", "everything is allowed")],
        "reads": [Rule("allow", "it only looks", "look"), Rule("deny", "it changes something")],
        "none": [Rule("deny", "nothing is allowed")],
    }.get(text(settings, "approval.policy"))
    answer_us = number(settings, "approval.answer_ms") * 1000
    return TimedApprover(rules, run_time, answer_us) if rules else None


def make_context(settings: Settings, counter: TokenCounter, writer: SummaryModel) -> ContextPolicy:
    """What fits."""
    policy = settings["context.policy"]
    if policy == "keep":
        return KeepEverything()
    ways: dict[str, Reduction] = {
        "truncate": TruncateOutput(head=100, tail=100),
        "summarise": Summarise(writer),
        "drop": DropTurns(),
    }
    chosen = list(ways.values()) if policy == "all" else [ways[str(policy)]]
    return ContextWindow(number(settings, "context.limit"), counter, chosen)


def make_budget(settings: Settings, recorder: Recorder, clock: Clock) -> Budget | None:
    """What it may cost."""
    meters: dict[str, Meter] = {
        "budget.turns": Turns(),
        "budget.calls": Calls(),
        "budget.tokens": Tokens(OUTPUT_LIMIT),
        "budget.money": Money(PRICES, OUTPUT_LIMIT),
    }
    parts: list[Limit | WallTime] = [
        Limit(meter, number(settings, name)) for name, meter in meters.items() if settings[name]
    ]
    if settings["budget.seconds"]:
        parts.append(WallTime(clock, number(settings, "budget.seconds") * 1_000_000))
    return AllOf(parts, recorder) if parts else None


def wrap_model(
    model: Model | StreamingModel,
    settings: Settings,
    seed: int,
    run_time: RunTime,
    cancel: CancelToken,
) -> Model | StreamingModel:
    """The model with its faults, and the policy that asks again round them."""
    names = ("busy_percent", "drop_percent", "drop_at")
    faults = {name: number(settings, f"fault.{name}") for name in names}
    if faults["busy_percent"] or faults["drop_percent"]:
        luck = Random(f"{seed}/faults")
        model = FlakyModel(model, luck, pieces=number(settings, "model.pieces"), **faults)
    attempts = number(settings, "retry.attempts")
    if attempts == 1:
        return model
    base, cap = (number(settings, f"retry.{name}_ms") * 1000 for name in ("base", "cap"))
    waits = Random(f"{seed}/waits")
    policy = RetryPolicy(attempts, base, cap, cap * attempts)
    return RetryingModel(
        model, run_time.waiter, cancel, policy, lambda most: waits.randint(0, most)
    )


def make_config(settings: Settings) -> AgentConfig:
    """The bounds of one turn."""
    return AgentConfig(
        number(settings, "limits.max_turns"),
        number(settings, "limits.max_tool_calls"),
        model_id=text(settings, "model.name"),
        harness="curriculum 0.1",
    )


# endregion


def make_recorder(settings: Settings, run_time: RunTime, lines: list[str]) -> Recorder:
    """A recorder whose lines are kept; only a scripted run counts as scripted."""
    sources = {"scripted": "scripted", "recorded": "recorded", "live": "live"}
    source = sources[text(settings, "model.kind")]
    return Recorder(
        run_time.event_clock, Ids(), source, lambda event: lines.append(event.to_line())
    )


# region: real
def key_of(settings: Settings) -> str | None:
    """The key for a live model, from the variable that holds it. Raises ExperimentError."""
    name = text(settings, "model.key_env")
    if not name:
        return None
    key = os.environ.get(name, "").strip()
    if not key:
        raise ExperimentError(f"model.key_env: the variable {name} is not set; export it")
    return key


def make_other_model(settings: Settings, cancel: CancelToken) -> Model | StreamingModel:
    """A model that is not scripted: recorded or live. Raises ExperimentError."""
    if settings["model.kind"] == "recorded":
        return CassetteModel(read_cassette(text(settings, "model.cassette")))
    try:
        endpoint = Endpoint(text(settings, "model.base_url"), key_of(settings))
    except ValueError as fault:
        raise ExperimentError(f"model.base_url: {fault}") from None
    kind = ResponsesModel if settings["model.api"] == "responses" else ChatCompletionsModel
    return kind(endpoint, text(settings, "model.name"), cancel=cancel)


# endregion


def make_tokens(tools: ToolBox) -> TokenCounter:
    """What counts the requests of a run."""
    return TokenCounter(tools.descriptors())


def measured(model: Model | StreamingModel, counter: TokenCounter) -> MeasuredModel:
    """The model, whose reports correct the counter."""
    return MeasuredModel(model, counter)


def no_journal() -> Journal:
    """Records that last as long as the run."""
    return MemoryJournal()
