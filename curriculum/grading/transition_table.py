"""Checks a transition table for cancellation by walking every path that the world can take.

The table says what the harness does; the world decides what happens next: a cancel may come at any
moment, a stream may go on for ever. The walk pairs each state with what the trace holds so far, so
a rule that is broken comes with the shortest path that breaks it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from curriculum.grading.cancellation_rules import (
    CANCELS,
    EVENTS,
    RECORDS,
    Broken,
    Facts,
    follow,
)
from curriculum.grading.mistakes import quote

Row = tuple[str, str, str, tuple[str, ...]]
"""(state, event, next state, what enters the trace)"""

INITIAL = "ready"
Node = tuple[str, Facts]


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
    if not isinstance(rows, (list, tuple)):
        return [f"a table is a list of rows, not {quote(rows)}"]
    if not rows:
        return [f"the table is empty; begin with the rows of the state {INITIAL!r}"]
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
        self._found: dict[str, list[tuple[str, str]]] = {}
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

    @property
    def problems(self) -> list[str]:
        """Each broken rule with the shortest path that breaks it, and what else does."""
        told = []
        for rule, [(path, event), *more] in self._found.items():
            also = sorted({other for _, other in more} - {event, ""})
            others = f" (also at {', '.join(map(repr, also))})" if also else ""
            told.append(f"{rule}{others}; path: {path}")
        return told

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
                rule = f"not complete: no row for state {state!r} and event {event!r}"
                self._report(rule, node, event)
                continue
            self.records.update(row[3])
            try:
                yield event, (row[2], follow(facts, event, row[3]))
            except Broken as rule:
                self._report(str(rule), node, event)

    def _report(self, rule: str, node: Node, event: str = "") -> None:
        path = " -> ".join([*self.paths[node], *([event] if event else [])]) or "(the beginning)"
        self._found.setdefault(rule, []).append((path, event))

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
