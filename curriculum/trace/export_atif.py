"""A trace as a trajectory: the Agent Trajectory Interchange Format, version 1.7.

One step for each user message and each answer; the results of an answer's calls are its step's
observation. A trace names roles of messages and not their text where it did not see it, so a
system prompt is no step. What the format has no field for is under `extra`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Event = dict[str, Any]
VERSION = "ATIF-v1.7"
NOTES = "Made from a Trace 0.1 file. System prompts are not in it; deltas are joined."


def export_atif(events: Iterable[Event]) -> dict[str, Any]:
    """The trajectory document."""
    maker = _Maker()
    for event in events:
        maker.take(event)
    return maker.finish()


class _Maker:
    """Collects steps."""

    def __init__(self) -> None:
        self._steps: list[dict[str, Any]] = []
        self._calls: dict[str, dict[str, Any]] = {}
        self._of_call: dict[str, dict[str, Any]] = {}
        self._session: Event = {}
        self._trace_id = ""
        self._tokens = [0, 0]
        self._stop = ""

    def take(self, event: Event) -> None:
        kind, payload = event["type"], event["payload"]
        self._trace_id = event["trace_id"]
        if kind == "session.start":
            self._session = payload
        elif kind == "user.message":
            self._add(event, "user", payload["content"])
        elif kind == "model.response":
            self._answer(event, payload)
        elif kind == "approval.decision" and payload["call_id"] in self._calls:
            call = self._calls[payload["call_id"]]
            decision = {"decision": payload["decision"], "by": event["actor"]["kind"]}
            call["extra"] = {**call.get("extra", {}), "approval": decision}
        elif kind == "tool.result" and payload["call_id"] in self._of_call:
            self._result(payload)
        elif kind == "session.stop":
            self._stop = payload["reason"]

    def _add(self, event: Event, source: str, message: str) -> dict[str, Any]:
        step = {
            "step_id": len(self._steps) + 1,
            "timestamp": event["timestamp"],
            "source": source,
            "message": message,
        }
        self._steps.append(step)
        return step

    def _answer(self, event: Event, payload: Event) -> None:
        step = self._add(event, "agent", payload["content"])
        step["llm_call_count"] = 1
        step["model_name"] = self._session.get("model") or event["actor"]["id"]
        if payload["status"] != "completed":
            step["extra"] = {"status": payload["status"]}
        usage = payload.get("usage")
        if usage:
            step["metrics"] = {
                "prompt_tokens": usage["input_tokens"],
                "completion_tokens": usage["output_tokens"],
            }
            self._tokens[0] += usage["input_tokens"]
            self._tokens[1] += usage["output_tokens"]
        calls = [_call(proposed) for proposed in payload["tool_calls"]]
        if calls:
            step["tool_calls"] = calls
        for call in calls:
            self._calls[call["tool_call_id"]] = call
            self._of_call[call["tool_call_id"]] = step

    def _result(self, payload: Event) -> None:
        step = self._of_call[payload["call_id"]]
        result = {"source_call_id": payload["call_id"], "content": payload["output"]}
        more = {
            key: payload[key]
            for key in ("status", "exit_code", "truncated", "reason", "duration_us")
            if key in payload
        }
        observation = step.setdefault("observation", {"results": []})
        observation["results"].append({**result, "extra": more})

    def finish(self) -> dict[str, Any]:
        harness = self._session.get("harness", {"name": "unknown", "version": "unknown"})
        agent = {"name": harness["name"], "version": harness["version"]}
        if self._session.get("model"):
            agent["model_name"] = self._session["model"]
        return {
            "schema_version": VERSION,
            "session_id": self._session.get("session_id"),
            "trajectory_id": self._trace_id,
            "agent": agent,
            "steps": self._steps,
            "notes": NOTES,
            "final_metrics": {
                "total_prompt_tokens": self._tokens[0],
                "total_completion_tokens": self._tokens[1],
                "total_steps": len(self._steps),
            },
            "extra": {"stop_reason": self._stop or None},
        }


def _call(proposed: Event) -> dict[str, Any]:
    """A call; its arguments are an object, or kept as text under `extra` if they are none."""
    call = {"tool_call_id": proposed["call_id"], "function_name": proposed["name"]}
    try:
        arguments = json.loads(proposed["arguments"])
    except (ValueError, RecursionError):
        arguments = None
    if isinstance(arguments, dict):
        return {**call, "arguments": arguments}
    return {**call, "arguments": {}, "extra": {"raw_arguments": proposed["arguments"]}}
