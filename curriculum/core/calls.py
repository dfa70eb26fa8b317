"""From a proposed call to its one result: prepare, ask, record the start, execute, record the end.

The order is the safety. What was prepared is what the approver sees (as a copy) and what runs;
the start is on record before anything acts; a call that is refused has a result and no start.
"""

from __future__ import annotations

from curriculum.core.approval import ApprovalRequest, Decision, DenyAll
from curriculum.core.errors import ApprovalError, CancelledError, ToolError
from curriculum.core.tools import Prepared, RunningCall, ToolResult, copy_display
from curriculum.core.trace import clean_text
from curriculum.core.values import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curriculum.core.approval import Approver
    from curriculum.core.interrupts import Interrupts
    from curriculum.core.ledger import Ledger
    from curriculum.core.messages import ToolCall
    from curriculum.core.seams import Budget, CancelToken, Scheduler
    from curriculum.core.tools import ToolBox


class CallRunner:
    """Runs the calls of one answer."""

    def __init__(
        self,
        ledger: Ledger,
        tools: ToolBox,
        approver: Approver | None,
        scheduler: Scheduler,
        budget: Budget,
        interrupts: Interrupts,
    ) -> None:
        self._ledger = ledger
        self._recorder = ledger.recorder
        self._tools = tools
        self._approver = approver or DenyAll()
        self._scheduler = scheduler
        self._budget = budget
        self._interrupts = interrupts

    # region: act
    def run(self, calls: Sequence[ToolCall], cancel: CancelToken) -> None:
        """Give each call its one result, in the order that the model asked for them."""
        for group in self._scheduler.groups(calls, self._tools):
            cancel.check()
            jobs = [(call, self._admit(call)) for call in group]
            for call, job in jobs:
                if isinstance(job, Prepared):
                    self._ledger.started(call, job)
            work = [self._work(c, job, cancel) for c, job in jobs if isinstance(job, Prepared)]
            outcomes = iter(self._interrupts.call(self._scheduler.run, work) if work else ())
            faults = []
            for call, job in jobs:
                outcome = next(outcomes) if isinstance(job, Prepared) else job
                if isinstance(outcome, ToolResult):
                    self._ledger.finished(call, outcome)
                    if isinstance(job, Prepared):
                        self._ledger.report("budget.spend", self._budget.settle("call", None))
                else:
                    faults.append(outcome)
            if faults:
                raise faults[0]

    # endregion

    # region: admit
    def _admit(self, call: ToolCall) -> Prepared | ToolResult:
        """Prepare the call and have it allowed, or give the result that says why not."""
        try:
            prepared = self._interrupts.call(self._tools.prepare, call)
        except Exception as fault:
            raise self._ledger.explain(fault, ToolError) from fault
        if isinstance(prepared, ToolResult):
            return prepared
        if call.name not in self._tools.granted:
            decision = self._decide(call, prepared)
            if decision.decision == "cancelled":
                raise CancelledError("cancelled at the question", by=decision.actor_kind)
            if decision.decision != "allow":
                who = "the user" if decision.actor_kind == "user" else f"policy {decision.actor_id}"
                why = f" ({decision.rationale})" if decision.rationale else ""
                return ToolResult(
                    "denied", f"{who} refused this call{why}; nothing ran; do not repeat it"
                )
        self._ledger.report("budget.spend", self._budget.reserve("call", self._ledger.messages))
        return prepared

    # endregion

    # region: decide
    def _decide(self, call: ToolCall, prepared: Prepared) -> Decision:
        """Ask about exactly this call. Every question gets one decision on record."""
        about = {"approval_id": self._recorder.ids.next("approval"), "call_id": call.call_id}
        shown = {**about, "display": copy_display(prepared.display)}
        question = self._ledger.note("approval.request", shown, self._ledger.cause_of(call))
        display = copy_display(prepared.display)
        request = ApprovalRequest(about["approval_id"], call.call_id, call.name, display)

        def record(decision: Decision) -> Decision:
            rationale = {"rationale": clean_text(decision.rationale)} if decision.rationale else {}
            event = self._recorder.emit(
                "approval.decision",
                actor_kind=decision.actor_kind,
                actor_id=decision.actor_id,
                payload={**about, "decision": decision.decision, **rationale},
                parent=question,
            )
            self._ledger.decided(call, event)
            return decision

        try:
            decision = self._interrupts.call(self._approver.decide, request)
            if not _is_answer(decision):
                raise TypeError(f"the approver answered {decision!r}")
        except BaseException as fault:
            stop = self._ledger.explain(fault, ApprovalError)
            record(Decision("cancelled", "policy", "harness", stop.message))
            if isinstance(fault, Exception):
                raise stop from fault
            raise
        return record(decision)

    # endregion

    def _work(
        self, call: ToolCall, prepared: Prepared, cancel: CancelToken
    ) -> Callable[[], ToolResult | Exception]:
        """What the scheduler runs for this call; a bug in the tool comes back as its outcome."""
        pieces = 0

        def show(stream: str, text: str) -> None:
            nonlocal pieces
            with self._ledger.outputs:  # a tool may have threads, and they may outlive its call
                cause = self._ledger.cause_of(call)
                about = {"call_id": call.call_id, "index": pieces, "stream": stream}
                self._recorder.emit(
                    "tool.output",
                    actor_kind="tool",
                    actor_id=call.name,
                    payload={**about, "text": clean_text(text)},
                    parent=cause,
                )
                pieces += 1

        def execute() -> ToolResult | Exception:
            try:
                running = RunningCall(call.call_id, cancel, show)
                return self._tools.execute(call.name, prepared, running)
            except Exception as fault:
                return self._ledger.explain(fault, ToolError)

        return execute


def _is_answer(decision: object) -> bool:
    """Whether it is one of the four words, said by a user or a policy with a name."""
    return (
        type(decision) is Decision
        and decision.decision in ("allow", "deny", "cancelled", "expired")
        and decision.actor_kind in ("user", "policy")
        and isinstance(decision.actor_id, str)
        and 0 < len(decision.actor_id) <= 64
        and isinstance(decision.rationale, str)
    )
