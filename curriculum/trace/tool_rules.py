"""Tool calls from proposal to result: T01-T09.

Only the calls of the latest response are open, so memory is bounded by what is open. The ids of
the turn are kept as ranges (or on disk), since T02 looks back to the last user.message.
"""

from __future__ import annotations

from typing import Any

from curriculum.trace.approval_rules import ApprovalRules, Call
from curriculum.trace.findings import quote
from curriculum.trace.ids import IdSet
from curriculum.trace.now import Now, is_masked, may_be_same

MOST_LATE = 1000
# More calls than a response can hold in one line: whoever sends more is not following along.
MOST_CALLS = 10_000
NEVER_STARTED = frozenset({"denied", "not_executed", "invalid_arguments", "unknown_tool"})


class ToolRules:
    """Judges tool calls: a method for each type that concerns them."""

    def __init__(self, now: Now) -> None:
        self._now = now
        self._calls: dict[str, Call] = {}
        self.approvals = ApprovalRules(now, lambda call_id: self._calls.get(call_id))
        self._turn_ids = IdSet()
        self._proposed: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        self._response: dict[str, Any] = {}
        self._response_line = 0

    def _name_unknown(self, call_id: str) -> None:
        if not self._now.blind:
            self._now.error("T01", "/payload/call_id", f"no call is {quote(call_id)}")

    # region: proposal
    def user_message(self, event: dict[str, Any]) -> None:
        self._end_turn()
        self._turn_ids.close()
        self._turn_ids = IdSet()

    def response(self, event: dict[str, Any]) -> None:
        payload = event["payload"]
        self._expect_calls()
        self._response, self._response_line = payload, self._now.line
        if payload["status"] == "completed":  # of any other answer nothing is run
            for index, call in enumerate(payload["tool_calls"]):
                self._proposed.setdefault(call["call_id"], []).append((index, call))

    def call(self, event: dict[str, Any]) -> None:
        payload = event["payload"]
        call_id = payload["call_id"]
        if not self._turn_ids.add(call_id):
            said = f"the call_id {quote(call_id)} was used before in this turn"
            self._now.error("T02", "/payload/call_id", said)
            self._take_proposal(call_id)
            if call_id in self._calls:
                self._calls[call_id].copies += 1
            else:
                self._register(call_id)
            return
        self._register(call_id)
        proposal = self._take_proposal(call_id)
        if proposal is None:
            names = [call["call_id"] for call in self._response.get("tool_calls", ())]
            if not self._now.blind and not any(may_be_same(call_id, name) for name in names):
                said = f"the response proposed no call {quote(call_id)}"
                self._now.error("T08", "/payload/call_id", said)
            return
        if payload["request_id"] != self._response["request_id"]:
            said = f"the call is of {quote(payload['request_id'])}, the response is not"
            self._now.error("T08", "/payload/request_id", said)
        for name in ("name", "arguments"):
            here, there = payload[name], proposal[name]
            if not may_be_same(here, there):
                said = f"{name} is {quote(here)}, the response proposed {quote(there)}"
                self._now.error("T08", f"/payload/{name}", said)

    def _take_proposal(self, call_id: str) -> dict[str, Any] | None:
        """The first call of that id which the response proposed and which has no tool.call yet."""
        proposals = self._proposed.get(call_id)
        if not proposals:
            return None
        _, proposal = proposals.pop(0)
        if not proposals:
            del self._proposed[call_id]
        return proposal

    def _register(self, call_id: str) -> None:
        if len(self._calls) < MOST_CALLS:
            self._calls[call_id] = Call(self._now.line)
        else:
            self._now.blind = True

    def request(self, event: dict[str, Any]) -> None:
        self._expect_calls()
        open_calls = {name: call for name, call in self._calls.items() if not call.status}
        waiting = [name for name, call in open_calls.items() if not call.is_late]
        if waiting and not self._now.blind:
            more = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
            said = f"call {quote(waiting[0])}{more} has no result yet"
            self._now.error("T09", "/payload/request_id", said)
        for call in open_calls.values():
            call.is_late = True
        # A late result is still looked for, but a file full of open calls is not remembered.
        self._calls = open_calls if len(open_calls) <= MOST_LATE else {}

    def _expect_calls(self) -> None:
        """Every call that the response proposed should have had its tool.call by now."""
        if not self._now.blind:
            for call_id, proposals in self._proposed.items():
                for index, _ in () if is_masked(call_id) else proposals:
                    said = f"the proposed call {quote(call_id)} has no tool.call"
                    pointer = f"/payload/tool_calls/{index}"
                    self._now.error("T08", pointer, said, self._response_line)
        self._proposed = {}

    # endregion

    # region: act
    def start(self, event: dict[str, Any]) -> None:
        call_id = event["payload"]["call_id"]
        call = self._calls.get(call_id)
        if call is None:
            self._name_unknown(call_id)
            return
        call.starts += 1
        if call.status in NEVER_STARTED:
            said = f"call {quote(call_id)} starts after its result {call.status}"
            self._now.error("T05", "/payload/call_id", said)
        elif (call.status and not call.copies) or call.starts > 1 + call.copies:
            said = f"call {quote(call_id)} starts again"
            self._now.error("T07", "/payload/call_id", said)
        else:
            self.approvals.check_start(call_id, call.approval)

    def output(self, event: dict[str, Any]) -> None:
        payload = event["payload"]
        call = self._calls.get(payload["call_id"])
        if call is None:
            self._name_unknown(payload["call_id"])
            return
        if (not call.starts or call.status) and not self._now.blind:
            state = "after its result" if call.status else "before its start"
            said = f"call {quote(payload['call_id'])} gives output {state}"
            self._now.error("T07", "/payload/call_id", said)
        elif payload["index"] != call.outputs and not self._now.blind:
            said = f"index is {payload['index']}, expected {call.outputs}"
            self._now.error("D01", "/payload/index", said)
        call.outputs = payload["index"] + 1

    def result(self, event: dict[str, Any]) -> None:
        payload = event["payload"]
        call_id, status = payload["call_id"], payload["status"]
        call = self._calls.get(call_id)
        if call is None:
            if call_id in self._turn_ids:
                self._report_second(call_id)
            else:
                self._name_unknown(call_id)
            return
        if call.status and call.copies:
            call.copies -= 1
            return
        if call.status:
            self._report_second(call_id)
            return
        call.status = status
        self._check_start(call, status, event["provenance"]["source"])
        if call.approval:
            self.approvals.check_result(call, call.approval, status)

    def _report_second(self, call_id: str) -> None:
        self._now.error("T03", "/payload/call_id", f"call {quote(call_id)} has its result already")

    def _check_start(self, call: Call, status: str, source: str) -> None:
        excused = call.approval is not None and call.approval.excused
        if status in NEVER_STARTED:
            if call.starts and not excused:
                said = f"the result is {status}, but the call had started"
                self._now.error("T05", "/payload/status", said)
        elif not call.starts:
            if not self._now.blind:
                code = "T06" if status == "unknown" else "T07"
                said = f"the result is {status}, but the call never started"
                self._now.error(code, "/payload/status", said)
        elif status == "unknown" and source != "synthesized":
            said = f"the result is unknown, its provenance is {source}"
            self._now.error("T06", "/provenance/source", said)

    # endregion

    def session_stop(self, event: dict[str, Any]) -> None:
        self._end_turn()

    def _end_turn(self) -> None:
        """What is still open has no result."""
        self._expect_calls()
        for call_id, call in self._calls.items():
            if not (call.status or call.is_late or self._now.blind):
                said = f"call {quote(call_id)} has no result"
                self._now.error("T04", "/payload/call_id", said, call.line)
        self._calls = {}

    def close(self) -> None:
        """Give back what is on disk."""
        self._turn_ids.close()
