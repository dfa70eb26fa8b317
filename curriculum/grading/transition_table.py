"""Checks a transition table for cancellation by walking every path that the world can take.

The table says what the harness does; the world decides what happens next: a cancel may come at any
moment, a stream may go on for ever. The walk pairs each state with what the trace holds so far, so
a rule that is broken comes with the shortest path that breaks it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from curriculum.grading.mistakes import quote

Row = tuple[str, str, str, tuple[str, ...]]
"""(state, event, next state, what enters the trace)"""

INITIAL = "ready"
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


Node = tuple[str, Facts]


class Broken(Exception):
    """A rule that a step breaks."""


def check_table(rows: Sequence[Row]) -> list[str]:
    """Everything wrong with the table, each as a sentence with the path that shows it."""
    problems = _shape(rows)
    if problems:
        return problems
    walk = _Walk({(row[0], row[1]): row for row in rows})
    problems = walk.problems
    reached = {state for state, _ in walk.paths}
    for state in sorted({row[0] for row in rows} - reached):
        problems.append(f"no path from {INITIAL!r} leads to the state {state!r}")
    return problems or [*walk.dead_ends(), *walk.endless(), *walk.never_happens()]


def _shape(rows: Sequence[Row]) -> list[str]:
    """Problems that can be seen without walking: form, unknown words, two rows for one case."""
    problems, seen = [], set()
    if not isinstance(rows, (list, tuple)) or not rows:
        return [f"a table is a list of rows, not {quote(rows)}"]
    for number, row in enumerate(rows, 1):
        good = isinstance(row, (list, tuple)) and len(row) == 4
        if not good or not all(isinstance(cell, str) for cell in row[:3]):
            form = "(state, event, next state, (records...))"
            problems.append(f"row {number} is {quote(row)}, not {form}")
            continue
        state, event, _, records = row
        if event not in EVENTS:
            problems.append(f"row {number}: {event!r} is none of the events {', '.join(EVENTS)}")
        if not isinstance(records, (list, tuple)):
            problems.append(f"row {number}: the records are {quote(records)}, not a tuple of words")
            continue
        for record in records:
            if record not in RECORDS:
                problems.append(f"row {number}: {record!r} is none of {', '.join(RECORDS)}")
        if (state, event) in seen:
            problems.append(f"not deterministic: two rows for state {state!r} and event {event!r}")
        seen.add((state, event))
    if not problems and INITIAL not in {row[0] for row in rows}:
        problems.append(f"no row for the state that every run begins in, {INITIAL!r}")
    return problems


class _Walk:
    """All nodes that can be reached, each with the shortest path to it."""

    def __init__(self, table: dict[tuple[str, str], Row]) -> None:
        self.problems: list[str] = []
        self.paths: dict[Node, tuple[str, ...]] = {(INITIAL, Facts()): ()}
        self.steps: dict[Node, dict[str, Node]] = {}
        self.records: set[str] = set()
        self._table = table
        queue = deque(self.paths)
        while queue:
            node = queue.popleft()
            self.steps[node] = {}
            for event, target in self._moves(node):
                self.steps[node][event] = target
                if target not in self.paths:
                    self.paths[target] = (*self.paths[node], event)
                    queue.append(target)

    def _moves(self, node: Node) -> Iterator[tuple[str, Node]]:
        state, facts = node
        if facts.stopped:
            for left, event in self._table:
                if left == state:
                    self._report(f"there is a way out of the stop {state!r}", node, event)
            return
        for event in EVENTS:
            if not facts.may_happen(event):
                continue
            row = self._table.get((state, event))
            if row is None:
                self._report(f"not complete: no row for state {state!r}", node, event)
                continue
            self.records.update(row[3])
            try:
                yield event, (row[2], _follow(facts, event, row[3]))
            except Broken as rule:
                self._report(str(rule), node, event)

    def _report(self, rule: str, node: Node, event: str = "") -> None:
        path = " -> ".join([*self.paths[node], *([event] if event else [])]) or "(the beginning)"
        if not any(problem.startswith(rule) for problem in self.problems):
            self.problems.append(f"{rule}; path: {path}")

    def dead_ends(self) -> list[str]:
        """States from which no path leads to a stop."""
        good = {node for node in self.paths if node[1].stopped}
        before = -1
        while before != len(good):
            before = len(good)
            good |= {node for node, out in self.steps.items() if good & set(out.values())}
        for node in self.paths.keys() - good:
            self._report(f"the state {node[0]!r} never reaches a stop", node)
        return self.problems

    def endless(self) -> list[str]:
        """After a cancel the world must not be able to keep the run going for ever."""
        alive = {node for node in self.paths if node[1].asked and not node[1].stopped}
        before = -1
        while before != len(alive):  # what is left at the end always has a step that stays in it
            before = len(alive)
            alive = {node for node in alive if self._goes_on(node, alive)}
        for node in sorted(alive, key=lambda node: len(self.paths[node])):
            event = self._goes_on(node, alive)
            rule = (
                f"after a cancel the run can go on for ever in {node[0]!r}: nothing checks for it"
            )
            self._report(rule, node, event)
            break
        return self.problems

    def _goes_on(self, node: Node, alive: Iterable[Node]) -> str:
        steps = self.steps[node].items()
        return next((e for e, target in steps if e not in CANCELS and target in alive), "")

    def never_happens(self) -> list[str]:
        """A table that avoids the work breaks no rule and is still no design."""
        needed = [
            "model.request",
            "tool.start",
            "session.stop completed",
            "session.stop cancelled",
        ]
        return self.problems + [
            f"no path ever records {record!r}" for record in needed if record not in self.records
        ]


def _follow(facts: Facts, event: str, records: Sequence[str]) -> Facts:
    """The facts after `event`, with `records` written. Raises Broken with the rule they break."""
    if event in CANCELS and not facts.asked:
        facts = replace(facts, asked=CANCELS[event])
    if event == "answer with a call" and not facts.asked and "tool.call" not in records:
        raise Broken("an answer that asks for a tool has to record tool.call")
    for record in records:
        if facts.stopped:
            raise Broken(f"{record!r} is recorded after session.stop")
        facts = _write(facts, event, record)
    if event in ("answer", "answer with a call") and facts.request:
        raise Broken("the answer has arrived, but no model.response closes its request")
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
        _need(not facts.error, "a completed run holds an error")


def _need(holds: bool, rule: str) -> None:
    if not holds:
        raise Broken(rule)
