"""Events of a trace, one at a time, each sure to have the shape of its type.

The readers of a trace (diff, stats, play, ...) may take a field that the schema promises without
asking. What events mean together is not checked here: that is for `validate`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from curriculum.trace.engines import Engine
from curriculum.trace.inputs import (
    BAD_DATA,
    RefusedError,
    Source,
    open_source,
    shown_progress,
)
from curriculum.trace.read import LineReader
from curriculum.trace.schema import OTHER
from curriculum.trace.strict import LineError, parse_strict

Event = dict[str, Any]


class EventReader:
    """Iterates over the events of one source. Raises RefusedError at a line that is no event.

    After the last one `torn_bytes` says how much followed the last LF. `seen` is told of every
    block of bytes, in order, before the events in it are given.
    """

    def __init__(
        self,
        source: Source,
        engine: Engine,
        progress: Callable[[int], None] | None = None,
        seen: Callable[[bytes], None] | None = None,
    ) -> None:
        self._source, self._engine, self._progress = source, engine, progress
        self._lines = LineReader(source.read, seen)
        self.line = 0
        self.offset = self.end = 0  # where the latest event's line begins and ends, in bytes
        self.torn_bytes = 0

    def __iter__(self) -> Iterator[Event]:
        parse, judges = self._engine.parse, self._engine.judges
        shapes = {kind: judge.is_valid for kind, judge in judges.items()}
        other = shapes[OTHER]
        for lines in self._lines.batches():
            for line in lines:
                self.line += 1
                self.offset, self.end = self.end, self.end + len(line) + 1
                try:
                    event = parse(line)
                except LineError as error:
                    raise self._refused(error.code, error.message) from None
                kind = event.get("type")
                shape = shapes.get(kind, other) if isinstance(kind, str) else other
                if not shape(event):
                    raise self._misshapen(event)
                yield event
            if self._progress:
                self._progress(self._lines.bytes_read)
        self._tear(self._lines.tail)

    @property
    def bytes_read(self) -> int:
        """How many bytes were read so far."""
        return self._lines.bytes_read

    def _tear(self, tail: bytes) -> None:
        """What follows the last LF is no event yet, or the file is no trace at all."""
        if tail and not self.line and not tail.startswith(b"{"):
            self.line = 1
            try:
                parse_strict(tail)
            except LineError as error:
                raise self._refused(error.code, error.message) from None
        self.torn_bytes = len(tail)

    def _misshapen(self, event: Event) -> RefusedError:
        kind = event.get("type")
        judges = self._engine.judges
        judge = judges.get(kind, judges[OTHER]) if isinstance(kind, str) else judges[OTHER]
        pointer, message = (judge.problems(event) or [("", "the event has not its shape")])[0]
        return self._refused("E01", f"{pointer}: {message}" if pointer else message)

    def _refused(self, code: str, message: str) -> RefusedError:
        said = f"{self._source.said}: line {self.line}: {code} {message}; `validate` lists it all"
        return RefusedError(said, BAD_DATA)


@contextmanager
def open_events(
    name: str, engine: Engine, seen: Callable[[bytes], None] | None = None
) -> Iterator[EventReader]:
    """Open a trace for reading, with progress for a terminal. Raises RefusedError."""
    with open_source(name) as source, shown_progress(source) as progress:
        yield EventReader(source, engine, progress, seen)
