"""Events: what an observer sees of a run, as Trace 0.1.

One recorder numbers the events of one trace and hands each to a sink at once. Time and ids come
from injected sources and nothing else calls the clock, so a demo writes the same bytes every
time. `to_json` is the only writer of trace lines.
"""

from __future__ import annotations

import os
import time
from _collections_abc import Mapping
from _thread import RLock

from curriculum.core.errors import TraceError, describe
from curriculum.core.values import TYPE_CHECKING, Prefix, Protocol, as_data, value

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    ActorKind = Literal["user", "model", "tool", "harness", "policy"]

MAX_LINE_BYTES = 256 * 1024
MAX_INTEGER = 2**53 - 1
UNCHECKED = {"status": "unchecked"}

_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(0x20), 0x85, 0x2028, 0x2029)}
_ESCAPES.update({8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"})


def clean_text(text: str) -> str:
    """`text` with each lone surrogate replaced by U+FFFD, so that it can be written as UTF-8."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


def to_json(data: object) -> str:
    """`data` as canonical JSON: sorted keys, compact, one line under any reader's idea of a line.

    Raises TypeError for what JSON cannot hold, ValueError for a number that readers would change.
    """
    if isinstance(data, str):
        if data.isascii() and data.isprintable() and '"' not in data and "\\" not in data:
            return f'"{data}"'
        return f'"{clean_text(data).translate(_ESCAPES)}"'
    if data is None or data is True or data is False:
        return {None: "null", True: "true", False: "false"}[data]
    if isinstance(data, int):
        if abs(data) > MAX_INTEGER:
            raise ValueError(f"{data} is beyond the integers that every reader keeps exactly")
        return int.__repr__(data)
    if isinstance(data, float):
        if data - data != 0.0:
            raise ValueError(f"JSON has no {data}")
        return float.__repr__(data)
    if isinstance(data, (list, tuple, Prefix)):
        return f"[{','.join([to_json(item) for item in data])}]"
    if isinstance(data, Mapping):
        fields = [f"{to_json(str(key))}:{to_json(data[key])}" for key in sorted(data)]
        return f"{{{','.join(fields)}}}"
    raise TypeError(f"a trace cannot hold {type(data).__name__}")


class Clock(Protocol):
    """Where time comes from."""

    def read(self) -> tuple[int, int]:
        """(wall, monotonic): microseconds since the Unix epoch, and of a clock that never falls."""


class SystemClock:
    """The clock of this machine."""

    def read(self) -> tuple[int, int]:
        return time.time_ns() // 1000, time.monotonic_ns() // 1000


class GoldenClock:
    """A clock that starts at the same moment each time and moves 1,000 µs whenever it is read."""

    def __init__(self, start_us: int = 1_767_225_600_000_000, step_us: int = 1000) -> None:
        self._now, self._step = start_us - step_us, step_us

    def read(self) -> tuple[int, int]:
        self._now += self._step
        return self._now, self._now


class Ids:
    """Ids by kind, `event-1`, `event-2`, ...: unique within one trace."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def next(self, kind: str) -> str:
        """A new id of that kind."""
        self._counts[kind] = count = self._counts.get(kind, 0) + 1
        return f"{kind}-{count}"


class UniqueIds(Ids):
    """Counted ids, but those that outlive the trace (trace, session, turn) are random."""

    def next(self, kind: str) -> str:
        if kind in ("trace", "session", "turn"):
            return f"{kind}-{os.urandom(8).hex()}"
        return super().next(kind)


def format_timestamp(wall_us: int) -> str:
    """UTC with six fraction digits, 27 characters."""
    seconds, fraction = divmod(wall_us, 1_000_000)
    year, month, day, hour, minute, second = time.gmtime(seconds)[:6]
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:06}Z"


@value
class Event:
    """One line of a trace. Field by field as in `schemas/trace-0.1`."""

    trace_id: str
    event_id: str
    sequence: int
    parent_id: str | None
    type: str
    actor: Mapping[str, str]
    timestamp: str
    elapsed_us: int
    provenance: Mapping[str, str]
    redaction: Mapping[str, object]
    payload: Mapping[str, object]

    def to_line(self) -> str:
        """The event as one JSON line with its LF.

        A line never passes 256 KiB: the long texts of the payload are cut and marked instead, and
        `redaction` points at the cuts. Raises TraceError if no cut can help.
        """
        fields = {"trace_version": "0.1", **as_data(self)}
        line = to_json(fields)
        longest = MAX_LINE_BYTES
        while len(line) * 4 >= MAX_LINE_BYTES and len(line.encode()) >= MAX_LINE_BYTES:
            from curriculum.core.line_limit import MARK, shorten

            longest //= 2
            if longest <= len(MARK):
                raise TraceError("an event has too many fields to fit in one line of a trace")
            cuts, fields["payload"] = shorten(self.payload, longest)
            fields["redaction"] = {"status": "redacted", "policy": "line-limit", "items": cuts}
            line = to_json(fields)
        return line + "\n"


class Recorder:
    """Numbers the events of one trace and passes each on as it happens.

    `sink` is called with every event. A sink that fails is never called again: the events stay
    whole in `events`, and `check` raises the fault at the harness's next step. Tools that run in
    threads (s10) emit their live output here, so one event is finished before the next begins.
    `keep` says which events stay in `events`, by default all: who shows each event at once need
    not hold an endless answer piece by piece.
    """

    def __init__(
        self,
        clock: Clock | None = None,
        ids: Ids | None = None,
        provenance: str = "live",
        sink: Callable[[Event], object] | None = None,
        keep: Callable[[Event], bool] | None = None,
    ) -> None:
        self.clock = clock or SystemClock()
        self.ids = ids or UniqueIds()
        self.events: list[Event] = []
        self.count = 0  # of all events, also those that were not kept
        self._last_id: str | None = None
        self._trace_id = self.ids.next("trace")
        self._provenance = provenance
        self._sink = sink
        self._keep = keep
        self.failure: TraceError | None = None
        self._started_us = 0
        self._mappings: dict[tuple[str, ...], dict[str, str]] = {}
        self._lock = RLock()

    @classmethod
    def golden(cls, sink: Callable[[Event], object] | None = None) -> Recorder:
        """A recorder whose trace has the same bytes every time: for demos, tests and goldens."""
        return cls(GoldenClock(), Ids(), "scripted", sink)

    def emit(
        self,
        type: str,
        *,
        actor_kind: ActorKind,
        actor_id: str,
        payload: Mapping[str, object],
        parent: Event | None = None,
        provenance: str | None = None,
    ) -> Event:
        """Record that something happened, caused by `parent` (by default the event before)."""
        with self._lock:
            wall_us, now_us = self.clock.read()
            if not self.count:
                self._started_us = now_us
            event = Event(
                self._trace_id,
                self.ids.next("event"),
                self.count,
                parent.event_id if parent else self._last_id,
                type,
                self._shared("kind", actor_kind, "id", actor_id),
                format_timestamp(wall_us),
                now_us - self._started_us,
                self._shared("source", provenance or self._provenance),
                UNCHECKED,
                payload,
            )
            self.count, self._last_id = self.count + 1, event.event_id
            if self._keep is None or self._keep(event):
                self.events.append(event)
            if self._sink and not self.failure:
                try:
                    self._sink(event)
                except Exception as fault:
                    self.failure = TraceError(f"the trace could not be written: {describe(fault)}")
            return event

    def _shared(self, *fields: str) -> Mapping[str, str]:
        """One mapping for all events that say the same: a long run holds few of them."""
        if fields not in self._mappings:
            self._mappings[fields] = dict(zip(fields[::2], fields[1::2], strict=True))
        return self._mappings[fields]

    def check(self) -> None:
        """Raise the TraceError of a sink that failed."""
        if self.failure:
            raise self.failure
