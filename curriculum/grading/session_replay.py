"""What a recovered session has to tell: by our own recovery and replay, in comparable form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from curriculum.core.journal import Record
from curriculum.core.messages import Message
from curriculum.grading.mistakes import mistake, quote
from curriculum.grading.session_records import closed, stored
from curriculum.sessions.replay import Replayer

__unittest = True

INVARIANTS = 's06, "Invariants"'
SYNTHESIZED = ("unknown", "not_executed")


@dataclass(frozen=True)
class Shown:
    """What a store told when it was opened: messages, and outcomes that nobody acknowledged."""

    messages: list[list[object]]
    unacknowledged: list[str]


def shown(messages: Sequence[Message]) -> list[list[object]]:
    """Messages as plain lists; of a result that recovery made up only the status counts.

    The status is None where the content is not the JSON of a result.
    """
    told: list[list[object]] = []
    for message in messages:
        if message.role == "tool":
            status = _status(message.content)
            rest = None if status in SYNTHESIZED else message.content
            told.append(["tool", message.call_id, status, rest])
        else:
            calls = [[call.call_id, call.name, call.arguments] for call in message.tool_calls]
            told.append([message.role, message.content, calls, message.opaque])
    return told


def _status(content: object) -> str | None:
    try:
        result = json.loads(content) if isinstance(content, str) else None
    except (ValueError, RecursionError):
        return None
    status = result.get("status") if isinstance(result, dict) else None
    return status if isinstance(status, str) else None


def expected(records: Sequence[Record], later: Sequence[Record] = ()) -> Shown:
    """What has to be told of these records: after a crash behind them, and then `later` ones.

    With `later` records the unknown outcomes count as acknowledged.
    """
    whole = closed(records)
    replayer = Replayer("with-evidence")
    for record in stored([*whole, *later]):
        replayer.take(record)
    unknown = [
        str(record.data["call_id"])
        for record in whole
        if record.kind == "tool_result" and record.data["status"] == "unknown"
    ]
    return Shown(shown(replayer.result().messages), [] if later else unknown)


def same(wanted: Shown, found: Shown, what: str) -> None:
    """Raise a mistake that names the first difference."""
    problem = difference(wanted, found)
    if problem:
        raise mistake(f"{what} {problem[0]}", problem[1], INVARIANTS)


def one_of(before: Shown, after: Shown, found: Shown, what: str) -> None:
    """Raise a mistake unless it is as if the record in flight was never there, or all there."""
    problem = difference(before, found)
    if problem and difference(after, found):
        raise mistake(f"{what} {problem[0]}", problem[1], INVARIANTS)


def difference(wanted: Shown, found: Shown) -> tuple[str, str] | None:
    """(what was expected, what was seen) where they differ first."""
    for number, message in enumerate(wanted.messages):
        if number >= len(found.messages):
            saw = f"the replay ends after {number} messages"
            return f"message {number} to be {quote(message)}", saw
        if (other := found.messages[number]) != message:
            if other[0] == "tool" and other[2] is None:
                wants = f"message {number}: the content of a tool message to be the JSON of its"
                return f"{wants} result", f"you have {quote(other[3])}"
            return f"message {number} to be {quote(message)}", quote(other)
    if len(found.messages) > len(wanted.messages):
        extra = found.messages[len(wanted.messages)]
        return f"{len(wanted.messages)} messages", f"one more: {quote(extra)}"
    if found.unacknowledged != wanted.unacknowledged:
        expected_ = f"unacknowledged {wanted.unacknowledged}"
        return expected_, quote(found.unacknowledged)
    return None
