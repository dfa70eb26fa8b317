"""One way to do each exercise of s06. Look after you have tried."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from curriculum.core.errors import JournalError
from curriculum.core.journal import Record
from curriculum.core.messages import Message, ToolCall
from curriculum.core.trace import to_json
from curriculum.lessons.s05_sessions.solutions import JsonlJournal, json_lines
from curriculum.sessions.disk import SystemDisk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# region: open_calls
def open_calls(records: Sequence[Record]) -> dict[str, str]:
    """A. Open a call when it is proposed, mark it when it starts, close it with its result."""
    calls: dict[str, str] = {}
    for record in records:
        data: Any = record.data
        if record.kind == "model_response":
            calls.update({call["call_id"]: "not_executed" for call in data["tool_calls"]})
        elif record.kind == "tool_start":
            calls[data["call_id"]] = "unknown"
        elif record.kind == "tool_result":
            del calls[data["call_id"]]
    return calls


# endregion


# region: recover
OUTPUTS = {
    "not_executed": "the program ended before this call started; nothing ran",
    "unknown": "the program ended after this call had started; it may have taken effect",
}


def recover(records: Sequence[Record]) -> list[Record]:
    """B. What is missing follows from what is there, so it can be asked for again and again."""
    if not records or records[-1].kind in ("turn_end", "outcome_acknowledged"):
        return []
    turn_id = records[-1].turn_id
    results = [
        Record(
            "tool_result",
            turn_id,
            {"call_id": call_id, "status": status, "output": OUTPUTS[status]},
        )
        for call_id, status in open_calls(records).items()
    ]
    return [*results, Record("turn_end", turn_id, {"status": "interrupted"})]


# endregion

# region: recovery_table
RECOVERY_TABLE: Sequence[tuple[str, str, str, str]] | None = [
    ("idle", "the user speaks", "open", "user_input"),
    ("idle", "recovery goes on", "idle", ""),
    # A turn is open, and the model is to speak.
    ("open", "the model asks", "called", "model_response"),
    ("open", "the model answers", "answered", "model_response"),
    ("open", "recovery goes on", "idle", "turn_end interrupted"),
    ("answered", "the turn ends", "idle", "turn_end completed"),
    ("answered", "recovery goes on", "idle", "turn_end interrupted"),
    # A call is proposed. Until its start is on disk, nobody can have run it.
    ("called", "the call is allowed", "started", "tool_start"),
    ("called", "the call is refused", "open", "tool_result denied"),
    ("called", "recovery goes on", "open", "tool_result not_executed"),
    # From here on it may have acted: the disk looks the same before and after.
    ("started", "the tool ends", "open", "tool_result completed"),
    ("started", "recovery goes on", "in doubt", "tool_result unknown"),
    # The call is closed, the doubt is not: it outlives the turn.
    ("in doubt", "recovery goes on", "idle, in doubt", "turn_end interrupted"),
    ("idle, in doubt", "recovery goes on", "idle, in doubt", ""),
    ("idle, in doubt", "the user speaks", "idle, in doubt", ""),
    ("idle, in doubt", "the user has looked", "idle", "outcome_acknowledged"),
]
# endregion


# region: store
class Store:
    """D. The journal of s05, and behind it a memory that is only ever built from its records."""

    def __init__(self, folder: str) -> None:
        path = os.path.join(folder, "session.jsonl")
        self._journal = JsonlJournal(path, SystemDisk())  # cuts off a torn tail
        self._records = json_lines(path)
        for record in recover(self._records):
            self._keep(record)
        self._messages = replay(self._records)

    @property
    def messages(self) -> Sequence[Message]:
        return self._messages

    @property
    def unacknowledged(self) -> Sequence[str]:
        unknown: list[str] = []
        for record in self._records:
            call_id = str(record.data.get("call_id"))
            if record.kind == "tool_result" and record.data["status"] == "unknown":
                unknown.append(call_id)
            elif str(record.kind) == "outcome_acknowledged":
                unknown.remove(call_id)
        return unknown

    def append(self, record: Record) -> int:
        if record.kind == "user_input" and (unknown := self.unacknowledged):
            raise JournalError(f"the outcome of {unknown[0]} is unknown: acknowledge it first")
        return self._keep(record)

    def acknowledge(self, call_id: str) -> None:
        if call_id not in self.unacknowledged:
            raise ValueError(f"there is no unknown outcome of {call_id!r}")
        kind: Any = "outcome_acknowledged"  # the loop never writes one, so core does not name it
        self._keep(Record(kind, "", {"call_id": call_id}))

    def _keep(self, record: Record) -> int:
        position = self._journal.append(record)
        self._records.append(record)  # memory follows the disk, never the other way round
        return position

    def close(self) -> None:
        self._journal.close()


def replay(records: Iterable[Record]) -> list[Message]:
    """The messages of the turns that have ended and have something to tell."""
    told: list[Message] = []
    turn: list[Message] = []
    for record in records:
        if record.kind == "turn_end":
            if record.data["status"] == "completed" or any(message.tool_calls for message in turn):
                told += turn
            turn = []
        elif message := message_of(record):
            turn.append(message)
    return told


def message_of(record: Record) -> Message | None:
    """The message that came with the record, as the loop had made it."""
    data: Any = record.data
    if record.kind == "user_input":
        return Message("user", data["content"])
    if record.kind == "model_response":
        calls = tuple(ToolCall(**call) for call in data["tool_calls"])
        return Message("assistant", data["content"], calls, opaque=data.get("opaque"))
    if record.kind == "tool_result":
        result = {name: field for name, field in data.items() if name != "call_id"}
        return Message("tool", to_json(result), call_id=data["call_id"])
    return None


# endregion
