"""A trace as spans: the session, each turn in it, each request and each call in a turn.

The exporters for timelines are made of these. A span carries facts, and content apart from them,
so that an exporter without content cannot let any slip through. What is still open when the trace
ends is closed there and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

Event = dict[str, Any]

CALL_TYPES = frozenset(
    {
        *("tool.call", "approval.request", "approval.decision"),
        *("tool.start", "tool.output", "tool.result"),
    }
)


@dataclass
class Mark:
    """Something at one moment of a span, in µs since the start of the trace."""

    name: str
    at_us: int
    facts: dict[str, Any]


@dataclass
class Span:
    """`kind` is session, turn, request or call; `key` is the event that it began with.

    `failed` names what went wrong, if anything did. Times are in µs since the start of the trace.
    """

    kind: str
    name: str
    key: str
    parent: Span | None
    start_us: int
    end_us: int = -1
    failed: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    content: dict[str, Any] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)


class SpanBuilder:
    """Takes events in order and gives each span when it ends."""

    def __init__(self) -> None:
        self._session: Span | None = None
        self._turn: Span | None = None
        self._request: Span | None = None
        self._calls: dict[str, Span] = {}
        self._model = ""
        self._now = 0

    def take(self, event: Event) -> Iterator[Span]:
        """The next event."""
        kind, payload = event["type"], event["payload"]
        before, self._now = self._now, max(self._now, event["elapsed_us"])
        if kind == "session.start":
            self._model = payload.get("model", "")
            self._session = self._begin("session", payload["session_id"], event, None)
            self._session.facts.update(payload)
        elif kind == "user.message":
            # The time between two turns belongs to neither.
            for ended in self._end_turn(""):
                ended.end_us = before
                yield ended
            self._turn = self._begin("turn", "turn", event, self._session)
            self._turn.content["input"] = payload["content"]
        elif kind == "model.request":
            name = self._model or "model"
            self._request = self._begin("request", name, event, self._turn or self._session)
            self._request.facts.update(payload)
        elif kind == "model.delta" and self._request:
            self._request.marks.append(Mark(kind, self._now, {"index": payload["index"]}))
        elif kind == "model.response" and self._request:
            yield self._answer(event, payload)
        elif kind in CALL_TYPES:
            yield from self._call(event, payload)
        elif kind == "error":
            yield from self._end_turn(payload["kind"], payload["message"])
        elif kind == "session.stop" and self._session:
            yield from self._end_turn("")
            self._session.facts["reason"] = payload["reason"]
            failed = "" if payload["reason"] == "completed" else payload["reason"]
            yield self._end(self._session, failed)
            self._session = None
        else:
            span = self._turn or self._session
            if span:
                span.marks.append(Mark(kind, self._now, {}))

    def finish(self) -> Iterator[Span]:
        """There are no more events."""
        unfinished = "unfinished"
        if self._request:
            yield self._end(self._request, unfinished)
        for call in self._calls.values():
            yield self._end(call, unfinished)
        for span in (self._turn, self._session):
            if span:
                yield self._end(span, unfinished)

    def _begin(self, kind: str, name: str, event: Event, parent: Span | None) -> Span:
        return Span(kind, name, event["event_id"], parent, self._now)

    def _end(self, span: Span, failed: str = "") -> Span:
        span.end_us, span.failed = self._now, failed or span.failed
        return span

    def _answer(self, event: Event, payload: Event) -> Span:
        request, self._request = self._request, None
        assert request is not None
        request.facts.update(
            status=payload["status"],
            usage=payload.get("usage"),
            calls=len(payload["tool_calls"]),
            model=self._model or event["actor"]["id"],
        )
        request.content["output"] = payload["content"]
        request.content["tool_calls"] = payload["tool_calls"]
        return self._end(request, "" if payload["status"] == "completed" else payload["status"])

    def _call(self, event: Event, payload: Event) -> Iterator[Span]:
        call_id, kind = payload["call_id"], event["type"]
        if kind == "tool.call":
            call = self._begin("call", payload["name"], event, self._turn or self._session)
            call.facts.update(call_id=call_id)
            call.content["arguments"] = payload["arguments"]
            self._calls[call_id] = call
            return
        if call_id not in self._calls:
            return
        call = self._calls[call_id]
        facts: dict[str, Any] = {
            key: payload[key] for key in ("decision", "stream") if key in payload
        }
        call.marks.append(Mark(kind, self._now, facts))
        if kind == "tool.result":
            del self._calls[call_id]
            call.facts.update({key: payload[key] for key in _RESULT if key in payload})
            call.content["result"] = payload["output"]
            yield self._end(call, "" if payload["status"] == "completed" else payload["status"])

    def _end_turn(self, failed: str, message: str = "") -> Iterator[Span]:
        for call in self._calls.values():
            yield self._end(call, "unfinished")
        self._calls = {}
        if self._turn:
            if message:
                self._turn.content["error"] = message
            yield self._end(self._turn, failed)
            self._turn = None


_RESULT = ("status", "exit_code", "truncated", "reason", "duration_us")


def spans_of(events: Iterable[Event]) -> list[Span]:
    """All spans, in the order in which they begin."""
    builder = SpanBuilder()
    spans = [span for event in events for span in builder.take(event)]
    spans += builder.finish()
    return sorted(spans, key=lambda span: span.start_us)
