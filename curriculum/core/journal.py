"""What is durable: a journal is told of every step before memory moves.

The default keeps records in memory. A durable one (s05) returns the position of the record it
has made safe; the loop then shows a `journal.append` event.
"""

from __future__ import annotations

from curriculum.core.values import TYPE_CHECKING, Protocol, value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    RecordKind = Literal["user_input", "model_response", "tool_start", "tool_result", "turn_end"]


@value
class Record:
    """One save point: what kind, which turn it belongs to, and plain JSON data."""

    kind: RecordKind
    turn_id: str
    data: Mapping[str, object]


class Journal(Protocol):
    """Where records go before anything else happens."""

    def append(self, record: Record) -> int | None:
        """Keep the record; raise if it could not be kept. Returns its position if it is durable."""


class MemoryJournal:
    """Keeps records for as long as the process lives."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def append(self, record: Record) -> None:
        self.records.append(record)
