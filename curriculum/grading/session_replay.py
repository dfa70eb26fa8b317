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
    """Messages as plain lists; of a result that recovery made up only the status counts."""
    told: list[list[object]] = []
    for message in messages:
        if message.role == "tool":
            result = json.loads(message.content)
            is_ours = result["status"] in SYNTHESIZED
            rest = None if is_ours else message.content
            told.append(["tool", message.call_id, result["status"], rest])
        else:
            calls = [[call.call_id, call.name, call.arguments] for call in message.tool_calls]
            told.append([message.role, message.content, calls, message.opaque])
    return told


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
        if found.messages[number] != message:
            return f"message {number} to be {quote(message)}", quote(found.messages[number])
    if len(found.messages) > len(wanted.messages):
        extra = found.messages[len(wanted.messages)]
        return f"{len(wanted.messages)} messages", f"one more: {quote(extra)}"
    if found.unacknowledged != wanted.unacknowledged:
        expected_ = f"unacknowledged {wanted.unacknowledged}"
        return expected_, quote(found.unacknowledged)
    return None
