"""Grader of s07 C: what becomes of a turn, predicted by a table and shown by the real adapter."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from curriculum.core.loop import AgentRunner
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.grading.mistakes import mistake
from curriculum.grading.prediction_table import rows_to_grade
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.responses import ResponsesModel
from curriculum.providers.scripted_endpoint import ScriptedEndpoint
from curriculum.providers.scripted_handler import format_event

__unittest = True

DESIGN = 's07, "Exercises", C'
FACTS = ("response", "ran", "error", "retryable", "stop")

Row = Mapping[str, object]
Step = dict[str, Any]

TEXT = "Let me look."
MESSAGE = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": TEXT}],
}
CALL = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}


def _event(type: str, **fields: Any) -> Step:
    return {"event": {"type": type, **fields}}


def _done(item: Step) -> Step:
    return _event("response.output_item.done", item=item)


def _completed(*items: Step) -> Step:
    return _event("response.completed", response={"status": "completed", "output": list(items)})


def _failed(code: str) -> Step:
    error = {"code": code, "message": "sorry"}
    return _event("response.failed", response={"status": "failed", "error": error})


SHOWN = _event("response.output_text.delta", delta=TEXT)
BEGUN = [SHOWN, _done(MESSAGE), _done(CALL)]
COMPLETED = _completed(MESSAGE, CALL)
ERROR = _event("error", code="rate_limit_exceeded", message="slow down")
TWICE = {**CALL, "name": "look again"}
NO_ID = {"type": "function_call", "name": "look", "arguments": "{}"}
OTHER = {**MESSAGE, "content": [{"type": "output_text", "text": "Let me see."}]}
CUT_OFF = {"reason": "max_output_tokens"}

STREAMS: Mapping[str, list[Step]] = {
    "completed": [*BEGUN, COMPLETED],
    "completed, no blank line": [
        *BEGUN,
        {"raw": format_event(COMPLETED["event"]).decode().removesuffix("\n")},
    ],
    "completed, items only there": [SHOWN, COMPLETED],
    "failed, server_error": [*BEGUN, _failed("server_error")],
    "failed, context too long": [*BEGUN, _failed("context_length_exceeded")],
    "incomplete": [
        *BEGUN,
        _event("response.incomplete", response={"incomplete_details": CUT_OFF}),
    ],
    "error event": [*BEGUN, ERROR],
    "clean end": BEGUN,
    "connection reset": [*BEGUN, {"reset": True}],
    "[DONE]": [*BEGUN, {"raw": "data: [DONE]\n\n"}],
    "no call_id": [SHOWN, _done(MESSAGE), _done(NO_ID), _completed(MESSAGE, NO_ID)],
    "one call_id twice": [*BEGUN, _done(TWICE), _completed(MESSAGE, CALL, TWICE)],
    "other text": [SHOWN, _done(OTHER), _done(CALL), _completed(OTHER, CALL)],
    "unknown event": [SHOWN, _event("response.new_kind", x=1), *BEGUN[1:], COMPLETED],
    "completed, then error": [*BEGUN, COMPLETED, ERROR],
}


class _Look:
    """A tool that counts how often it ran."""

    def __init__(self, name: str) -> None:
        self.definition = ToolDefinition(name, "Looks.", {"type": "object"})
        self.ran = 0

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        self.ran += 1
        return ToolResult("completed", "seen")


@cache
def observe_ending(situation: str) -> Row:
    """What really becomes of a turn whose first stream is this one."""
    looks = [_Look("look"), _Look("look again")]
    tools = ToolBox(looks, granted=[look.definition.name for look in looks])
    exchanges = [{"send": STREAMS[situation]}, {"answer": {"text": "Done."}}]
    with ScriptedEndpoint({"exchanges": exchanges}) as server:
        model = ResponsesModel(Endpoint(server.url, "key", silence_seconds=10), "scripted")
        result = AgentRunner(model, tools).run("go")
    responses = [event for event in result.events if event.type == "model.response"]
    return {
        "response": responses[0].payload["status"],
        "ran": sum(look.ran for look in looks),
        "error": type(result.error).__name__ if result.error else None,
        "retryable": result.error.retryable if result.error else None,
        "stop": result.stop_reason,
    }


def grade_stream_endings(table: Mapping[str, Row]) -> None:
    """C. What was predicted against what the adapter does, ending by ending. Needs httpx."""
    good, findings = rows_to_grade(table, list(STREAMS), FACTS, DESIGN)
    for situation in good:
        seen = observe_ending(situation)
        for fact in FACTS:
            said = table[situation][fact]
            if said != seen[fact] or type(said) is not type(seen[fact]):
                told = f"you predict {fact} {said!r}, the run shows {seen[fact]!r}"
                findings.append(f"{situation!r}: {told}")
    if findings:
        saw = "\n    - ".join(["", *findings])
        raise mistake("predictions that real runs confirm", saw, DESIGN)
