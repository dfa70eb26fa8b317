"""What the crash conformance kit needs to know of a store, and how it kills one between two lines.

A store keeps one session in one folder. `StoreUnderTest` opens it; everything else the kit does by
itself, in child processes: it appends, kills, opens again, and compares with what was acknowledged.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from types import FrameType, TracebackType
from typing import Any, Protocol

from curriculum.core.journal import Record
from curriculum.core.messages import Message
from curriculum.grading.killed_process import die

STANDARD_LIBRARY = os.path.dirname(os.__file__)
CURRICULUM = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OURS = tuple(os.path.join(CURRICULUM, name) + os.sep for name in ("core", "grading"))


class Recoverable(Protocol):
    """An open store: a journal that also knows what a conversation goes on from."""

    @property
    def messages(self) -> Sequence[Message]:
        """What opening found to replay, by the rule "with-evidence"."""

    @property
    def unacknowledged(self) -> Sequence[str]:
        """Call ids of unknown outcomes that nobody has acknowledged."""

    def append(self, record: Record) -> int | None:
        """Keep the record; raises JournalError if it was not kept."""

    def acknowledge(self, call_id: str) -> object:
        """Keep that the outcome was acknowledged."""

    def close(self) -> None:
        """Let go of the storage."""


class StoreUnderTest(Protocol):
    """The harness around one store."""

    @property
    def lacks(self) -> Mapping[str, str]:
        """Names of checks that do not apply to this store, each with the reason."""

    def open(self, folder: str) -> Recoverable:
        """The session in that folder: a new one, or the one that is there, recovered."""


class LineKiller:
    """Counts the lines that the store's own code runs, and ends the process before the n-th.

    Code of the standard library, of the core and of the graders is not counted.
    """

    def __init__(self, at: int = 0) -> None:
        self.count = 0
        self._at = at

    def __enter__(self) -> LineKiller:
        sys.settrace(self._call)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        sys.settrace(None)

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename
        if name.startswith(("<", STANDARD_LIBRARY, *OURS)):
            return None
        return self._line

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.count += 1
            if self.count == self._at:
                die()
        return self._line
