"""The rules of cancellation: what may happen in a run, and what each record then has to respect.

They are rules of Trace 0.1 and of the lesson's cancellation contract, applied to one step of a
transition table at a time. A broken rule is a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

CANCELS = {"cancel by user": "user", "cancel by policy": "policy"}
EVENTS = (
    "check point",
    "chunk",
    "answer",
    "answer with a call",
    "tool ends",
    "tool overdue",
    *CANCELS,
)
RECORDS = (
    "model.request",
    "model.delta",
    "model.response completed",
    "model.response cancelled",
    "tool.call",
    "tool.start",
    "tool.result completed",
    "tool.result unknown",
    "tool.result not_executed",
    "cancel.request user",
    "cancel.request policy",
    "error",
    "session.stop completed",
    "session.stop cancelled",
)


@dataclass(frozen=True)
class Facts:
    """What is true of a run, judged by its trace and by who has asked it to stop."""

    request: bool = False  # a model request is open
    call: bool = False  # a proposed call has no result yet
    running: bool = False  # that call has started
    asked: str = ""  # who was first to ask for a stop
    recorded: bool = False  # cancel.request is in the trace
    error: bool = False
    stopped: bool = False

    def may_happen(self, event: str) -> bool:
        """Whether the world can send this event now."""
        if self.stopped:
            return False
        if event in ("chunk", "answer", "answer with a call"):
            return self.request
        if event == "tool ends":
            return self.running
        if event == "tool overdue":
            return self.running and bool(self.asked)
        if event == "check point":
            return not self.request and not self.running
        return True


class Broken(Exception):
    """A rule that a step breaks."""


def follow(facts: Facts, event: str, records: Sequence[str]) -> Facts:
    """The facts after `event`, with `records` written. Raises Broken with the rule they break."""
    if event in CANCELS and not facts.asked:
        facts = replace(facts, asked=CANCELS[event])
    is_taken = not facts.asked or "model.response completed" in records
    if event == "answer with a call" and is_taken and "tool.call" not in records:
        raise Broken("an answer that asks for a tool has to record tool.call")
    for record in records:
        if facts.stopped:
            raise Broken(f"{record!r} is recorded after session.stop")
        facts = _write(facts, event, record)
    if event in ("answer", "answer with a call") and facts.request:
        raise Broken("the answer has arrived, but no model.response closes its request")
    deltas = sum(record == "model.delta" for record in records)
    if deltas > 1:
        raise Broken("more than one model.delta is recorded for one piece")
    if event == "chunk" and not facts.asked and not deltas:
        raise Broken("a piece has arrived, but no model.delta shows it")
    if event in ("tool ends", "tool overdue") and facts.running:
        raise Broken("the tool is over, but its call has no tool.result")
    if event == "check point" and not facts.asked and not records:
        raise Broken("a check point without a cancel has to go on with the work")
    return facts


def _write(facts: Facts, event: str, record: str) -> Facts:
    """One record. Rules are those of Trace 0.1 and of the lesson's cancellation contract."""
    kind, _, detail = record.partition(" ")
    if kind == "model.request":
        _need(not facts.asked, "a model request is made although a cancel was asked for")
        _need(not facts.request, "a second model request is made while one is open")
        _need(not facts.call, "a model request is made while a call has no result")
        return replace(facts, request=True)
    if kind == "model.delta":
        _need(facts.request, "a model.delta stands outside a request")
        _need(event == "chunk", "a model.delta shows a piece that has not arrived")
    if kind == "model.response":
        _need(facts.request, "a model.response answers no open request")
        answered = event in ("answer", "answer with a call")
        _need(detail != "completed" or answered, "a response is completed before its answer is in")
        _need(detail != "cancelled" or bool(facts.asked), "a response is cancelled by nobody")
        return replace(facts, request=False)
    if kind == "tool.call":
        _need(event == "answer with a call", "a tool.call is recorded that no answer asked for")
        _need(not facts.request, "a tool.call is recorded before the model.response it belongs to")
        _need(not facts.call, "the same call is recorded twice")
        return replace(facts, call=True)
    if kind == "tool.start":
        _need(facts.call, "a tool is started that has no open call")
        _need(not facts.running, "the same call is started twice")
        _need(not facts.asked, "a tool is started although a cancel was asked for")
        return replace(facts, running=True)
    if kind == "tool.result":
        _need(facts.call, "a call gets a second result, or a result without a call")
        if detail == "not_executed":
            _need(not facts.running, "a tool that has started is reported as not_executed")
        else:
            _need(facts.running, f"a tool that never started is reported as {detail}")
        if detail == "completed":
            _need(event == "tool ends", "a tool is reported as completed before it has ended")
        if detail == "unknown":
            _need(event == "tool overdue", "a tool is given up as unknown before it is overdue")
        return replace(facts, call=False, running=False)
    if kind == "cancel.request":
        _need(bool(facts.asked), "cancel.request is recorded although nobody asked")
        _need(not facts.recorded, "cancel.request is recorded twice")
        _need(
            detail == facts.asked, f"cancel.request names {detail}, but {facts.asked} asked first"
        )
        return replace(facts, recorded=True)
    if kind == "error":
        _need(not facts.error, "more than one error is recorded")
        _need(bool(facts.asked), "an error is recorded although nothing went wrong")
        return replace(facts, error=True)
    if kind == "session.stop":
        _stop(facts, event, detail)
        return replace(facts, stopped=True)
    return facts


def _stop(facts: Facts, event: str, reason: str) -> None:
    _need(not facts.running, "the run stops while a tool in flight has no result")
    _need(not facts.call, "the run stops while a call has no result")
    _need(not facts.request, "the run stops while a model request has no response")
    if facts.asked:
        _need(
            facts.recorded, "the run stops without cancel.request in the trace before session.stop"
        )
    if reason == "cancelled":
        _need(bool(facts.asked), "the run stops as cancelled, but nobody asked")
        _need(facts.error, "a cancelled run needs one error before session.stop")
    else:
        _need(event == "answer", "the run stops as completed without a final answer")
        _need(not facts.asked, "the run stops as completed although a cancel was asked for")


def _need(holds: bool, rule: str) -> None:
    if not holds:
        raise Broken(rule)
