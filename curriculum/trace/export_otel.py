"""A trace as OTLP JSON, in the words of OpenTelemetry's GenAI semantic conventions.

The version of the conventions is pinned and named in the output (`schemaUrl`): they are still
in development, so a name means what it meant in that version. Content (prompts, answers,
arguments, results) is left out unless it is asked for.
"""

from __future__ import annotations

import calendar
import hashlib
import json
import time
from collections.abc import Iterable
from typing import Any

from curriculum import __version__
from curriculum.trace.spans import Event, Span, spans_of

CONVENTIONS = "1.41.0"
SCHEMA_URL = f"https://opentelemetry.io/schemas/{CONVENTIONS}"
INTERNAL, CLIENT = 1, 3
ERROR = 2


def export_otel(events: Iterable[Event], with_content: bool) -> dict[str, Any]:
    """One `ExportTraceServiceRequest` in OTLP's JSON encoding."""
    first: list[Event] = []

    def remember() -> Iterable[Event]:
        for event in events:
            if not first:
                first.append(event)
            yield event

    spans = spans_of(remember())
    nothing: Event = {"trace_id": "", "payload": {}, "timestamp": "", "elapsed_us": 0}
    head = first[0] if first else nothing
    harness = head["payload"].get("harness", {"name": "unknown", "version": ""})
    start_us = epoch_us(head["timestamp"]) - head["elapsed_us"]
    writer = _Writer(head["trace_id"], start_us, harness["name"], with_content)
    resource = {"service.name": harness["name"], "service.version": harness["version"]}
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(resource)},
                "scopeSpans": [
                    {
                        "scope": {"name": "curriculum.trace", "version": __version__},
                        "spans": [writer.write(span) for span in spans],
                        "schemaUrl": SCHEMA_URL,
                    }
                ],
                "schemaUrl": SCHEMA_URL,
            }
        ]
    }


def epoch_us(timestamp: str) -> int:
    """Microseconds since the Unix epoch; 0 for no timestamp."""
    if not timestamp:
        return 0
    second = calendar.timegm(
        time.strptime(timestamp[:19].replace(":60", ":59"), "%Y-%m-%dT%H:%M:%S")
    )
    return second * 1_000_000 + int(timestamp[20:26])


class _Writer:
    """Writes spans of one trace. Ids are digests, so the same trace gives the same ids."""

    def __init__(self, trace_id: str, start_us: int, agent: str, with_content: bool) -> None:
        self._trace_id, self._start_us = trace_id, start_us
        self._agent, self._with_content = agent, with_content
        self._conversation = ""
        self._history: list[dict[str, Any]] = []

    def _digest(self, text: str, length: int) -> str:
        return hashlib.sha256(f"{self._trace_id}\n{text}".encode()).hexdigest()[:length]

    def _nano(self, at_us: int) -> str:
        return str((self._start_us + at_us) * 1000)

    def write(self, span: Span) -> dict[str, Any]:
        name, kind, attributes = getattr(self, f"_{span.kind}")(span)
        if span.failed:
            attributes["error.type"] = span.failed
        written: dict[str, Any] = {
            "traceId": self._digest("", 32),
            "spanId": self._digest(span.key, 16),
            "name": name,
            "kind": kind,
            "startTimeUnixNano": self._nano(span.start_us),
            "endTimeUnixNano": self._nano(span.end_us),
            "attributes": _attributes(attributes),
            "events": [
                {
                    "name": f"curriculum.{mark.name}",
                    "timeUnixNano": self._nano(mark.at_us),
                    "attributes": _attributes(
                        {f"curriculum.{key}": fact for key, fact in mark.facts.items()}
                    ),
                }
                for mark in span.marks
            ],
            "status": {"code": ERROR} if span.failed else {},
        }
        if span.parent:
            written["parentSpanId"] = self._digest(span.parent.key, 16)
        return written

    def _session(self, span: Span) -> tuple[str, int, dict[str, Any]]:
        self._conversation = span.name
        about = {"gen_ai.conversation.id": span.name, "curriculum.reason": span.facts.get("reason")}
        return "session", INTERNAL, about

    def _turn(self, span: Span) -> tuple[str, int, dict[str, Any]]:
        about = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": self._agent,
            "gen_ai.conversation.id": self._conversation,
        }
        if self._with_content:
            message = _message("user", _text(span.content["input"]))
            self._history.append(message)
            about["gen_ai.input.messages"] = json.dumps([message])
        return f"invoke_agent {self._agent}", INTERNAL, about

    def _request(self, span: Span) -> tuple[str, int, dict[str, Any]]:
        facts = span.facts
        model, usage = facts.get("model", span.name), facts.get("usage") or {}
        about = {
            "gen_ai.operation.name": "chat",
            # The trace does not say who provided the model; the attribute is required.
            "gen_ai.provider.name": "unknown",
            "gen_ai.request.model": model,
            "gen_ai.conversation.id": self._conversation,
            "gen_ai.usage.input_tokens": usage.get("input_tokens"),
            "gen_ai.usage.output_tokens": usage.get("output_tokens"),
            "gen_ai.response.finish_reasons": [self._finish(span)],
            "curriculum.attempt": facts["attempt"],
            "curriculum.message_count": facts["message_count"],
        }
        if self._with_content and "output" in span.content:
            about["gen_ai.input.messages"] = json.dumps(self._history)
            parts = _text(span.content["output"])
            parts += [
                {
                    "type": "tool_call",
                    "id": call["call_id"],
                    "name": call["name"],
                    "arguments": call["arguments"],
                }
                for call in span.content["tool_calls"]
            ]
            message = _message("assistant", parts)
            answer = {**message, "finish_reason": self._finish(span)}
            about["gen_ai.output.messages"] = json.dumps([answer])
            if not span.failed:
                self._history.append(message)
        return f"chat {model}", CLIENT, about

    def _finish(self, span: Span) -> str:
        if span.failed:
            return "error"
        return "tool_call" if span.facts.get("calls") else "stop"

    def _call(self, span: Span) -> tuple[str, int, dict[str, Any]]:
        facts, content = span.facts, span.content
        about = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": span.name,
            "gen_ai.tool.call.id": facts["call_id"],
            "gen_ai.tool.type": "function",
            **{f"curriculum.{key}": facts[key] for key in ("status", "exit_code") if key in facts},
        }
        if self._with_content:
            about["gen_ai.tool.call.arguments"] = content["arguments"]
            if "result" in content:
                about["gen_ai.tool.call.result"] = content["result"]
                response = {"type": "tool_call_response", "id": facts["call_id"]}
                part = {**response, "response": content["result"]}
                self._history.append(_message("tool", [part]))
        return f"execute_tool {span.name}", INTERNAL, about


def _text(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "content": text}] if text else []


def _message(role: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"role": role, "parts": parts}


def _attributes(facts: dict[str, Any]) -> list[dict[str, Any]]:
    """Facts as OTLP attributes; those that are None are left out."""
    return [{"key": key, "value": _value(fact)} for key, fact in facts.items() if fact is not None]


def _value(fact: Any) -> dict[str, Any]:
    if isinstance(fact, bool):
        return {"boolValue": fact}
    if isinstance(fact, int):
        return {"intValue": str(fact)}
    if isinstance(fact, list):
        return {"arrayValue": {"values": [_value(item) for item in fact]}}
    return {"stringValue": str(fact)}
