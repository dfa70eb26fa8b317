"""Grader of s03 C: what becomes of a call, predicted by a table and shown by real runs."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping

from curriculum.core.approval import ApprovalRequest, Decision
from curriculum.core.errors import InvalidArgumentsError
from curriculum.core.loop import AgentConfig, AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.seams import CancelToken
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.grading.mistakes import mistake
from curriculum.grading.prediction_table import rows_to_grade
from curriculum.grading.tool_under_test import Answers

__unittest = True

DESIGN = 's03, "Exercises", C'


class Probe:
    """A tool that does what its argument says: "work", "fail", "bug", or "cancel" the run."""

    definition = ToolDefinition("probe", "Does as it is told.", {"type": "object"})

    def __init__(self, cancel: CancelToken | None = None) -> None:
        self._cancel = cancel or CancelToken()

    def prepare(self, arguments: str) -> Prepared:
        fields = json.loads(arguments)
        if "do" not in fields:
            raise InvalidArgumentsError("the field do is missing")
        return Prepared({"do": fields["do"]}, (fields["do"], fields.get("say", "")))

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        action = prepared.action
        assert isinstance(action, tuple)
        do, say = action
        if do == "bug":
            raise ZeroDivisionError("a bug in the tool")
        if do == "cancel":
            self._cancel.cancel("user")
        return ToolResult("failed" if do == "fail" else "completed", say)


def probe_call(call_id: str, do: str, say: str = "") -> ToolCall:
    """A call of the probe."""
    return ToolCall(call_id, "probe", json.dumps({"do": do, "say": say}))


SITUATIONS = (
    "allowed and it works",
    "allowed and it fails",
    "denied",
    "arguments break the definition",
    "no tool has that name",
    "no model request is left",
    "more calls than allowed",
    "the tool has a bug",
    "the approver has a bug",
    "cancelled before its turn",
)
FACTS = ("status", "asked", "starts", "model reads it")

Row = Mapping[str, object]


class _Broken:
    """An approver that cannot answer."""

    def decide(self, request: ApprovalRequest) -> Decision:
        raise ConnectionError("nobody there")


def observe_situation(situation: str, seed: int) -> Row:
    """What really becomes of a call in that situation, read from the trace and the requests."""
    rng = random.Random(seed)
    call_id, cancel = f"id-{rng.randrange(10**6)}", CancelToken()
    do = {"allowed and it fails": "fail", "the tool has a bug": "bug"}.get(situation, "work")
    call = probe_call(call_id, do, f"word-{rng.randrange(10**6)}")
    if situation == "arguments break the definition":
        call = ToolCall(call_id, "probe", '{"undo": 1}')
    if situation == "no tool has that name":
        call = ToolCall(call_id, "fiction")
    calls, config = [call], AgentConfig()
    if situation == "no model request is left":
        config = AgentConfig(max_turns=1)
    if situation == "more calls than allowed":
        config = AgentConfig(max_tool_calls=rng.randrange(1))
    if situation == "cancelled before its turn":
        calls.insert(0, probe_call("before", "cancel"))
    model = ScriptedModel([ModelTurn(tool_calls=tuple(calls)), ModelTurn("done")])
    approver = Answers("deny" if situation == "denied" else "allow")
    runner = AgentRunner(
        model,
        ToolBox([Probe(cancel)]),
        config,
        approver=_Broken() if situation == "the approver has a bug" else approver,
        cancel=cancel,
    )
    events = [e for e in runner.run("go").events if e.payload.get("call_id") == call_id]
    types = [event.type for event in events]
    [status] = [event.payload["status"] for event in events if event.type == "tool.result"]
    read = [m.call_id for request in model.requests for m in request if m.role == "tool"]
    return {
        "status": status,
        "asked": "approval.request" in types,
        "starts": "tool.start" in types,
        "model reads it": call_id in read,
    }


def grade_result_status(table: Mapping[str, Row]) -> None:
    """C. What was predicted against what the trace shows, situation by situation."""
    good, findings = rows_to_grade(table, list(SITUATIONS), FACTS, DESIGN)
    for situation in good:
        row = table[situation]
        real = observe_situation(situation, random.Random(situation).randrange(100))
        findings += [
            f"{situation!r}: you predict {fact} {row[fact]!r}, the trace shows {real[fact]!r}"
            for fact in FACTS
            if (row[fact], type(row[fact])) != (real[fact], type(real[fact]))
        ]
    if findings:
        raise mistake("predictions that come true", "\n    - ".join(["", *findings]), DESIGN)
