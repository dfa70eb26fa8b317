"""The cases of `traces/invalid`: each breaks one rule, and says which findings it must give.

The expectations are written by hand here, beside what breaks; they are never taken from the
validator. `line` counts from 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.trace import story
from tests.trace.story import Event, numbered, place, to_bytes

Expected = tuple[int, str, str]
SECRET = 'planted "secret" 4711'


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


def right_lines() -> list[bytes]:
    return to_bytes(numbered(story.calls())).splitlines(keepends=True)


# region: framing and shape
def framing() -> Iterator[Case]:
    lines = right_lines()

    def with_line(number: int, line: bytes) -> bytes:
        return b"".join([*lines[: number - 1], line, *lines[number:]])

    yield Case("F01-bom", "a byte order mark", b"\xef\xbb\xbf" + b"".join(lines), ((1, "F01", ""),))
    latin = lines[1].replace(b"What", b"Wh\xe4t")
    yield Case("F01-latin-1", "a byte that is not UTF-8", with_line(2, latin), ((2, "F01", ""),))
    surrogate = lines[1].replace(b"What", b"Wh\xed\xa0\x80t")
    yield Case("F01-surrogate", "a surrogate as bytes", with_line(2, surrogate), ((2, "F01", ""),))
    yield Case(
        "F02-blank-line",
        "a blank line among the events",
        b"".join([*lines[:2], b"\n", *lines[2:]]),
        ((3, "F02", ""),),
    )
    crlf = b"".join(lines).replace(b"\n", b"\r\n")
    yield Case("F02-crlf", "lines that end with CR LF: told once", crlf, ((1, "F02", ""),))
    array = with_line(3, b"[" + lines[2][:-1] + b"]\n")
    yield Case("F02-array", "a line that holds an array", array, ((3, "F02", ""),))
    two = b"".join([*lines[:2], lines[2][:-1] + b" " + lines[3], *lines[4:]])
    yield Case("F02-two-objects", "two objects on one line", two, ((3, "F02", ""),))
    raw = lines[1].replace(b"What", "Wh\u2028at".encode())
    yield Case("F02-line-separator", "U+2028 unescaped", with_line(2, raw), ((2, "F02", ""),))
    broken = with_line(4, b'{"type":\n')
    yield Case("F03-cut-in-the-middle", "half an object, then LF", broken, ((4, "F03", ""),))
    twice = lines[3].replace(b'"index":0', b'"index":0,"index":0')
    yield Case(
        "F03-duplicate-key",
        "a key that stands twice",
        with_line(4, twice),
        ((4, "F03", "/payload"),),
    )
    nan = lines[3].replace(b'"index":0', b'"index":NaN')
    yield Case("F03-nan", "NaN", with_line(4, nan), ((4, "F03", "/payload/index"),))
    huge = lines[3].replace(b'"elapsed_us":3000', b'"elapsed_us":9007199254740993')
    yield Case(
        "F03-integer", "an integer beyond 2^53-1", with_line(4, huge), ((4, "F03", "/elapsed_us"),)
    )
    infinite = lines[3].replace(b'"elapsed_us":3000', b'"elapsed_us":1e400')
    yield Case(
        "F03-float",
        "a number beyond any float",
        with_line(4, infinite),
        ((4, "F03", "/elapsed_us"),),
    )
    lone = lines[3].replace(b"Let me ", b"Let me \\ud800")
    yield Case(
        "F03-lone-surrogate",
        "half a pair, escaped",
        with_line(4, lone),
        ((4, "F03", "/payload/text"),),
    )
    control = lines[3].replace(b"Let me ", b"Let me \x07")
    yield Case("F03-control", "a raw control character", with_line(4, control), ((4, "F03", ""),))
    cut = b"".join(lines)[:-20]
    yield Case("F04-cut", "the last line is cut", cut, ((15, "F04", ""),), "torn")
    bare = b"".join(lines)[:-1]
    yield Case("F04-no-lf", "only the last LF is missing", bare, ((15, "F04", ""),), "torn")
    zeros = b"".join(lines[:5]) + b"\0" * 64
    yield Case("F04-zeros", "a tail of NUL, as after a crash", zeros, ((6, "F04", ""),), "torn")
    deep = Edit()
    deep.put(5, story.event("x.acme.nest", "harness", deep=nest(61)))
    flat = deep.data()
    deep.events[5] = story.event("x.acme.nest", "harness", deep=nest(63))
    assert flat != deep.data()
    yield deep.case("F05-depth", "nesting 65 deep", (6, "F05", ""))
    yield Case("F03-not-a-trace", "some other text", b"hello, world\n", ((1, "F03", ""),))
    yield Case("F01-binary", "some other bytes", b"\x7fELF\x02\x01\xff\xfe\0\0", ((1, "F01", ""),))


def nest(depth: int) -> Any:
    tree: Any = "leaf"
    for _ in range(depth):
        tree = {"in": tree}
    return tree


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


# endregion


# region: order and life
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


# endregion


# region: model
def model() -> Iterator[Case]:
    edit = Edit()
    line = edit.payload("model.response", 1, request_id="request-9")
    yield edit.case("M01-unknown", "an answer to nothing", (line, "M01", "/payload/request_id"))
    edit = Edit()
    line = edit.put(edit.at("session.stop"), story.response(2, "It is noon."))
    yield edit.case("M02-second-response", "two answers", (line, "M02", "/payload/request_id"))
    edit = Edit([story.start(), story.user(), story.request(1, "user"), story.stop()])
    yield edit.case("M02-no-response", "no answer", (3, "M02", "/payload/request_id"))
    edit = Edit()
    edit.payload("model.response", 1, request_id="request-1")
    line = edit.payload("model.request", 1, request_id="request-1")
    yield edit.case("M02-same-id", "a request id used twice", (line, "M02", "/payload/request_id"))
    yield from attempts()
    edit = Edit()
    line = edit.payload("model.request", 1, roles=["user", "tool"], message_count=2)
    yield edit.case(
        "M04-no-assistant", "the answer was not appended", (line, "M04", "/payload/roles")
    )
    edit = Edit()
    roles = ["user", "assistant", "assistant", "tool"]
    line = edit.payload("model.request", 1, roles=roles, message_count=4)
    yield edit.case(
        "M04-assistant-twice", "the answer was appended twice", (line, "M04", "/payload/roles")
    )
    edit = Edit()
    line = edit.payload("model.request", 1, roles=["user", "tool", "assistant"])
    yield edit.case("M04-order", "roles out of order", (line, "M04", "/payload/roles/1"))
    edit = Edit()
    line = edit.payload("model.request", 1, message_count=2)
    yield edit.case(
        "M04-count", "a count that is not right", (line, "M04", "/payload/message_count")
    )
    edit = Edit()
    report = {"policy": "oldest-first", "reason": "budget", "dropped": [0]}
    counts = {"message_count_before": 3, "message_count": 2}
    index = edit.at("model.request", 1)
    edit.put(index, story.event("context.compact", "harness", **report, **counts))
    yield edit.case(
        "M04-compact", "a compaction that left out nothing", (index + 2, "M04", "/payload/roles")
    )
    edit = Edit()
    edit.events[0] = story.start(resumed_from={"session_id": "session-0", "roles": ["user"]})
    yield edit.case(
        "M04-resumed",
        "a session resumed without its messages",
        (3, "M04", "/payload/roles"),
    )


def attempts() -> Iterator[Case]:
    wait = story.event(
        "retry.wait", "harness", request_id="request-1", attempt=1, cause="overloaded", wait_us=500
    )
    again = story.request(2, "user", attempt=2, turn=1, retry_of="request-1")
    base = [
        story.start(),
        story.user(),
        story.request(1, "user"),
        story.failed(1),
        wait,
        again,
        story.response(2, "Yes."),
        story.stop(),
    ]
    edit = Edit(list(base))
    line = edit.payload("model.request", 1, attempt=3)
    yield edit.case("M03-skips", "attempt 3 after 1", (line, "M03", "/payload/attempt"))
    edit = Edit(list(base))
    line = edit.payload("model.request", 1, retry_of="request-7")
    yield edit.case("M03-retry-of", "a retry of nothing", (line, "M03", "/payload/retry_of"))
    edit = Edit(list(base))
    line = edit.payload("model.request", 1, attempt=1)
    yield edit.case(
        "M03-first-attempt", "attempt 1 that repeats", (line, "M03", "/payload/retry_of")
    )
    edit = Edit(list(base))
    line = edit.payload("retry.wait", request_id="request-7")
    yield edit.case("M03-wait", "a wait after nothing", (line, "M03", "/payload/request_id"))


def deltas() -> Iterator[Case]:
    edit = Edit()
    line = edit.payload("model.delta", 1, index=2)
    yield edit.case("D01-gap", "a piece is missing", (line, "D01", "/payload/index"))
    edit = Edit()
    line = edit.payload("tool.output", index=1)
    yield edit.case("D01-output", "output from piece 1", (line, "D01", "/payload/index"))
    edit = Edit()
    line = edit.put(edit.at("tool.call"), story.delta(1, 2, " Wait."))
    yield edit.case(
        "D02-after-response", "a piece after its answer", (line, "D02", "/payload/request_id")
    )
    edit = Edit()
    line = edit.put(edit.at("model.request"), story.delta(1, 0, "Early."))
    yield edit.case(
        "D02-before-request", "a piece before its request", (line, "D02", "/payload/request_id")
    )
    edit = Edit()
    edit.payload("model.delta", 1, text="see.")
    line = edit.at("model.response") + 1
    yield edit.case("D03-other-text", "other text than shown", (line, "D03", "/payload/content"))
    edit = Edit()
    line = edit.payload("model.response", content="Let me look. Now.")
    yield edit.case("D03-more-text", "more text than shown", (line, "D03", "/payload/content"))
    cut = {"count": 1, "complete": False}
    base = [
        story.start(),
        story.user(),
        story.request(1, "user"),
        story.delta(1, 0, "Let me"),
        story.response(1, "Let us", status="failed", chunks=cut, stop=False),
        story.error(),
        story.stop("failed"),
    ]
    yield Edit(base).case("D04-no-prefix", "not what was shown", (5, "D04", "/payload/content"))
    edit = Edit()
    line = edit.payload("model.response", chunks={"count": 3, "complete": True})
    yield edit.case("D05-count", "three pieces of two", (line, "D05", "/payload/chunks/count"))


# endregion


# region: tools and approvals
def tools() -> Iterator[Case]:
    edit = Edit()
    line = edit.payload("tool.result", call_id="call-7")
    edit.put(line, story.result())
    edit.payload("model.request", 1, roles=["user", "assistant", "tool", "tool"], message_count=4)
    yield edit.case("T01-result", "a result of no call", (line, "T01", "/payload/call_id"))
    edit = Edit()
    line = edit.put(edit.at("tool.start"), story.begun("call-7"))
    yield edit.case("T01-start", "a start of no call", (line, "T01", "/payload/call_id"))
    edit = Edit()
    index = edit.at("session.stop")
    edit.events[index - 1] = story.response(2, "Again.", story.CALL)
    roles = ["user", "assistant", "tool", "assistant"]
    edit.put(index, story.call(2), story.request(3, *roles), story.response(3, "So."))
    yield edit.case("T02-again", "a call_id used again", (index + 1, "T02", "/payload/call_id"))
    edit = Edit()
    line = edit.put(edit.at("tool.result") + 1, story.result())
    edit.payload("model.request", 1, roles=["user", "assistant", "tool", "tool"], message_count=4)
    yield edit.case("T03-second", "two results of one call", (line, "T03", "/payload/call_id"))
    edit = Edit()
    index = edit.at("tool.result")
    edit.events[index:] = [story.error("tool"), story.stop("failed")]
    yield edit.case(
        "T04-none", "a call without a result", (edit.at("tool.call") + 1, "T04", "/payload/call_id")
    )
    edit = Edit()
    index = edit.at("tool.result")
    roles = ["user", "assistant", "user"]
    edit.events[index:] = [
        story.error("tool"),
        story.user("And now?"),
        story.request(2, *roles),
        story.response(2, "Noon."),
        story.stop(),
    ]
    yield edit.case(
        "T04-next-turn",
        "a turn ends with an open call",
        (edit.at("tool.call") + 1, "T04", "/payload/call_id"),
    )
    for status in ("not_executed", "invalid_arguments", "unknown_tool"):
        edit = Edit()
        index = edit.at("tool.result")
        edit.events[index] = story.result(status)
        yield edit.case(
            f"T05-{status.replace('_', '-')}",
            f"{status}, yet it had started",
            (index + 1, "T05", "/payload/status"),
        )
    edit = Edit()
    del edit.events[edit.at("approval.request") : edit.at("tool.result")]
    index = edit.at("tool.result")
    edit.events[index] = story.result("denied")
    edit.put(index + 1, story.begun())
    yield edit.case(
        "T05-start-after-denied", "it starts after all", (index + 2, "T05", "/payload/call_id")
    )
    edit = Edit()
    del edit.events[edit.at("tool.start") : edit.at("tool.result")]
    line = edit.at("tool.result") + 1
    edit.events[line - 1] = story.result("unknown")
    yield edit.case(
        "T06-no-start", "unknown, yet it never started", (line, "T06", "/payload/status")
    )
    edit = Edit()
    line = edit.at("tool.result") + 1
    edit.events[line - 1] = {**story.result("unknown"), "provenance": {"source": "scripted"}}
    yield edit.case(
        "T06-not-synthesized", "unknown from a tool", (line, "T06", "/provenance/source")
    )
    edit = Edit()
    del edit.events[edit.at("tool.start") : edit.at("tool.result")]
    line = edit.at("tool.result") + 1
    yield edit.case("T07-no-start", "completed without a start", (line, "T07", "/payload/status"))
    edit = Edit()
    line = edit.put(edit.at("tool.output"), story.begun())
    yield edit.case("T07-second-start", "one call starts twice", (line, "T07", "/payload/call_id"))
    edit = Edit()
    line = edit.put(edit.at("tool.start"), story.output())
    edit.payload("tool.output", 1, index=1)
    yield edit.case(
        "T07-early-output", "output before the start", (line, "T07", "/payload/call_id")
    )
    edit = Edit()
    line = edit.payload("tool.call", arguments='{"command":"date -u"}')
    yield edit.case("T08-arguments", "other arguments", (line, "T08", "/payload/arguments"))
    edit = Edit()
    line = edit.payload("tool.call", name="shell")
    yield edit.case("T08-name", "another tool", (line, "T08", "/payload/name"))
    edit = Edit()
    other = {**story.CALL, "call_id": "call-2"}
    line = edit.payload("model.response", tool_calls=[story.CALL, other])
    yield edit.case("T08-no-call", "a proposal is lost", (line, "T08", "/payload/tool_calls/1"))
    edit = Edit()
    line = edit.payload("model.response", tool_calls=[])
    yield edit.case(
        "T08-not-proposed", "a call out of nowhere", (line + 1, "T08", "/payload/call_id")
    )
    edit = Edit()
    moved = edit.events.pop(edit.at("tool.result"))
    line = edit.payload("model.request", 1, roles=["user", "assistant"], message_count=2)
    edit.put(line + 1, moved)
    yield edit.case("T09-early", "asked before the result", (line, "T09", "/payload/request_id"))


def approvals() -> Iterator[Case]:
    edit = Edit()
    moved = edit.events.pop(edit.at("approval.request"))
    edit.drop("approval.decision")
    line = edit.put(edit.at("tool.output"), moved)
    yield edit.case("A01-started", "asked after the start", (line, "A01", "/payload/call_id"))
    edit = Edit()
    edit.drop("approval.request")
    line = edit.at("approval.decision") + 1
    yield edit.case(
        "A01-no-question", "an answer to no question", (line, "A01", "/payload/approval_id")
    )
    edit = Edit()
    line = edit.payload("approval.request", call_id="call-7")
    edit.drop("approval.decision")
    yield edit.case("A01-no-call", "a question about no call", (line, "A01", "/payload/call_id"))
    edit = Edit()
    line = edit.put(edit.at("tool.start"), story.decision("deny"))
    yield edit.case("A02-second", "two answers", (line, "A02", "/payload/approval_id"))
    edit = Edit()
    del edit.events[edit.at("approval.decision") : edit.at("tool.result")]
    edit.events[edit.at("tool.result")] = story.result("not_executed")
    line = edit.at("approval.request") + 1
    yield edit.case("A02-none", "no answer", (line, "A02", "/payload/approval_id"))
    for word in ("deny", "cancelled", "expired"):
        edit = Edit()
        edit.payload("approval.decision", decision=word)
        line = edit.at("tool.start") + 1
        yield edit.case(f"A03-{word}", f"it starts after {word}", (line, "A03", "/payload/call_id"))
    edit = Edit()
    edit.drop("approval.decision")
    line = edit.at("tool.start") + 1
    yield edit.case("A03-unanswered", "it starts unanswered", (line, "A03", "/payload/call_id"))
    edit = Edit()
    edit.payload("approval.decision", decision="deny")
    del edit.events[edit.at("tool.start") : edit.at("tool.result")]
    line = edit.at("tool.result") + 1
    edit.events[line - 1] = story.result("unknown_tool")
    yield edit.case(
        "A05-other", "denied, yet the tool is unknown", (line, "A05", "/payload/status")
    )
    edit = Edit()
    line = edit.fields("approval.decision", actor={"kind": "model", "id": "model"})
    yield edit.case("A06-model", "the model decides", (line, "A06", "/actor/kind"))


# endregion


def redaction() -> Iterator[Case]:
    mask = "[REDACTED:key:1]"
    edit = Edit()
    marks = {"status": "redacted", "items": ["/payload/text"]}
    line = edit.fields("user.message", redaction=marks)
    yield edit.case("R01-no-place", "a pointer to nothing", (line, "R01", "/redaction/items/0"))
    edit = Edit()
    marks = {"status": "redacted", "items": ["/payload/content"]}
    line = edit.fields("user.message", redaction=marks)
    yield edit.case("R01-no-mask", "a text without a mask", (line, "R01", "/redaction/items/0"))
    edit = Edit()
    edit.payload("user.message", content=f"My key is {mask}.")
    line = edit.fields("user.message", redaction={"status": "clean"})
    yield edit.case("R02-mask", "clean, yet masked", (line, "R02", "/redaction/status"))
    edit = Edit()
    line = edit.payload("user.message", content=f"My key is {SECRET}.")
    yield edit.case("R05-secret", "a planted secret", (line, "R05", ""), secrets=(SECRET,))


def all_cases() -> list[Case]:
    """Every case, in the order of the contract."""
    families = (framing, shape, order, life, model, deltas, tools, approvals, redaction)
    return [case for family in families for case in family()]
