"""Questions about calls and their answers: A01-A06.

A call carries the latest question about it, so nothing is remembered of calls that are done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from curriculum.trace.findings import quote
from curriculum.trace.now import Now


@dataclass(slots=True)
class Approval:
    """The latest question about a call. `excused` says that it is in no further finding."""

    approval_id: str
    line: int
    decision: str = ""
    excused: bool = False


@dataclass(slots=True)
class Call:
    """A proposed call on its way to its one result.

    `copies` are later calls under the same id: a finding each, so their results are none. A call
    that was denied once stays denied, also when it is asked about again.
    """

    line: int
    copies: int = 0
    status: str = ""
    starts: int = 0
    outputs: int = 0
    approval: Approval | None = None
    is_denied: bool = False
    is_late: bool = False


class ApprovalRules:
    """Judges approvals. `find` gives the call of an id, if it is one of the latest response."""

    def __init__(self, now: Now, find: Callable[[str], Call | None]) -> None:
        self._now, self._find = now, find

    def question(self, event: dict[str, Any]) -> None:
        payload = event["payload"]
        call = self._find(payload["call_id"])
        if call is None:
            self._name_unknown(payload["call_id"])
            return
        if call.status or call.starts:
            state = "has its result" if call.status else "has started"
            said = f"call {quote(payload['call_id'])} {state} already"
            self._now.error("A01", "/payload/call_id", said)
            return
        if call.approval:
            self._expect_decision(call.approval)
        call.approval = Approval(payload["approval_id"], self._now.line)

    def decision(self, event: dict[str, Any]) -> None:
        payload = event["payload"]
        kind = event["actor"]["kind"]
        if kind not in ("user", "policy"):
            self._now.error("A06", "/actor/kind", f"a {kind} decided")
        call = self._find(payload["call_id"])
        if call is None:
            self._name_unknown(payload["call_id"])
            return
        approval = call.approval
        if approval is None or approval.approval_id != payload["approval_id"]:
            if not self._now.blind:
                said = f"{quote(payload['approval_id'])} was not asked about this call"
                self._now.error("A01", "/payload/approval_id", said)
        elif approval.decision:
            said = f"{quote(approval.approval_id)} has its decision already"
            self._now.error("A02", "/payload/approval_id", said)
        else:
            approval.decision = payload["decision"]
            call.is_denied = call.is_denied or approval.decision == "deny"

    def _expect_decision(self, approval: Approval) -> None:
        if not (approval.decision or approval.excused or self._now.blind):
            said = f"{quote(approval.approval_id)} has no decision"
            self._now.error("A02", "/payload/approval_id", said, approval.line)

    def check_start(self, call_id: str, approval: Approval | None) -> None:
        """A call starts: it was allowed, if it was asked about."""
        if approval and approval.decision != "allow" and not self._now.blind:
            said = f"call {quote(call_id)} starts, its approval is {approval.decision or 'open'}"
            self._now.error("A03", "/payload/call_id", said)
            approval.excused = True

    def check_result(self, call: Call, approval: Approval, status: str) -> None:
        """A call that was asked about has its result."""
        self._expect_decision(approval)
        refused = call.is_denied and status not in ("denied", "not_executed")
        if refused and not approval.excused:
            self._now.error(
                "A05", "/payload/status", f"the call was denied, its result is {status}"
            )

    def _name_unknown(self, call_id: str) -> None:
        if not self._now.blind:
            self._now.error("A01", "/payload/call_id", f"no call is {quote(call_id)}")
