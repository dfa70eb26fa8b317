"""T01 to T09 and A01 to A06: calls and approvals."""

from __future__ import annotations

from collections.abc import Iterator

from tests.trace import story
from tests.trace.cases.edit import Case, Edit


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
    roles = ["user", "assistant", "tool", "assistant", "tool"]
    ran = [story.call(2), story.begun(), story.result()]
    edit.put(index, *ran, story.request(3, *roles), story.response(3, "So."))
    yield edit.case("T02-again", "a call_id used again", (index + 1, "T02", "/payload/call_id"))
    edit = Edit()
    edit.payload("model.response", tool_calls=[story.CALL, story.CALL])
    line = edit.put(edit.at("tool.call") + 1, story.call())
    edit.put(edit.at("tool.result") + 1, story.begun(), story.result())
    edit.payload("model.request", 1, roles=["user", "assistant", "tool", "tool"], message_count=4)
    yield edit.case("T02-twice", "two calls of one id", (line, "T02", "/payload/call_id"))
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
    line = edit.payload("model.response", tool_calls=[story.CALL, story.CALL])
    yield edit.case(
        "T08-proposed-twice",
        "one call_id proposed twice, one tool.call",
        (line, "T08", "/payload/tool_calls/1"),
    )
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
    edit.payload("approval.decision", decision="deny")
    again = {"approval_id": "approval-2"}
    edit.put(edit.at("tool.start"), story.question(**again), story.decision(**again))
    line = edit.at("tool.result") + 1
    yield edit.case(
        "A05-asked-again",
        "denied, then asked again until somebody allowed it",
        (line, "A05", "/payload/status"),
    )
    edit = Edit()
    line = edit.fields("approval.decision", actor={"kind": "model", "id": "model"})
    yield edit.case("A06-model", "the model decides", (line, "A06", "/actor/kind"))
