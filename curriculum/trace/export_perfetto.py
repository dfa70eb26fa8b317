"""A trace for a timeline viewer: the JSON trace event format that Perfetto and Chrome read.

Session and turns are one track, requests another, calls as many as overlap, so that no two spans
of a track cross. Content is left out unless it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from curriculum.trace.spans import Event, Span, spans_of

PROCESS = 1
TRACKS = {"session": 1, "turn": 1, "request": 2}
FIRST_CALL_TRACK = 3


def export_perfetto(events: Iterable[Event], with_content: bool) -> dict[str, Any]:
    """The trace event document; times are µs since the start of the trace."""
    free: list[int] = []  # for each track of calls, when its latest span ends
    written = [_name("process_name", 0, "trace"), _name("thread_name", 1, "session and turns")]
    written.append(_name("thread_name", 2, "model"))
    for span in spans_of(events):
        track = TRACKS.get(span.kind) or FIRST_CALL_TRACK + _lane(free, span)
        written += _write(span, track, with_content)
    names = [f"tools {lane + 1}" for lane in range(len(free))]
    written += [
        _name("thread_name", FIRST_CALL_TRACK + lane, name) for lane, name in enumerate(names)
    ]
    return {"displayTimeUnit": "ms", "traceEvents": written}


def _lane(free: list[int], span: Span) -> int:
    """The first track on which a call crosses no other."""
    for lane, end in enumerate(free):
        if end <= span.start_us:
            free[lane] = span.end_us
            return lane
    free.append(span.end_us)
    return len(free) - 1


def _name(what: str, track: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": PROCESS, "tid": track, "args": {"name": name}}


def _write(span: Span, track: int, with_content: bool) -> Iterable[dict[str, Any]]:
    place = {"pid": PROCESS, "tid": track, "cat": span.kind}
    facts = {key: fact for key, fact in span.facts.items() if fact is not None and key != "roles"}
    if span.failed:
        facts["failed"] = span.failed
    if with_content:
        facts.update(span.content)
    whole = {"ph": "X", "ts": span.start_us, "dur": span.end_us - span.start_us, "args": facts}
    yield {"name": span.name, **place, **whole}
    for mark in span.marks:
        moment = {"ph": "i", "s": "t", "ts": mark.at_us, "args": mark.facts}
        yield {"name": mark.name, **place, **moment}
