"""Graders A to C of s12 are graded: the reference passes, each wrong solution is told why."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

import pytest

from curriculum.core.approval import ApprovalRequest, Approver, Decision
from curriculum.core.loop import AgentConfig, AgentRunner
from curriculum.core.model import Model, StreamingModel
from curriculum.core.policy import PolicyApprover, Rule
from curriculum.core.retry import RetryingModel, RetryPolicy
from curriculum.core.seams import CancelToken
from curriculum.core.tools import Tool, ToolBox
from curriculum.core.trace import Recorder
from curriculum.core.waiting import Waiter
from curriculum.grading.s12 import grade_assemble, grade_side_by_side
from curriculum.grading.what_becomes import SITUATIONS, grade_what_becomes, observe_fault
from curriculum.lessons.s12_mino import solutions
from curriculum.sessions.store import SessionStore

Rows = list[tuple[str, str]]


def test_the_reference_passes() -> None:
    grade_side_by_side(solutions.side_by_side)
    grade_assemble(solutions.assemble)
    assert solutions.WHAT_BECOMES is not None
    grade_what_becomes(solutions.WHAT_BECOMES)


# A. side_by_side


def by_order(session: bytes, trace: bytes) -> Rows:
    """The n-th record of a kind and the n-th event of its type: wrong for a later run."""
    events = [json.loads(line) for line in trace.splitlines()]
    rows, seen = [], dict.fromkeys(solutions.TOLD_BY, 0)
    for record in map(json.loads, session.splitlines()):
        kind = record["kind"]
        found = [e["event_id"] for e in events if e["type"] == solutions.TOLD_BY.get(kind)]
        at = seen.get(kind, 0)
        rows.append((kind, found[at] if at < len(found) else ""))
        seen[kind] = at + 1
    return rows


def the_append_itself(session: bytes, trace: bytes) -> Rows:
    """Names the journal.append in place of the event that it stands before."""
    events = [json.loads(line) for line in trace.splitlines()]
    at = {e["payload"]["position"]: e for e in events if e["type"] == "journal.append"}
    rows = []
    for record in map(json.loads, session.splitlines()):
        event = at.get(record["sequence"])
        rows.append((record["kind"], event["event_id"] if event else ""))
    return rows


def event_before(session: bytes, trace: bytes) -> Rows:
    """Looks for the event in front of the journal.append."""
    events = [json.loads(line) for line in trace.splitlines()]
    told = {}
    for index, event in enumerate(events):
        if event["type"] == "journal.append":
            wanted = solutions.TOLD_BY.get(event["payload"]["record_kind"])
            before = (e["event_id"] for e in events[:index][::-1] if e["type"] == wanted)
            told[event["payload"]["position"]] = next(before, "")
    return [
        (record["kind"], told.get(record["sequence"], ""))
        for record in map(json.loads, session.splitlines())
    ]


def stop_tells_of_the_end(session: bytes, trace: bytes) -> Rows:
    events = [json.loads(line) for line in trace.splitlines()]
    stop = next((e["event_id"] for e in events if e["type"] == "session.stop"), "")
    return [
        (kind, stop if kind == "turn_end" else told)
        for kind, told in solutions.side_by_side(session, trace)
    ]


def needs_every_record(session: bytes, trace: bytes) -> Rows:
    events = [json.loads(line) for line in trace.splitlines()]
    at = {e["payload"]["position"]: e for e in events if e["type"] == "journal.append"}
    for record in map(json.loads, session.splitlines()):
        if record["kind"] == "user_input":
            at[record["sequence"]]
    return solutions.side_by_side(session, trace)


WRONG_SIDES: dict[str, tuple[Callable[[bytes, bytes], object], str]] = {
    "by order": (by_order, r"record \d+ is"),
    "the journal.append itself": (the_append_itself, r"record \d+ is"),
    "the event before": (event_before, r"record \d+ is"),
    "the stop tells of the end": (stop_tells_of_the_end, r"is \('turn_end', ''\)"),
    "needs every record": (needs_every_record, "KeyError"),
    "no header": (lambda s, t: solutions.side_by_side(s, t)[1:], "one row for each of"),
    "only what is told": (
        lambda s, t: [row for row in solutions.side_by_side(s, t) if row[1]],
        "one row for each of",
    ),
    "None for nothing": (
        lambda s, t: [(kind, told or None) for kind, told in solutions.side_by_side(s, t)],
        r"is \('session', ''\)",
    ),
    "a dict": (lambda s, t: {}, "one row for each of"),
}


@pytest.mark.parametrize("name", WRONG_SIDES)
def test_wrong_sides_are_told_why(name: str) -> None:
    wrong, message = WRONG_SIDES[name]
    with pytest.raises(AssertionError, match=message):
        grade_side_by_side(wrong)  # type: ignore[arg-type]


# B. assemble

Assemble = Callable[
    [Model | StreamingModel, Tool, Sequence[str], SessionStore, Waiter, Recorder, CancelToken],
    AgentRunner,
]


class NoReason:
    """Decides without saying why."""

    def __init__(self, allowed: Sequence[str]) -> None:
        self._allowed = allowed

    def decide(self, request: ApprovalRequest) -> Decision:
        allowed = request.display.get("command") in self._allowed
        return Decision("allow" if allowed else "deny", "policy", "quiet")


class Stripped(NoReason):
    """Strips what it compares."""

    def decide(self, request: ApprovalRequest) -> Decision:
        allowed = str(request.display.get("command")).strip() in self._allowed
        return Decision("allow" if allowed else "deny", "policy", "strips", "because")


class AsUser(NoReason):
    """Says that a person decided."""

    def decide(self, request: ApprovalRequest) -> Decision:
        allowed = request.display.get("command") in self._allowed
        return Decision("allow" if allowed else "deny", "user", "somebody", "because")


class Prefixes(NoReason):
    """Allows what begins like something on the list."""

    def decide(self, request: ApprovalRequest) -> Decision:
        command = str(request.display.get("command"))
        allowed = any(fnmatchcase(command, f"{text}*") for text in self._allowed)
        return Decision("allow" if allowed else "deny", "policy", "prefixes", "because")


def patterns(allowed: Sequence[str]) -> Approver:
    """The obvious one: a Rule for each command, its text taken for a pattern."""
    return PolicyApprover(
        [Rule("allow", "on the list", "work", (("command", text),)) for text in allowed]
    )


def assembling(
    *,
    approver: Callable[[Sequence[str]], Approver] = solutions.ExactCommands,
    attempts: int = 3,
    retries: bool = True,
    requests: int = 4,
    calls: int = 6,
    granted: bool = False,
    history: bool = True,
    journal: bool = True,
    own_token: bool = False,
    own_recorder: bool = False,
    started: bool = True,
    session: bool = True,
) -> Assemble:
    """The reference with something else in one place."""

    def assemble(
        model: Model | StreamingModel,
        tool: Tool,
        allowed: Sequence[str],
        store: SessionStore,
        waiter: Waiter,
        recorder: Recorder,
        cancel: CancelToken,
    ) -> AgentRunner:
        token = CancelToken() if own_token else cancel
        patient = RetryingModel(model, waiter, token, RetryPolicy(max_attempts=attempts))
        runner = AgentRunner(
            patient if retries else model,
            ToolBox([tool], granted=[tool.definition.name] if granted else []),
            AgentConfig(max_turns=requests, max_tool_calls=calls),
            history=store.replay.messages if history else (),
            approver=approver(allowed),
            journal=store if journal else None,
            cancel=token,
            recorder=Recorder() if own_recorder else recorder,
        )
        if started:
            runner.start(store.session_id if session else "", resumed_from=store.session_id)
        return runner

    return assemble


WRONG_ASSEMBLIES: dict[str, tuple[Assemble, str]] = {
    "commands as patterns": (assembling(approver=patterns), "the results"),
    "beginnings of commands": (assembling(approver=Prefixes), "the results"),
    "commands stripped": (assembling(approver=Stripped), "the results"),
    "no rationale": (assembling(approver=NoReason), "a rationale with every decision"),
    "in the user's name": (assembling(approver=AsUser), "who decides"),
    "granted": (assembling(granted=True), "nothing allowed: what ran"),
    "no retries": (assembling(retries=False), "two failures, then an answer"),
    "four attempts": (assembling(attempts=4), "three failures"),
    "eight requests": (assembling(requests=8), "a model that always asks: requests"),
    "sixteen calls": (assembling(calls=16), "seven calls at once"),
    "no history": (assembling(history=False), "the roles of the first request"),
    "nothing on disk": (assembling(journal=False), "records on disk|the roles of the first"),
    "a token of its own": (assembling(own_token=True), "Ctrl.C before a call"),
    "a recorder of its own": (assembling(own_recorder=True), "with the recorder given"),
    "not started": (assembling(started=False), "a runner that was started"),
    "another session": (assembling(session=False), "the session's id in the trace"),
    "no runner": (lambda *_: None, "an AgentRunner"),  # type: ignore[dict-item, return-value]
}


@pytest.mark.parametrize("name", WRONG_ASSEMBLIES)
def test_wrong_assemblies_are_told_why(name: str) -> None:
    wrong, message = WRONG_ASSEMBLIES[name]
    with pytest.raises(AssertionError, match=message):
        grade_assemble(wrong)


# C. WHAT_BECOMES


def table(situation: str, fact: str, prediction: object) -> dict[str, dict[str, object]]:
    assert solutions.WHAT_BECOMES is not None
    rows = {name: dict(row) for name, row in solutions.WHAT_BECOMES.items()}
    assert rows[situation][fact] != prediction
    rows[situation][fact] = prediction
    return rows


WRONG_TABLES: dict[str, tuple[object, str]] = {
    "asked again after text": (
        table("broken, text shown", "becomes", "retry"),
        "'broken, text shown': you predict becomes 'retry', the run shows 'error'",
    ),
    "bad arguments end the turn": (
        table("arguments are no JSON", "becomes", "error"),
        "you predict becomes 'error', the run shows 'result'",
    ),
    "a bug is a failed result": (
        table("the tool raises", "on disk", "failed"),
        "you predict on disk 'failed', the run shows 'unknown'",
    ),
    "a start that was not kept may have run": (
        table("disk full at tool_start", "restart", "unknown"),
        "you predict restart 'unknown', the run shows 'not_executed'",
    ),
    "a result that was not kept did not happen": (
        table("disk full at tool_result", "restart", "not_executed"),
        "you predict restart 'not_executed', the run shows 'unknown'",
    ),
    "the call runs before money is looked for": (
        table("no budget for the next step", "ran", 1),
        "'no budget for the next step': you predict ran 1, the run shows 0",
    ),
    "a trace that fails undoes": (
        table("the trace cannot be written", "ran", 0),
        "you predict ran 0, the run shows 1",
    ),
    "a killed run has stopped": (
        table(SITUATIONS[-1], "stop", "interrupted"),
        "you predict stop 'interrupted', the run shows None",
    ),
    "Ctrl+C is a no": (
        table("Ctrl+C at the question", "on disk", "denied"),
        "you predict on disk 'denied', the run shows 'not_executed'",
    ),
    "no rows": ({}, "one row for each of"),
    "columns left out": ({name: {} for name in SITUATIONS}, "has the columns becomes"),
}


@pytest.mark.parametrize("name", WRONG_TABLES)
def test_wrong_tables_are_told_why(name: str) -> None:
    wrong, message = WRONG_TABLES[name]
    with pytest.raises(AssertionError, match=message):
        grade_what_becomes(wrong)  # type: ignore[arg-type]


def test_a_fault_becomes_the_same_every_time() -> None:
    for situation in SITUATIONS:
        first = observe_fault(situation)
        observe_fault.cache_clear()
        assert observe_fault(situation) == first
