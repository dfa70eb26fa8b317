"""Requests, their deltas and their responses: M01-M04 and D01-D05.

One request is open at a time. The roles of every message so far are kept, as the events tell
them, because each request has to list exactly those (or what a compaction left of them).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from curriculum.core.trace import MAX_LINE_BYTES
from curriculum.trace.findings import quote
from curriculum.trace.ids import IdSet
from curriculum.trace.now import MASK, Now, is_masked, may_be_same

# A request that lists more roles than this does not fit in a line: no need to remember more.
MOST_ROLES = MAX_LINE_BYTES // len('"user",')


@dataclass(slots=True)
class Request:
    """A model.request and what came of it. `size` is the deltas' text in characters."""

    request_id: str
    attempt: int
    roles: list[str]
    line: int
    deltas: int = 0
    size: int = 0
    text: StringIO = field(default_factory=StringIO)
    has_gap: bool = False
    status: str = ""


class ModelRules:
    """Judges what passes between harness and model: a method for each type that concerns it."""

    def __init__(self, now: Now) -> None:
        self._now = now
        self._ids = IdSet()
        self._open: Request | None = None
        self._last: Request | None = None
        self._roles: list[str] | None = []
        self._begins = True
        self._compaction: dict[str, Any] | None = None

    def session_start(self, event: dict[str, Any]) -> None:
        resumed = event["payload"].get("resumed_from")
        if resumed:
            self._roles = list(resumed["roles"])

    def user_message(self, event: dict[str, Any]) -> None:
        self._expect_response()
        self._last = None
        self._append("user")

    def tool_result(self, event: dict[str, Any]) -> None:
        self._append("tool")

    def compact(self, event: dict[str, Any]) -> None:
        self._compaction = report = event["payload"]
        before = report["message_count_before"]
        places = [(f"dropped/{at}", index) for at, index in enumerate(report["dropped"])]
        for at, cut in enumerate(report.get("truncated", ())):
            places.append((f"truncated/{at}/index", cut["index"]))
        for place, index in places:
            if index >= before:
                said = f"there is no message {index}: {before} were counted"
                self._now.error("M04", f"/payload/{place}", said)

    def lost(self) -> None:
        """A line is missing: the messages are known again with the next whole request."""
        self._roles = None

    def _append(self, role: str) -> None:
        if self._roles is not None:
            self._roles.append(role)
            if len(self._roles) > MOST_ROLES:
                self._roles = None

    # region: request
    def request(self, event: dict[str, Any]) -> None:
        self._expect_response()
        payload = event["payload"]
        request = Request(
            payload["request_id"], payload["attempt"], payload["roles"], self._now.line
        )
        if not self._ids.add(request.request_id):
            said = f"request_id {quote(request.request_id)} was used before"
            self._now.error("M02", "/payload/request_id", said)
        last = self._last
        self._check_attempt(request, payload.get("retry_of"), last)
        if payload["message_count"] != len(request.roles):
            said = f"message_count is {payload['message_count']}, roles are {len(request.roles)}"
            self._now.error("M04", "/payload/message_count", said)
        if request.attempt > 1 and last is not None:
            self._compare(request.roles, last.roles, "the request that it repeats")
        elif self._compaction is not None:
            self._check_compacted(request.roles, self._compaction)
        else:
            self._check_roles(request.roles)
        self._compaction = None
        self._begins = False
        self._open = request

    def _check_attempt(self, request: Request, retry_of: str | None, last: Request | None) -> None:
        if request.attempt == 1:
            if retry_of is not None:
                said = "attempt 1 repeats nothing, yet it has retry_of"
                self._now.error("M03", "/payload/retry_of", said)
            return
        if last is None:
            if not self._now.blind:
                said = f"attempt is {request.attempt}, and no request came before"
                self._now.error("M03", "/payload/attempt", said)
        elif self._now.blind:
            return
        elif request.attempt != last.attempt + 1:
            said = f"attempt is {request.attempt} after {last.attempt}"
            self._now.error("M03", "/payload/attempt", said)
        elif retry_of != last.request_id:
            said = f"retry_of is {quote(retry_of)}, the request before {quote(last.request_id)}"
            self._now.error("M03", "/payload/retry_of", said)
        elif last.status not in ("failed", ""):
            said = f"the attempt before did not fail, it is {last.status}"
            self._now.error("M03", "/payload/attempt", said)

    def wait(self, event: dict[str, Any]) -> None:
        payload, last = event["payload"], self._last
        if self._now.blind or (last and last.request_id == payload["request_id"]):
            if last and not self._now.blind and payload["attempt"] != last.attempt:
                said = f"attempt is {payload['attempt']}, the request's {last.attempt}"
                self._now.error("M03", "/payload/attempt", said)
            return
        said = f"{quote(payload['request_id'])} is not the request before"
        self._now.error("M03", "/payload/request_id", said)

    def _check_roles(self, roles: list[str]) -> None:
        known = self._roles
        if known is not None:
            if self._begins and roles[:1] == ["system"] and roles != known:
                known = ["system", *known]  # a system prompt stands before all that was said
            if not self._compare(roles, known, "the messages before"):
                known = roles
        self._roles = list(roles) if known is None else known

    def _check_compacted(self, roles: list[str], report: dict[str, Any]) -> None:
        """What the compaction says it did is what the request shows."""
        if report["message_count"] != len(roles):
            said = f"{len(roles)} messages, but context.compact left {report['message_count']}"
            self._now.error("M04", "/payload/roles", said)
            return
        known = self._roles
        if known is None:
            return
        before = report["message_count_before"]
        if self._begins and before == len(known) + 1:
            known = self._roles = ["system", *known]
        if before != len(known):
            said = f"context.compact counted {before} messages, there were {len(known)}"
            self._now.error("M04", "/payload/roles", said)
            self._roles = None
        else:
            dropped = set(report["dropped"])
            kept = [role for index, role in enumerate(known) if index not in dropped]
            if dropped and "summary" in report:
                kept.insert(min(dropped), "user")  # it stands where the first was left out
            self._compare(roles, kept, "what context.compact left")

    def _compare(self, roles: list[str], expected: list[str], of: str) -> bool:
        if roles == expected:
            return True
        if len(roles) != len(expected):
            said = f"{len(roles)} roles, expected {len(expected)}: those of {of}"
            self._now.error("M04", "/payload/roles", said)
            return False
        at = next(at for at, role in enumerate(roles) if role != expected[at])
        said = f"the role is {quote(roles[at])}, expected {quote(expected[at])} as in {of}"
        self._now.error("M04", f"/payload/roles/{at}", said)
        return False

    def _expect_response(self) -> None:
        """The open request should have had its response by now."""
        if self._open and not self._now.blind:
            said = f"request {quote(self._open.request_id)} has no response"
            self._now.error("M02", "/payload/request_id", said, self._open.line)
        self._open = None

    # endregion

    # region: response
    def delta(self, event: dict[str, Any]) -> None:
        payload, request = event["payload"], self._open
        if request is None or payload["request_id"] != request.request_id:
            if not self._now.blind:
                said = f"request {quote(payload['request_id'])} is not open"
                self._now.error("D02", "/payload/request_id", said)
            return
        if payload["index"] != request.deltas:
            if not self._now.blind and not request.has_gap:
                said = f"index is {payload['index']}, expected {request.deltas}"
                self._now.error("D01", "/payload/index", said)
            request.has_gap = True
        request.deltas += 1
        request.size += len(payload["text"])
        if request.size <= MAX_LINE_BYTES:
            request.text.write(payload["text"])

    def response(self, event: dict[str, Any]) -> None:
        payload, request = event["payload"], self._open
        if request is None or payload["request_id"] != request.request_id:
            self._check_stray(payload["request_id"])
        else:
            request.status = payload["status"]
            if not self._now.blind and not request.has_gap:
                self._check_text(payload, request)
            request.text.close()
            self._open, self._last = None, request
        if payload["status"] == "completed":
            self._append("assistant")

    def _check_stray(self, request_id: str) -> None:
        if request_id in self._ids:
            said = f"request {quote(request_id)} already has its response"
            self._now.error("M02", "/payload/request_id", said)
        elif not self._now.blind:
            said = f"no request is {quote(request_id)}"
            self._now.error("M01", "/payload/request_id", said)
            self._open = None

    def _check_text(self, payload: dict[str, Any], request: Request) -> None:
        chunks, content = payload["chunks"], payload["content"]
        if chunks["count"] != request.deltas:
            said = f"chunks.count is {chunks['count']}, deltas are {request.deltas}"
            self._now.error("D05", "/payload/chunks/count", said)
            return
        shown = request.text.getvalue()
        if not request.deltas:
            return
        if is_masked(content, shown) and request.size <= MAX_LINE_BYTES:
            # What was not shown of a failed answer may be anything, as what a mask stands for.
            more = "" if chunks["complete"] else f"{MASK}more:1]"
            if may_be_same(shown + more, content):
                return
        if chunks["complete"]:
            if request.size != len(content) or shown != content:
                said = f"the deltas say {quote(shown)}, the content is {quote(content)}"
                self._now.error("D03", "/payload/content", said)
        elif request.size > len(content) or not content.startswith(shown):
            said = f"the deltas say {quote(shown)}, the content is {quote(content)}"
            self._now.error("D04", "/payload/content", said)

    # endregion

    def session_stop(self, event: dict[str, Any]) -> None:
        self._expect_response()

    def close(self) -> None:
        """Give back what is on disk."""
        self._ids.close()
