"""The semantic rules of Trace 0.1, one event after the other.

The schema says what one event looks like; these rules say what a file of them means. Each family
keeps its own state, bounded by what is open, and is called only for the types that concern it.
Life (L01-L04) is here, since it decides what the others still look at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from curriculum.trace.canaries import Seams
from curriculum.trace.findings import quote
from curriculum.trace.model_rules import ModelRules
from curriculum.trace.now import Now
from curriculum.trace.order_rules import OrderRules
from curriculum.trace.redaction_rules import check_marks
from curriculum.trace.tool_rules import ToolRules

Handler = Callable[[dict[str, Any]], None]
# A line of one of these that is missing or malformed explains nothing about the lines after it.
ASIDE = frozenset({"journal.append", "budget.spend", "session.recover", "outcome.acknowledge"})


class Rules:
    """Judges events in file order. The caller sets `now.line` before each call."""

    def __init__(self, now: Now, seams: Seams | None = None) -> None:
        self._now, self._seams = now, seams
        self.order = OrderRules(now)
        self._model, self._tools = ModelRules(now), ToolRules(now)
        self.has_stopped = False
        self._follows_reported = False
        model, tools = self._model, self._tools
        self._handlers: dict[str, tuple[Handler, ...]] = {
            "session.start": (self._start, model.session_start),
            "user.message": (model.user_message, tools.user_message, self._see_again),
            "context.compact": (model.compact,),
            "model.request": (tools.request, model.request),
            "model.delta": (model.delta,),
            "model.response": (model.response, tools.response),
            "retry.wait": (model.wait,),
            "tool.call": (tools.call,),
            "approval.request": (tools.approvals.question,),
            "approval.decision": (tools.approvals.decision,),
            "tool.start": (tools.start,),
            "tool.output": (tools.output,),
            "tool.result": (tools.result, model.tool_result),
            "session.stop": (model.session_stop, tools.session_stop, self._stop),
        }

    def event(self, event: dict[str, Any], line: bytes, has_id: bool = True) -> None:
        """One event of right shape (or made neutral where it is not)."""
        kind = event["type"]
        if self._now.line == 1 and kind != "session.start" and kind:
            self._now.error("L01", "/type", f"the first event is {quote(kind)}, not session.start")
        is_new = self.order.check(event, has_id)
        if event["redaction"]["status"] != "unchecked":
            check_marks(self._now, event, line)
        if self._seams:
            self._seams.event(event)
        if self.has_stopped:
            self._follow(kind)
        elif is_new:
            for handle in self._handlers.get(kind, ()):
                handle(event)

    def lost(self) -> None:
        """A line of the file cannot be read."""
        self.order.lost()
        self.go_blind("")

    def go_blind(self, kind: str) -> None:
        """An event of that type cannot be taken into account."""
        if kind not in ASIDE and not kind.startswith("x."):
            self._now.blind = True
            self._model.lost()

    def close(self) -> None:
        """Give back what is on disk."""
        for family in (self.order, self._model, self._tools):
            family.close()

    def _see_again(self, event: dict[str, Any]) -> None:
        self._now.blind = False

    def _start(self, event: dict[str, Any]) -> None:
        if self._now.line != 1:
            self._now.error("L01", "/type", "the session starts again")

    def _stop(self, event: dict[str, Any]) -> None:
        self.has_stopped = True
        count, right = event["payload"]["event_count"], event["sequence"] + 1
        if count != right:
            said = f"event_count is {count}, this is event {right}"
            self._now.error("L04", "/payload/event_count", said)

    def _follow(self, kind: str) -> None:
        """Something follows the stop: told once, and not judged any further."""
        if kind == "session.stop":
            self._now.error("L02", "/type", "the session stops again")
        elif not self._follows_reported:
            self._follows_reported = True
            self._now.error(
                "L03", "/type", f"{quote(kind) if kind else 'an event'} follows session.stop"
            )
