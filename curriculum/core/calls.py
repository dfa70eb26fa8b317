"""From a proposed call to its one result: prepare, ask, record the start, execute, record the end.

The order is the safety. What was prepared is what the approver sees (as a copy) and what runs;
the start is on record before anything acts; a call that is refused has a result and no start.
"""

from __future__ import annotations

from functools import partial
from itertools import count

from curriculum.core.approval import Decision
from curriculum.core.errors import ApprovalError, CancelledError, ToolError
from curriculum.core.tools import Prepared, RunningCall, ToolResult
from curriculum.core.values import TYPE_CHECKING, value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curriculum.core.approval import Approver
    from curriculum.core.ledger import Ledger
    from curriculum.core.messages import ToolCall
    from curriculum.core.seams import Budget, CancelToken, Scheduler
    from curriculum.core.tools import ToolBox
    from curriculum.core.trace import Event


@value
class Admitted:
    """A prepared call that may run; `cause` is the approval, where one was asked for."""

    prepared: Prepared
    cause: Event | None


class CallRunner:
    """Runs the calls of one answer."""

    def __init__(
        self,
        ledger: Ledger,
        tools: ToolBox,
        approver: Approver,
        scheduler: Scheduler,
        budget: Budget,
    ) -> None:
        self._ledger = ledger
        self._tools = tools
        self._approver = approver
        self._scheduler = scheduler
        self._budget = budget

    # region: act
    def run(self, calls: Sequence[ToolCall], cancel: CancelToken) -> None:
        """Give each call its one result, in the order that the model asked for them."""
        for group in self._scheduler.groups(calls, self._tools):
            cancel.check()
            jobs = [(call, self._admit(call)) for call in group]
            for call, job in jobs:
                if isinstance(job, Admitted):
                    self._ledger.started(call, job.prepared, job.cause)
            work = [partial(self._execute, call, job, cancel) for call, job in jobs]
            faults = []
            for call, outcome in zip(group, self._scheduler.run(work), strict=True):
                if isinstance(outcome, ToolResult):
                    self._ledger.finished(call, outcome)
                    self._ledger.spent(self._budget.settle("call", None))
                else:
                    faults.append(outcome)
            if faults:
                raise faults[0]

    # endregion

    # region: admit
    def _admit(self, call: ToolCall) -> Admitted | ToolResult:
        """Prepare the call and have it allowed, or give the result that says why not."""
        try:
            prepared = self._tools.prepare(call)
        except Exception as fault:
            raise self._ledger.explain(fault, ToolError) from fault
        if isinstance(prepared, ToolResult):
            return prepared
        cause = None
        if call.name not in self._tools.granted:
            decision, cause = self._decide(call, prepared)
            if decision.decision == "cancelled":
                raise CancelledError("cancelled at the question", by=decision.actor_kind)
            if decision.decision != "allow":
                who = "the user" if decision.actor_kind == "user" else f"policy {decision.actor_id}"
                why = f" ({decision.rationale})" if decision.rationale else ""
                refusal = f"{who} refused this call{why}; nothing ran; do not repeat it"
                return ToolResult("denied", refusal)
        self._ledger.spent(self._budget.reserve("call", self._ledger.messages))
        return Admitted(prepared, cause)

    # endregion

    def _decide(self, call: ToolCall, prepared: Prepared) -> tuple[Decision, Event]:
        """Ask about exactly this call. Every question gets one decision on record."""
        request, question = self._ledger.question(call, prepared)
        try:
            decision = self._approver.decide(request)
            if not isinstance(decision, Decision):
                raise TypeError(f"the approver answered {decision!r}")
        except BaseException as fault:
            stop = self._ledger.explain(fault, ApprovalError)
            unanswered = Decision("cancelled", "policy", "harness", stop.message)
            self._ledger.decided(question, unanswered)
            if isinstance(fault, Exception):
                raise stop from fault
            raise
        return decision, self._ledger.decided(question, decision)

    def _execute(
        self, call: ToolCall, job: Admitted | ToolResult, cancel: CancelToken
    ) -> ToolResult | Exception:
        if isinstance(job, ToolResult):
            return job
        index = count()

        def show(stream: str, text: str) -> None:
            self._ledger.output(call, next(index), stream, text)

        try:
            running = RunningCall(call.call_id, cancel, show)
            return self._tools.execute(call.name, job.prepared, running)
        except Exception as fault:
            return self._ledger.explain(fault, ToolError)
