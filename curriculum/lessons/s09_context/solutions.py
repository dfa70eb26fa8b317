"""One way to do each exercise of s09. Look after you have tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curriculum.core.context import rebuild
from curriculum.core.errors import ContextOverflowError
from curriculum.core.messages import Message, ToolCall
from curriculum.core.trace import Event, to_json


# region: left_out
def left_out(events: Sequence[Event]) -> list[tuple[str, int, int, str | None]]:
    """A. A compaction is about the next request, and about the attempts that repeat it."""
    rows: list[tuple[str, int, int, str | None]] = []
    report: Mapping[str, object] | None = None
    for event in events:
        payload = event.payload
        if event.type == "context.compact":
            report = payload
        elif event.type == "model.request":
            request_id, shown = str(payload["request_id"]), int(str(payload["message_count"]))
            if "retry_of" in payload:
                rows.append((request_id, *rows[-1][1:]))
            elif report is None:
                rows.append((request_id, shown, shown, None))
            else:
                there_were = int(str(report["message_count_before"]))
                rows.append((request_id, shown, there_were, str(report["reason"])))
            report = None
    return rows


# endregion


# region: keep_last_turns
class KeepLastTurns:
    """B. The start of the oldest turn that is shown decides about every message."""

    def __init__(self, turns: int) -> None:
        self._turns = turns

    def fit(
        self, messages: Sequence[Message], overflow: ContextOverflowError | None
    ) -> tuple[Sequence[Message], Mapping[str, object] | None]:
        starts = [n for n, message in enumerate(messages) if message.role == "user"]
        if overflow and (self._turns == 1 or len(starts) <= 1):
            raise overflow
        turns = 1 if overflow else self._turns
        first = starts[-turns] if len(starts) > turns else 0
        dropped = [n for n in range(first) if messages[n].role != "system"]
        if not dropped:
            return messages, None
        report: dict[str, object] = {
            "policy": "keep-last-turns",
            "reason": "overflow" if overflow else "budget",
            "dropped": dropped,
            "message_count_before": len(messages),
            "message_count": len(messages) - len(dropped),
        }
        return rebuild(messages, report), report


# endregion


# region: what_becomes
def row(drop_turns: str, truncate_output: str, summarise: str) -> dict[str, str]:
    """One row of the table."""
    return {
        "drop-turns": drop_turns,
        "truncate-output": truncate_output,
        "summarise": summarise,
    }


WHAT_BECOMES: Mapping[str, Mapping[str, str]] | None = {
    "system prompt": row("stays", "stays", "stays"),
    "first input": row("goes", "stays", "goes"),
    "first answer": row("goes", "stays", "goes"),
    "second input": row("goes", "stays", "goes"),
    "call of the second turn": row("goes", "stays", "goes"),
    "its output": row("goes", "cut", "goes"),
    "second answer": row("goes", "stays", "goes"),
    "current input": row("stays", "stays", "stays"),
    "call of the current turn": row("stays", "stays", "goes"),
    "output of the current turn": row("stays", "cut", "goes"),
    "latest call": row("stays", "stays", "stays"),
    "latest output": row("stays", "stays", "stays"),
}
# endregion


# region: requests_of
def requests_of(events: Sequence[Event], before: Sequence[Message]) -> list[list[Message]]:
    """D. Three events make a message, two make a request."""
    messages, requests = list(before), list[list[Message]]()
    report: Mapping[str, object] | None = None
    for event in events:
        payload = dict(event.payload)
        if event.type == "user.message":
            messages.append(Message("user", str(payload["content"])))
        elif event.type == "model.response" and payload["status"] == "completed":
            messages.append(Message("assistant", str(payload["content"]), calls_in(payload)))
        elif event.type == "tool.result":
            call_id = str(payload.pop("call_id"))
            messages.append(Message("tool", to_json(payload), call_id=call_id))
        elif event.type == "context.compact":
            report = payload
        elif event.type == "model.request":
            if "retry_of" in payload:
                requests.append(requests[-1])
            else:
                requests.append(rebuild(messages, report) if report else list(messages))
            report = None
    return requests


def calls_in(response: Mapping[str, object]) -> tuple[ToolCall, ...]:
    """The calls of a model.response."""
    calls = response["tool_calls"]
    assert isinstance(calls, list)
    return tuple(ToolCall(call["call_id"], call["name"], call["arguments"]) for call in calls)


# endregion
