"""Grader of s10 C: what becomes of a call in a batch, predicted by a table, shown by real runs."""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping

from curriculum.core.approval import ApprovalRequest, Decision
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.parallel import ParallelReads
from curriculum.core.seams import CancelToken
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.grading.mistakes import mistake
from curriculum.grading.prediction_table import rows_to_grade

__unittest = True

DESIGN = 's10, "Exercises", C'
WAIT_SECONDS = 5  # both reads run at once, so neither waits that long
FACTS = ("status", "starts", "model reads it")

# The batch of each situation: (tool, what it does); the call that is meant is marked by a star.
SITUATIONS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "a read beside one that fails": (("read", "fail"), ("read*", "work")),
    "a read beside one with a bug": (("read", "bug"), ("read*", "work")),
    "the read with the bug": (("read*", "bug"), ("read", "work")),
    "a write after a read that failed": (("read", "fail"), ("write*", "work")),
    "a write after a read with a bug": (("read", "bug"), ("write*", "work")),
    "a third read after two of which one cancels": (
        ("read", "cancel"),
        ("read", "work"),
        ("read*", "work"),
    ),
    "a read whose neighbour cancels": (("read", "cancel late"), ("read*", "await")),
    "a read whose neighbour is denied": (("read", "deny"), ("read*", "work")),
    "a read whose neighbour is interrupted at the question": (
        ("read*", "work"),
        ("read", "interrupt"),
    ),
    "a read between two writes": (("write", "work"), ("read*", "work"), ("write", "work")),
}

Row = Mapping[str, object]


class Told:
    """A tool that does what its arguments say."""

    def __init__(self, name: str, cancel: CancelToken) -> None:
        self.definition = ToolDefinition(name, "Does as told.", {"type": "object"}, name == "read")
        self._cancel = cancel
        self._awaiting, self._cancelled = threading.Event(), threading.Event()

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({"do": arguments}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        if prepared.action == "bug":
            raise ZeroDivisionError("a bug in the tool")
        if prepared.action == "cancel late":
            self._awaiting.wait(WAIT_SECONDS)
        if prepared.action in ("cancel", "cancel late"):
            self._cancel.cancel("user")
            self._cancelled.set()
        if prepared.action == "await":
            self._awaiting.set()
            self._cancelled.wait(WAIT_SECONDS)
        return ToolResult("failed" if prepared.action == "fail" else "completed", "said")


class Person:
    """Answers as the question says."""

    def decide(self, request: ApprovalRequest) -> Decision:
        if request.display["do"] == "interrupt":
            raise KeyboardInterrupt
        allowed = request.display["do"] != "deny"
        return Decision("allow" if allowed else "deny", "user", "tester")


def observe_situation(situation: str, seed: int) -> Row:
    """What really becomes of the call that is meant, read from the trace and the requests."""
    ids = [f"id-{number}" for number in random.Random(seed).sample(range(10**6), 3)]
    batch, cancel = SITUATIONS[situation], CancelToken()
    calls = [ToolCall(i, name.rstrip("*"), do) for i, (name, do) in zip(ids, batch, strict=False)]
    [call_id] = [i for i, (name, _) in zip(ids, batch, strict=False) if name.endswith("*")]
    tools = ToolBox([Told(name, cancel) for name in ("read", "write")])
    model = ScriptedModel([ModelTurn(tool_calls=tuple(calls)), ModelTurn("done")])
    runner = AgentRunner(
        model, tools, approver=Person(), cancel=cancel, scheduler=ParallelReads(cancel, 2)
    )
    events = [e for e in runner.run("go").events if e.payload.get("call_id") == call_id]
    [status] = [event.payload["status"] for event in events if event.type == "tool.result"]
    read = [m.call_id for request in model.requests for m in request if m.role == "tool"]
    return {
        "status": status,
        "starts": "tool.start" in [event.type for event in events],
        "model reads it": call_id in read,
    }


def grade_outcomes(table: Mapping[str, Row]) -> None:
    """C. What was predicted against what the trace shows, situation by situation."""
    good, findings = rows_to_grade(table, list(SITUATIONS), FACTS, DESIGN)
    for situation in good:
        row = table[situation]
        real = observe_situation(situation, len(situation))
        findings += [
            f"{situation!r}: you predict {fact} {row[fact]!r}, the trace shows {real[fact]!r}"
            for fact in FACTS
            if (row[fact], type(row[fact])) != (real[fact], type(real[fact]))
        ]
    if findings:
        raise mistake("predictions that come true", "\n    - ".join(["", *findings]), DESIGN)
