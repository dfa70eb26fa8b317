"""The state machine of a run, as its events show it: where the run is after each of them.

This is the loop of the first lesson with everything that later lessons plug in. It is a picture
for people; what may follow what is judged by `validate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# In the order in which a turn goes through them; the last three leave that path.
STATES = (
    *("idle", "asking", "streaming", "answered", "approving", "acting"),
    *("waiting", "failed", "stopped"),
)

_AFTER = {
    "session.start": "idle",
    "user.message": "idle",
    "model.request": "asking",
    "model.delta": "streaming",
    "retry.wait": "waiting",
    "tool.call": "answered",
    "approval.request": "approving",
    "approval.decision": "answered",
    "tool.start": "acting",
    "tool.output": "acting",
    "tool.result": "answered",
    "error": "failed",
    "session.stop": "stopped",
}


def state_after(before: str, event: Mapping[str, Any]) -> str:
    """The state that an event leads to; most bookkeeping leads nowhere."""
    if event["type"] != "model.response":
        return _AFTER.get(event["type"], before)
    payload = event["payload"]
    if payload["status"] != "completed":
        return "failed"
    return "answered" if payload["tool_calls"] else "idle"


def is_trouble(event: Mapping[str, Any]) -> bool:
    """Whether something did not go as it should: an error, an answer or a call not completed."""
    kind = event["type"]
    if kind in ("model.response", "tool.result"):
        return bool(event["payload"]["status"] != "completed")
    return bool(kind == "error")


def message_of(event: Mapping[str, Any]) -> tuple[str, str] | None:
    """(role, text) of the message that an event adds to what the model sees; None if it adds none.

    A tool's message begins with the status of its call.
    """
    kind, payload = event["type"], event["payload"]
    if kind == "user.message":
        return "user", payload["content"]
    if kind == "model.response" and payload["status"] == "completed":
        calls = [f"→ {call['name']} {call['arguments']}" for call in payload["tool_calls"]]
        return "assistant", "\n".join(filter(None, [payload["content"], *calls]))
    if kind == "tool.result":
        return "tool", f"{payload['status']}: {payload['output']}".rstrip("\n")
    return None
