"""Parts that the tests of the core plug into a runner, and the one check every run must pass."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from curriculum.core.approval import ApprovalRequest, Decision
from curriculum.core.errors import InvalidArgumentsError
from curriculum.core.journal import Record
from curriculum.core.loop import AgentConfig, AgentRunner, RunResult
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import Event, Recorder
from curriculum.trace.engines import make_engine
from curriculum.trace.validate import Options, Validation


class Probe:
    """A tool that remembers what was prepared and what ran."""

    def __init__(self, name: str = "probe", act: Callable[[RunningCall], object] | None = None):
        self.definition = ToolDefinition(name, "A test tool.", {"type": "object"})
        self.prepared: list[str] = []
        self.ran: list[str] = []
        self._act = act

    def prepare(self, arguments: str) -> Prepared:
        if arguments == "bad":
            raise InvalidArgumentsError("these arguments are bad")
        self.prepared.append(arguments)
        return Prepared({"arguments": arguments, "environment": {"A": "1"}}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        self.ran.append(str(prepared.action))
        outcome = self._act(call) if self._act else None
        return outcome if outcome is not None else ToolResult("completed", "ran")  # type: ignore[return-value]


class Answers:
    """An approver that gives the same answer every time and remembers the questions."""

    def __init__(self, decision: str = "allow", kind: str = "user") -> None:
        self.asked: list[ApprovalRequest] = []
        self._decision = Decision(decision, kind, "tester", "so decided")  # type: ignore[arg-type]

    def decide(self, request: ApprovalRequest) -> Decision:
        self.asked.append(request)
        return self._decision


class SpyJournal:
    """Keeps records with a position; `fail_at` counts appends from 0."""

    def __init__(self, fail_at: int | None = None) -> None:
        self.records: list[Record] = []
        self._fail_at = fail_at
        self.look: Callable[[Record], None] = lambda record: None

    def append(self, record: Record) -> int:
        self.look(record)
        if len(self.records) == self._fail_at:
            raise OSError(28, "No space left on device")
        self.records.append(record)
        return len(self.records) - 1


def call(number: int, name: str = "probe", arguments: str = "{}") -> ToolCall:
    return ToolCall(f"call-{number}", name, arguments)


def asks(*calls: ToolCall, text: str = "") -> ModelTurn:
    return ModelTurn(text, calls)


def runner_of(
    script: Iterable[ModelTurn | BaseException],
    *tools: Probe,
    max_turns: int = 8,
    max_tool_calls: int = 16,
    granted: bool = True,
    **seams: Any,
) -> AgentRunner:
    """A runner over a scripted model, on the golden clock."""
    return AgentRunner(
        ScriptedModel(script),  # type: ignore[arg-type]
        ToolBox(tools, [tool.definition.name for tool in tools] if granted else []),
        AgentConfig(max_turns, max_tool_calls),
        recorder=seams.pop("recorder", None) or Recorder.golden(),
        **seams,
    )


def types(result: RunResult) -> list[str]:
    return [event.type for event in result.events]


def events_of(result: RunResult, type: str) -> list[Event]:
    return [event for event in result.events if event.type == type]


def payloads(result: RunResult, type: str) -> list[Mapping[str, Any]]:
    return [event.payload for event in events_of(result, type)]


def statuses(result: RunResult) -> dict[str, str]:
    return {p["call_id"]: p["status"] for p in payloads(result, "tool.result")}


engine = functools.cache(make_engine)  # thousands of short runs are held against one schema


def findings_in(result: RunResult) -> list[str]:
    data = io.BytesIO("".join(event.to_line() for event in result.events).encode())
    report = Validation(engine(), Options(is_strict=True)).run(data.read)
    assert report.verdict.name.lower() == "complete" or report.findings, report.verdict
    return [f"{f.line} {f.code} {f.message}" for f in report.findings]


def ends_well(result: RunResult) -> RunResult:
    """What holds of every run, whatever happened in it; returns the result."""
    assert findings_in(result) == []
    seen = types(result)
    assert seen.count("session.stop") == 1
    assert seen[-1] == "session.stop"
    failed = result.stop_reason != "completed"
    assert seen.count("error") == failed
    assert (seen[-2] == "error") == failed
    assert (result.error is not None) == failed
    assert result.events[-1].payload["reason"] == result.stop_reason
    proposed = [p["call_id"] for p in payloads(result, "tool.call")]
    assert sorted(proposed) == sorted(p["call_id"] for p in payloads(result, "tool.result"))
    return result
