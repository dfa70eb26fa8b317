"""What a record may be when something happens: the rules of s06 C, one call at a time.

`Facts` is what is really on disk, kept by the checker. The table under test has only its states.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

EVENTS = (
    "the user speaks",
    "the model asks",
    "the call is allowed",
    "the call is refused",
    "the tool ends",
    "the model answers",
    "the turn ends",
    "recovery goes on",
    "the user has looked",
)
RECORDS = (
    "user_input",
    "model_response",
    "tool_start",
    "tool_result completed",
    "tool_result denied",
    "tool_result not_executed",
    "tool_result unknown",
    "turn_end completed",
    "turn_end interrupted",
    "outcome_acknowledged",
)


class Broken(Exception):
    """A rule is broken; the message says which."""


@dataclass(frozen=True)
class Facts:
    """What the disk says, and whether a recovery is under way."""

    turn: bool = False
    call: bool = False
    started: bool = False
    answered: bool = False
    doubt: bool = False
    recovering: bool = False

    def may_happen(self, event: str) -> bool:
        """Whether the world can come up with it now."""
        if event == "recovery goes on":
            return True  # a process may be killed at any time, also one that recovers
        if self.recovering:
            return False
        between = not self.turn
        speaking = self.turn and not self.call and not self.answered
        return {
            "the user speaks": between,
            "the model asks": speaking,
            "the model answers": speaking,
            "the call is allowed": self.call and not self.started,
            "the call is refused": self.call and not self.started,
            "the tool ends": self.call and self.started,
            "the turn ends": self.answered,
            "the user has looked": self.doubt and between,
        }[event]


def follow(facts: Facts, event: str, record: str) -> Facts:
    """The facts after the record. Raises Broken."""
    if event == "recovery goes on":
        return _recover(facts, record)
    if event == "the user speaks" and facts.doubt:
        _need(not record, "user input is taken although an outcome is unknown and unacknowledged")
        return facts
    wanted = {
        "the user speaks": "user_input",
        "the model asks": "model_response",
        "the model answers": "model_response",
        "the call is allowed": "tool_start",
        "the call is refused": "tool_result denied",
        "the tool ends": "tool_result completed",
        "the turn ends": "turn_end completed",
        "the user has looked": "outcome_acknowledged",
    }[event]
    _need(record == wanted, f"when {event}, {wanted} has to be saved before the next step")
    return {
        "the user speaks": replace(facts, turn=True),
        "the model asks": replace(facts, call=True),
        "the model answers": replace(facts, answered=True),
        "the call is allowed": replace(facts, started=True),
        "the call is refused": replace(facts, call=False),
        "the tool ends": replace(facts, call=False, started=False),
        "the turn ends": Facts(),
        "the user has looked": replace(facts, doubt=False),
    }[event]


def _recover(facts: Facts, record: str) -> Facts:
    """One step of recovery: the next thing that is owed, or nothing if nothing is."""
    _need(record != "tool_start", "recovery starts a tool: it may run twice")
    _need(record != "user_input", "recovery speaks for the user")
    _need(record != "model_response", "recovery speaks for the model")
    _need(record != "outcome_acknowledged", "recovery acknowledges for the user")
    kind, _, status = record.partition(" ")
    if kind == "tool_result":
        _need(facts.call, "recovery gives a result to a call that has one, or to none")
        if status in ("completed", "denied"):
            raise Broken(f"recovery invents the result {status}: nobody has seen it")
        if status == "unknown":
            _need(facts.started, "a call without a start is reported as unknown: it did not run")
        else:
            _need(not facts.started, "a call that has started is reported as not_executed")
        is_doubt = status == "unknown"
        return replace(facts, call=False, started=False, doubt=is_doubt, recovering=True)
    if kind == "turn_end":
        _need(facts.turn, "recovery is not idempotent: it ends a turn that has ended")
        _need(not facts.call, "recovery ends a turn while a call has no result")
        _need(status == "interrupted", "recovery says that a turn which was cut off completed")
        return Facts(doubt=facts.doubt, recovering=True)
    _need(not facts.call, "recovery stops although a call has no result")
    _need(not facts.turn, "recovery stops although the turn has no end")
    return replace(facts, recovering=False)


def _need(holds: bool, rule: str) -> None:
    if not holds:
        raise Broken(rule)
