"""E01 and E02: the shape of one event."""

from __future__ import annotations

from collections.abc import Iterator

from tests.trace import story
from tests.trace.cases.edit import Case, Edit
from tests.trace.story import numbered, to_bytes


def shape() -> Iterator[Case]:
    edit = Edit()
    line = edit.fields("user.message", colour="red")
    yield edit.case("E01-envelope-is-closed", "a field of no meaning", (line, "E01", "/colour"))
    edit = Edit()
    line = edit.payload("model.delta", chain_of_thought="hm")
    yield edit.case(
        "E01-private-reasoning",
        "private reasoning is in no payload",
        (line, "E01", "/payload/chain_of_thought"),
    )
    edit = Edit()
    line = edit.put(5, story.event("x.acme.thoughts", "harness", chain_of_thought="hm"))
    yield edit.case(
        "E01-private-of-a-vendor",
        "private reasoning is in no payload of a vendor either",
        (line, "E01", "/payload/chain_of_thought"),
    )
    edit = Edit()
    line = edit.payload("tool.result", status="done")
    yield edit.case("E01-status", "a status of no meaning", (line, "E01", "/payload/status"))
    edit = Edit()
    del edit.events[1]["payload"]["content"]
    yield edit.case("E01-missing", "a payload without its field", (2, "E01", "/payload"))
    edit = Edit()
    line = edit.fields("model.response", actor={"kind": "harness", "id": "agent"})
    yield edit.case(
        "E01-actor", "the harness claims the model's answer", (line, "E01", "/actor/kind")
    )
    edit = Edit()
    edit.events = numbered(edit.events)
    edit.events[4]["timestamp"] = "2026-01-01 00:00:00"
    yield Case(
        "E01-timestamp",
        "a timestamp of another form",
        to_bytes(edit.events),
        ((5, "E01", "/timestamp"),),
    )
    edit = Edit()
    line = edit.payload("model.delta", text="")
    edit.payload("model.delta", 1, text="Let me look.")
    yield edit.case("E01-empty-delta", "a delta of no text", (line, "E01", "/payload/text"))
    edit = Edit()
    edit.fields("model.request", ext={"acme.note": 1, "note": 2})
    yield edit.case("E01-ext", "a note of no vendor", (3, "E01", "/ext/note"))
    edit = Edit()
    line = edit.put(5, story.event("tool.retry", "harness", anything=1))
    unknown = ((line, "E02", "/type"),)
    yield edit.case("E02-unknown-strict", "an unknown type, strictly", *unknown, is_strict=True)
    yield edit.case(
        "E02-unknown-warning", "an unknown type: a warning", verdict="complete", warnings=unknown
    )
    edit = Edit()
    line = edit.put(5, story.event("x.acme", "harness"))
    unknown = ((line, "E02", "/type"),)
    yield edit.case("E02-vendor", "a vendor's type without a name", *unknown, is_strict=True)
