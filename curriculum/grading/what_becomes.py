"""Grader of s12 C: what becomes of a fault in a whole agent: predicted, then injected."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from curriculum.core.approval import ApprovalRequest, HumanApprover
from curriculum.core.budget import Limit
from curriculum.core.errors import InvalidArgumentsError, JournalError, TransientModelError
from curriculum.core.journal import Record
from curriculum.core.loop import AgentConfig, AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.meters import Turns
from curriculum.core.retry import RetryingModel
from curriculum.core.seams import CancelToken
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import Event, Recorder
from curriculum.core.waiting import VirtualTime
from curriculum.grading.mistakes import mistake
from curriculum.grading.prediction_table import rows_to_grade
from curriculum.grading.scratch import scratch
from curriculum.sessions.store import SessionStore

__unittest = True

DESIGN = 's12, "Exercises", C'
FACTS = ("becomes", "ran", "on disk", "restart", "stop")
SITUATIONS = (
    "busy, nothing shown",
    "broken, text shown",
    "arguments are no JSON",
    "no such tool",
    "the person says no",
    "Ctrl+C at the question",
    "the tool fails",
    "the tool raises",
    "disk full at tool_start",
    "disk full at tool_result",
    "no budget for the next step",
    "the trace cannot be written",
    "killed while the tool runs",
)
KILLED = "killed while the tool runs"

Row = Mapping[str, object]


class _Killed(BaseException):
    """The process is gone: nothing after this counts."""


class _Model:
    """Proposes one call, then answers; in two situations it fails first."""

    def __init__(self, situation: str) -> None:
        self._situation = situation
        self._asked = 0

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | ModelTurn]:
        self._asked += 1
        if self._asked == 1 and self._situation == "broken, text shown":
            yield "Let me"
            raise TransientModelError("broken")
        if self._asked == 1 and self._situation == "busy, nothing shown":
            raise TransientModelError("busy")
        if any(message.role == "tool" for message in messages):
            yield ModelTurn("Done.")
            return
        name = "other" if self._situation == "no such tool" else "work"
        arguments = "{" if self._situation == "arguments are no JSON" else "{}"
        yield ModelTurn(tool_calls=(ToolCall("c1", name, arguments),))


class _Work:
    """A tool with an effect that is counted, and the faults that a tool can have."""

    definition = ToolDefinition("work", "Works.", {"type": "object"})

    def __init__(self, situation: str) -> None:
        self._situation = situation
        self.ran = 0

    def prepare(self, arguments: str) -> Prepared:
        try:
            return Prepared({"what": "work"}, json.loads(arguments))
        except ValueError:
            raise InvalidArgumentsError("no JSON") from None

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        self.ran += 1
        if self._situation == "the tool raises":
            raise KeyError("a bug")
        if self._situation == KILLED:
            raise _Killed
        return ToolResult("failed" if self._situation == "the tool fails" else "completed", "so")


class _Disk:
    """A journal over a store whose disk is full from one kind of record on."""

    def __init__(self, store: SessionStore, situation: str) -> None:
        self._store = store
        self._fails_at = situation.removeprefix("disk full at ")
        self._is_full = self._is_dead = False
        self._kills = situation == KILLED

    def append(self, record: Record) -> int:
        self._is_full |= record.kind == self._fails_at
        # What a dead process would have written afterwards, it has not written.
        self._is_dead |= self._kills and record.kind == "tool_result"
        if self._is_full or self._is_dead:
            raise JournalError("no space is left on the disk")
        return self._store.append(record)


def _observer(situation: str) -> Callable[[Event], None]:
    def sink(event: Event) -> None:
        if situation == "the trace cannot be written" and event.type == "tool.start":
            raise OSError("no space is left")

    return sink


@cache
def observe_fault(situation: str) -> Row:
    """What really becomes of a run with that fault: of its events, its file, its next opening."""

    def ask(request: ApprovalRequest) -> str:
        if situation == "Ctrl+C at the question":
            raise KeyboardInterrupt
        return "n" if situation == "the person says no" else "y"

    time, cancel, work = VirtualTime(), CancelToken(), _Work(situation)
    recorder = Recorder(provenance="scripted", sink=_observer(situation))
    requests = 1 if situation == "no budget for the next step" else 8
    with scratch() as home:
        with SessionStore.create(home, "s") as store:
            runner = AgentRunner(
                RetryingModel(_Model(situation), time, cancel),
                ToolBox([work]),
                AgentConfig(max_turns=8),
                approver=HumanApprover(ask),
                journal=_Disk(store, situation),
                cancel=cancel,
                budget=Limit(Turns(), requests),
                recorder=recorder,
            )
            try:
                stop: str | None = runner.run("go").stop_reason
            except _Killed:
                stop = None
        on_disk = _last_status(store.path)
        SessionStore.open(home, "s").close()
        restart = _last_status(store.path)
    types = [event.type for event in recorder.events]
    if stop is None:
        becomes = "nothing"
    elif stop != "completed":
        becomes = "error"
    else:
        becomes = "retry" if "retry.wait" in types else "result"
    return {
        "becomes": becomes,
        "ran": work.ran,
        "on disk": on_disk,
        "restart": restart,
        "stop": stop,
    }


def _last_status(path: str) -> str | None:
    with open(path, "rb") as file:
        records = [json.loads(line) for line in file]
    statuses = [r["data"]["status"] for r in records if r["kind"] == "tool_result"]
    return statuses[-1] if statuses else None


def grade_what_becomes(table: Mapping[str, Row]) -> None:
    """C. What was predicted against what an agent with that fault shows."""
    good, findings = rows_to_grade(table, list(SITUATIONS), FACTS, DESIGN)
    for situation in good:
        seen = observe_fault(situation)
        for fact in FACTS:
            said = table[situation][fact]
            if said != seen[fact] or type(said) is not type(seen[fact]):
                told = f"you predict {fact} {said!r}, the run shows {seen[fact]!r}"
                findings.append(f"{situation!r}: {told}")
    if findings:
        saw = "\n    - ".join(["", *findings])
        raise mistake("predictions that injected faults confirm", saw, DESIGN)
