"""One line about an event, for people: what happened and the words that matter.

Everything that comes from a trace is escaped: nothing in it can move the cursor or pose as ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curriculum.core.visible import quote

LONGEST_TEXT = 60


def shorten(text: str, most: int = LONGEST_TEXT) -> str:
    """A text in quotes on one line, cut after `most` characters with an ellipsis behind."""
    return quote(text) if len(text) <= most else f"{quote(text[:most])}…"


def describe(event: Mapping[str, Any], most: int = LONGEST_TEXT) -> str:
    """What happened, on one line."""
    kind, payload = event["type"], event["payload"]
    told = _TELL.get(kind)
    return f"{kind} {told(payload, most)}".rstrip() if told else _plain(kind)


def _plain(text: str) -> str:
    """A word of the trace, quoted if it is anything but a plain word."""
    return text if text and text.isprintable() and " " not in text else quote(text)


def _answer(payload: Mapping[str, Any], most: int) -> str:
    calls = ", ".join(_plain(call["name"]) for call in payload["tool_calls"])
    parts = [payload["status"], shorten(payload["content"], most) if payload["content"] else ""]
    if calls:
        parts.append(f"calls {calls}")
    return " ".join(filter(None, parts))


def _request(payload: Mapping[str, Any], most: int) -> str:
    again = f", attempt {payload['attempt']}" if payload["attempt"] > 1 else ""
    count = payload["message_count"]
    return f"{payload['turn']}: {count} message{'' if count == 1 else 's'}{again}"


def _display(payload: Mapping[str, Any], most: int) -> str:
    display = payload["display"]
    shown = display.get("command", next(iter(display.values()), ""))
    said = shorten(shown, most) if isinstance(shown, str) else ""
    return f"{_plain(payload['call_id'])} {said}".rstrip()


def _result(payload: Mapping[str, Any], most: int) -> str:
    code = f" (exit code {payload['exit_code']})" if "exit_code" in payload else ""
    why = f" ({payload['reason']})" if "reason" in payload else ""
    output = shorten(payload["output"], most)
    return f"{_plain(payload['call_id'])} {payload['status']}{code}{why} {output}"


def _start(payload: Mapping[str, Any], most: int) -> str:
    model = f" model: {_plain(payload['model'])}" if "model" in payload else ""
    return f"{_plain(payload['session_id'])}{model}"


def _spend(payload: Mapping[str, Any], most: int) -> str:
    aside = f", {payload['reserved']} set aside" if payload.get("reserved") else ""
    spent = f"{payload['spent']} of {payload['limit']} {_plain(payload['unit'])} spent"
    return f"{payload['resource']}: {spent}{aside}, {payload['remaining']} left"


def _recover(payload: Mapping[str, Any], most: int) -> str:
    closed = payload["closed"]
    torn = f", {payload['torn_bytes']} torn bytes" if payload.get("torn_bytes") else ""
    notice = f" {shorten(payload['notice'], most)}" if payload.get("notice") else ""
    calls = f"{closed['not_executed']} calls not executed, {closed['unknown']} unknown"
    return f"{_plain(payload['session_id'])}: {calls}{torn}{notice}"


_TELL: dict[str, Any] = {
    "session.start": _start,
    "user.message": lambda p, most: shorten(p["content"], most),
    "model.request": _request,
    "model.delta": lambda p, most: shorten(p["text"], most),
    "model.response": _answer,
    "retry.wait": lambda p, most: f"{p['wait_us']} µs after {shorten(p['cause'], most)}",
    "context.compact": lambda p, most: (
        f"{p['policy']}: {p['message_count_before']} to {p['message_count']} messages"
    ),
    "tool.call": lambda p, most: (
        f"{_plain(p['call_id'])} {_plain(p['name'])} {shorten(p['arguments'], most)}"
    ),
    "approval.request": _display,
    "approval.decision": lambda p, most: (
        f"{_plain(p['call_id'])} {p['decision']}"
        + (f" {shorten(p['rationale'], most)}" if p.get("rationale") else "")
    ),
    "tool.start": _display,
    "tool.output": lambda p, most: f"{_plain(p['call_id'])} {shorten(p['text'], most)}",
    "tool.result": _result,
    "journal.append": lambda p, most: f"{_plain(p['record_kind'])} at {p['position']}",
    "budget.spend": _spend,
    "session.recover": _recover,
    "outcome.acknowledge": lambda p, most: f"{_plain(p['call_id'])} by {p['by']}",
    "cancel.request": lambda p, most: f"by {p['by']}",
    "error": lambda p, most: f"{p['kind']}: {shorten(p['message'], most)}",
    "session.stop": lambda p, most: p["reason"],
}
