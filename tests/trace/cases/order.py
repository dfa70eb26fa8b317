"""S01, I01, I02, C01, N01 and L01 to L04: identity, order and life."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.trace import story
from tests.trace.cases.edit import Case, Edit
from tests.trace.story import numbered, to_bytes


def order() -> Iterator[Case]:
    events = numbered(story.calls())

    def changed(index: int, **changes: Any) -> bytes:
        return to_bytes([*events[:index], {**events[index], **changes}, *events[index + 1 :]])

    yield Case(
        "S01-jump", "a number that is no index", changed(4, sequence=7), ((5, "S01", "/sequence"),)
    )
    gap = to_bytes([*events[:4], *events[5:]])
    yield Case("S01-gap", "a line is missing", gap, ((5, "S01", "/sequence"),))
    later = to_bytes([{**event, "sequence": event["sequence"] + 1} for event in events])
    yield Case(
        "S01-from-one",
        "counted from 1",
        later.replace(b'"event_count":15', b'"event_count":16'),
        ((1, "S01", "/sequence"),),
    )
    yield Case(
        "I01-trace-id",
        "one line of another trace",
        changed(4, trace_id="trace-2"),
        ((5, "I01", "/trace_id"),),
    )
    version = [{**event, "trace_version": "0.2"} for event in events]
    yield Case(
        "I01-version",
        "a version that is not known: told once",
        to_bytes(version),
        ((1, "I01", "/trace_version"),),
    )
    yield Case(
        "I02-twice",
        "an event_id used twice",
        changed(4, event_id="event-4").replace(b'"parent_id":"event-5"', b'"parent_id":"event-4"'),
        ((5, "I02", "/event_id"),),
    )
    yield Case(
        "C01-later",
        "a cause that comes later",
        changed(4, parent_id="event-9"),
        ((5, "C01", "/parent_id"),),
    )
    yield Case(
        "C01-itself", "its own cause", changed(4, parent_id="event-5"), ((5, "C01", "/parent_id"),)
    )
    yield Case("C01-none", "no cause", changed(4, parent_id=None), ((5, "C01", "/parent_id"),))
    yield Case(
        "C01-first",
        "a cause before the first",
        changed(0, parent_id="event-0"),
        ((1, "C01", "/parent_id"),),
    )
    yield Case(
        "N01-falls", "time runs back", changed(4, elapsed_us=2999), ((5, "N01", "/elapsed_us"),)
    )


def life() -> Iterator[Case]:
    edit = Edit()
    edit.drop("session.start")
    yield edit.case("L01-no-start", "no session.start", (1, "L01", "/type"))
    edit = Edit()
    line = edit.put(edit.at("user.message") + 1, story.start())
    yield edit.case("L01-second-start", "the session starts again", (line, "L01", "/type"))
    edit = Edit()
    edit.events.append(story.stop())
    yield edit.case("L02-second-stop", "the session stops twice", (16, "L02", "/type"))
    edit = Edit()
    edit.events += [story.user(), story.request(3, "user")]
    yield edit.case("L03-after-stop", "events after the stop: told once", (16, "L03", "/type"))
    edit = Edit()
    two = to_bytes(numbered([*story.calls(), *story.calls()]))
    first = two.splitlines(keepends=True)
    whole = b"".join(first[:15]).replace(b'"event_count":30', b'"event_count":15')
    yield Case(
        "L03-two-traces",
        "two sessions in one file",
        whole + b"".join(first[15:]),
        ((16, "L03", "/type"), (30, "L02", "/type")),
    )
    events = numbered(story.calls())
    events[-1]["payload"]["event_count"] = 14
    yield Case(
        "L04-count",
        "one event not counted",
        to_bytes(events),
        ((15, "L04", "/payload/event_count"),),
    )
    yield Case("open-no-stop", "not stopped yet", to_bytes(events[:-1]), (), "open")
    yield Case("open-empty", "no event yet", b"", (), "open")
