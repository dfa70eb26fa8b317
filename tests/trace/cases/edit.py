"""A case of the corpus, and how to break a right trace in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.trace import story
from tests.trace.story import Event, numbered, place, to_bytes

Expected = tuple[int, str, str]


@dataclass(frozen=True)
class Case:
    """One file, what it shows, and what a validator says of it."""

    name: str
    says: str
    data: bytes
    errors: tuple[Expected, ...]
    verdict: str = "invalid"
    warnings: tuple[Expected, ...] = ()
    is_strict: bool = False
    secrets: tuple[str, ...] = ()


class Edit:
    """A right trace, and how to get at its events."""

    def __init__(self, events: list[Event] | None = None) -> None:
        self.events = events if events is not None else story.calls()

    def at(self, kind: str, nth: int = 0) -> int:
        return place(self.events, kind, nth)

    def drop(self, kind: str, nth: int = 0) -> int:
        """Take an event out; returns its line, where the next one now stands."""
        index = self.at(kind, nth)
        del self.events[index]
        return index + 1

    def put(self, index: int, *events: Event) -> int:
        """Put events in; returns the line of the first."""
        self.events[index:index] = events
        return index + 1

    def payload(self, kind: str, nth: int = 0, **changes: Any) -> int:
        """Change fields of a payload; returns the line."""
        index = self.at(kind, nth)
        event = self.events[index]
        self.events[index] = {**event, "payload": {**event["payload"], **changes}}
        return index + 1

    def fields(self, kind: str, nth: int = 0, **changes: Any) -> int:
        """Change fields of the event itself; returns the line."""
        index = self.at(kind, nth)
        self.events[index] = {**self.events[index], **changes}
        return index + 1

    def data(self) -> bytes:
        return to_bytes(numbered(self.events))

    def case(self, name: str, says: str, *errors: Expected, **more: Any) -> Case:
        return Case(name, says, self.data(), errors, **more)
