"""A short, right trace as plain events, to be broken in one place at a time.

`calls()` is one turn with one approved call; `numbered` makes the envelope fit again after events
were taken out, put in or moved, so that a case breaks the one rule that it is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from curriculum.core.trace import format_timestamp, to_json

Event = dict[str, Any]
START_US = 1_767_225_600_000_000
CALL = {"call_id": "call-1", "name": "bash", "arguments": '{"command":"date"}'}


def event(kind: str, actor: str, /, **payload: Any) -> Event:
    """An event without its place in a file."""
    return {
        "trace_version": "0.1",
        "trace_id": "trace-1",
        "type": kind,
        "actor": {"kind": actor, "id": actor},
        "provenance": {"source": "scripted"},
        "redaction": {"status": "unchecked"},
        "payload": payload,
    }


def start(**payload: Any) -> Event:
    return event(
        "session.start",
        "harness",
        session_id="session-1",
        harness={"name": "curriculum", "version": "0.1"},
        model="model",
        tools=["bash"],
        config={"max_turns": 8, "max_tool_calls": 16},
        **payload,
    )


def user(content: str = "What time is it?") -> Event:
    return event("user.message", "user", content=content)


def request(number: int, *roles: str, **payload: Any) -> Event:
    fields = {
        "request_id": f"request-{number}",
        "attempt": 1,
        "turn": number,
        "roles": list(roles),
        "message_count": len(roles),
    }
    return event("model.request", "harness", **{**fields, **payload})


def delta(number: int, index: int, text: str) -> Event:
    return event("model.delta", "model", request_id=f"request-{number}", index=index, text=text)


def response(number: int, content: str, *calls: Event, **payload: Any) -> Event:
    fields = {
        "request_id": f"request-{number}",
        "status": "completed",
        "content": content,
        "tool_calls": list(calls),
        "chunks": {"count": 0, "complete": True},
        "stop": not calls,
    }
    return event("model.response", "model", **{**fields, **payload})


def failed(number: int, **payload: Any) -> Event:
    chunks = {"count": 0, "complete": False}
    return response(number, "", status="failed", **{"chunks": chunks, **payload})


def call(number: int = 1, **payload: Any) -> Event:
    return event("tool.call", "model", **{"request_id": f"request-{number}", **CALL, **payload})


def question(**payload: Any) -> Event:
    fields = {"approval_id": "approval-1", "call_id": "call-1", "display": {"command": "date"}}
    return event("approval.request", "harness", **{**fields, **payload})


def decision(word: str = "allow", actor: str = "user", **payload: Any) -> Event:
    fields = {"approval_id": "approval-1", "call_id": "call-1", "decision": word}
    return event("approval.decision", actor, **{**fields, **payload})


def begun(call_id: str = "call-1") -> Event:
    return event("tool.start", "harness", call_id=call_id, display={"command": "date"})


def output(index: int = 0, call_id: str = "call-1") -> Event:
    return event(
        "tool.output", "tool", call_id=call_id, index=index, stream="stdout", text="noon\n"
    )


def result(status: str = "completed", call_id: str = "call-1", **payload: Any) -> Event:
    actor = "tool" if status in ("completed", "failed") else "harness"
    made = event("tool.result", actor, call_id=call_id, status=status, output="noon\n", **payload)
    if status == "unknown":
        made["provenance"] = {"source": "synthesized"}
    return made


def error(kind: str = "model") -> Event:
    return event("error", "harness", kind=kind, message="it went wrong", retryable=False)


def stop(reason: str = "completed") -> Event:
    return event("session.stop", "harness", reason=reason, event_count=0)


def calls() -> list[Event]:
    """One turn: two deltas, one call that was asked about, its output, the answer."""
    return [
        start(),
        user(),
        request(1, "user"),
        delta(1, 0, "Let me "),
        delta(1, 1, "look."),
        response(1, "Let me look.", CALL, chunks={"count": 2, "complete": True}),
        call(),
        question(),
        decision(),
        begun(),
        output(),
        result(),
        request(2, "user", "assistant", "tool"),
        response(2, "It is noon."),
        stop(),
    ]


def place(events: Sequence[Event], kind: str, nth: int = 0) -> int:
    """The index of the nth event of a type."""
    return [index for index, event in enumerate(events) if event["type"] == kind][nth]


def numbered(events: Iterable[Event]) -> list[Event]:
    """The events with an envelope that fits their places."""
    made: list[Event] = []
    for index, given in enumerate(events):
        envelope = {
            "event_id": f"event-{index + 1}",
            "sequence": index,
            "parent_id": f"event-{index}" if index else None,
            "timestamp": format_timestamp(START_US + 1000 * index),
            "elapsed_us": 1000 * index,
        }
        fresh = {**given, **envelope, "payload": dict(given["payload"])}
        if fresh["type"] == "session.stop":
            fresh["payload"]["event_count"] = index + 1
        made.append(fresh)
    return made


def to_bytes(events: Iterable[Event]) -> bytes:
    """The events as the lines of a file."""
    return "".join(to_json(event) + "\n" for event in events).encode()
