"""Target `trace`: any bytes get one report, from both engines the same; readers follow suit.

What the validator takes for events, the counting of `stats` and the spans of `export` can read.
"""

from __future__ import annotations

import json
from functools import cache
from io import BytesIO
from typing import Any

from curriculum.trace.codes import CODES, Verdict
from curriculum.trace.engines import Engine, make_engine
from curriculum.trace.spans import spans_of
from curriculum.trace.stats import Stats
from curriculum.trace.validate import Options, Report, validate
from tests.fuzz.choices import Choices, spoil
from tests.golden import GOLDEN
from tests.trace.story import calls, numbered, to_bytes

SHAPELESS = {"E01", "E02", "F01", "F02", "F03", "F05"}
WORDS = (b"0", b'"', b"}", b"\n", b"\xff", b"null", b"-1", b"[", b"\\", b"1.0", b"1e999", b"\r\n")


@cache
def engines() -> tuple[Engine, Engine]:
    return make_engine("fast"), make_engine("plain")


@cache
def bases() -> list[list[Any]]:
    """Right traces, as events: a story, and what the demos print."""
    read = [path.read_bytes().splitlines() for path in sorted(GOLDEN.glob("s0*.jsonl"))]
    return [numbered(calls()), *([json.loads(line) for line in lines] for lines in read)]


def trace_of(choices: Choices) -> bytes:
    """A right trace in which a few things were changed."""
    events = list(choices.pick(bases()))
    renumbers = choices.number(2)
    for _ in range(1 + choices.number(3)):
        at, other = choices.number(len(events)), choices.number(len(events))
        what = choices.number(6)
        if what == 0:
            del events[at]
        elif what == 1:
            events.insert(at, events[other])
        elif what == 2:
            events[at], events[other] = events[other], events[at]
        elif what == 3:
            events[at] = spoil(events[at], choices)
        elif what == 4:
            events[at] = {**events[at], "payload": events[other]["payload"]}
        else:
            events[at] = {**events[at], "payload": spoil(events[at]["payload"], choices)}
        if not events or not all(isinstance(event, dict) for event in events):
            break
        if not all(isinstance(e.get("payload"), dict) and "type" in e for e in events):
            break
    else:
        events = numbered(events) if renumbers else events
    try:
        data = to_bytes(events)
    except (ValueError, TypeError):  # what our writer refuses, others may write
        data = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    if choices.one_in(4):
        place = choices.number(len(data) + 1)
        data = data[:place] + choices.pick(WORDS) + data[place + choices.number(3) :]
    return data


def check(data: bytes) -> str:
    """Hold the invariants for one input; returns what became of it."""
    return check_bytes(data[1:] if data[:1] == b"\xff" else trace_of(Choices(data)))


def check_bytes(data: bytes) -> str:
    """The same, for the bytes of a file."""
    options = Options(is_strict=len(data) % 2 == 0)
    fast, plain = (validate(BytesIO(data).read, engine, options) for engine in engines())
    assert fast == plain, (fast, plain)
    check_report(fast)
    if not SHAPELESS & (fast.codes.keys() | {one.code for one in fast.warnings}):
        whole = data[: data.rfind(b"\n") + 1]
        events = [json.loads(line) for line in whole.splitlines()]
        stats = Stats()
        for event in events:
            stats.take(event)
        assert stats.as_data()["events"] == fast.events == len(events)
        assert sum(stats.phases.spent_us.values()) >= stats.elapsed_us or "N01" in fast.codes
        assert all(span.end_us >= span.start_us for span in spans_of(events))
    return fast.verdict.name.lower()


def check_report(report: Report) -> None:
    """What a report says adds up."""
    assert report.error_count == sum(report.codes.values())
    assert (report.verdict == Verdict.INVALID) == (report.error_count > 0)
    for finding in (*report.findings, *report.warnings):
        assert finding.code in CODES
        assert finding.message.isprintable(), finding
        assert finding.pointer == "" or finding.pointer.startswith("/")
