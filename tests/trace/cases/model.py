"""M01 to M04 and D01 to D05: requests, attempts, pieces and answers."""

from __future__ import annotations

from collections.abc import Iterator

from tests.trace import story
from tests.trace.cases.edit import Case, Edit


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
    missing = {"dropped": [3], "truncated": [{"index": 4, "head": 1, "tail": 1}]}
    line = edit.put(
        index, story.event("context.compact", "harness", **{**report, **missing, **counts})
    )
    edit.events[line - 1]["payload"]["message_count"] = 3
    yield edit.case(
        "M04-no-message",
        "a compaction of messages that nobody said",
        (line, "M04", "/payload/dropped/0"),
        (line, "M04", "/payload/truncated/0/index"),
    )
    edit = Edit()
    line = edit.payload("model.request", 1, roles=["assistant", "tool"], message_count=2)
    report = {**report, "dropped": [0, 1], "summary": "Somebody asked for the time."}
    edit.put(line - 1, story.event("context.compact", "harness", **report, **counts))
    yield edit.case(
        "M04-summary",
        "a summary that is not shown as a user message where the first was left out",
        (line + 1, "M04", "/payload/roles/0"),
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
