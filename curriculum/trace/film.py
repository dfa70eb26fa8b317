"""A trace that can be entered anywhere: of each event its place in the file, and little more.

A hundred thousand events take a few megabytes: an event is read again when it is shown. A file
that cannot be read again (a pipe) is copied to a temporary file first.
"""

from __future__ import annotations

import os
import tempfile
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any

from curriculum.trace.engines import Engine
from curriculum.trace.events import EventReader
from curriculum.trace.inputs import BAD_DATA, RefusedError, open_source, shown_progress
from curriculum.trace.machine import STATES, is_trouble, message_of, state_after
from curriculum.trace.strict import LineError

Event = dict[str, Any]


class Film:
    """The events of one trace by index, from 0. Not empty.

    `turns`, `troubles` and `messages` are the indexes of events, in order.
    """

    def __init__(self, said: str, descriptor: int, engine: Engine) -> None:
        self.said = said
        self._descriptor, self._parse = descriptor, engine.parse
        self._edges = array("Q", [0])
        self._elapsed = array("Q")
        self._states = array("B")
        self.turns, self.troubles, self.messages = array("Q"), array("Q"), array("Q")
        self.torn_bytes = 0

    def add(self, event: Event, end: int) -> None:
        """The next event, whose line ends before byte `end`."""
        index = len(self._states)
        before = STATES[self._states[-1]] if index else STATES[0]
        self._edges.append(end)
        self._elapsed.append(event["elapsed_us"])
        self._states.append(STATES.index(state_after(before, event)))
        if event["type"] == "user.message":
            self.turns.append(index)
        if is_trouble(event):
            self.troubles.append(index)
        if message_of(event):
            self.messages.append(index)

    def __len__(self) -> int:
        return len(self._states)

    def event(self, index: int) -> Event:
        """One event. Raises RefusedError if the file is no longer what it was."""
        begin, end = self._edges[index], self._edges[index + 1]
        try:
            return self._parse(os.pread(self._descriptor, end - begin, begin).removesuffix(b"\n"))
        except (LineError, OSError):
            said = f"{self.said}: has changed since it was opened; play it again"
            raise RefusedError(said, BAD_DATA) from None

    def elapsed_us(self, index: int) -> int:
        """When an event was, in µs since the start."""
        return self._elapsed[index]

    def state(self, index: int) -> str:
        """Where the run is after an event."""
        return STATES[self._states[index]]

    def turn(self, index: int) -> int:
        """The number of the turn that an event is in, from 1; 0 before the first."""
        return bisect_right(self.turns, index)

    def is_trouble(self, index: int) -> bool:
        """Whether something went wrong in an event."""
        place = bisect_left(self.troubles, index)
        return place < len(self.troubles) and self.troubles[place] == index

    def messages_until(self, index: int) -> list[int]:
        """The events up to this one that added a message."""
        return list(self.messages[: bisect_right(self.messages, index)])


def after(marks: array[int], index: int) -> int | None:
    """The first mark behind an index."""
    place = bisect_right(marks, index)
    return marks[place] if place < len(marks) else None


def before(marks: array[int], index: int) -> int | None:
    """The last mark ahead of an index."""
    place = bisect_left(marks, index)
    return marks[place - 1] if place else None


def _keep_in(copy: IO[bytes]) -> Callable[[bytes], None]:
    def keep(block: bytes) -> None:
        copy.write(block)
        copy.flush()

    return keep


@contextmanager
def open_film(name: str, engine: Engine) -> Iterator[Film]:
    """Read a trace through once. Raises RefusedError, also for one without events."""
    with ExitStack() as stack:
        source = stack.enter_context(open_source(name))
        progress = stack.enter_context(shown_progress(source))
        descriptor, keep = source.descriptor, None
        if descriptor < 0:
            copy = stack.enter_context(tempfile.TemporaryFile())
            descriptor, keep = copy.fileno(), _keep_in(copy)
        reader = EventReader(source, engine, progress, keep)
        film = Film(source.said, descriptor, engine)
        for event in reader:
            film.add(event, reader.end)
        film.torn_bytes = reader.torn_bytes
        if not len(film):
            raise RefusedError(f"{source.said}: no events in it", BAD_DATA)
        yield film
