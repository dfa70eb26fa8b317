"""Grader of s06 C: walks every path of a recovery table, with a crash after any record."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from curriculum.grading.mistakes import mistake, quote
from curriculum.grading.recovery_rules import EVENTS, RECORDS, Broken, Facts, follow

__unittest = True

DESIGN = 's06, "Exercises", C'
INITIAL = "idle"

Row = tuple[str, str, str, str]
"""(state, event, next state, record)"""

Node = tuple[str, Facts]


def grade_recovery_table(rows: Sequence[Row]) -> None:
    """C. Everything that is wrong with the table, each with the shortest path that shows it."""
    if problems := check_recovery_table(rows):
        raise mistake("a table that keeps the rules", "\n    - ".join(["", *problems]), DESIGN)


def check_recovery_table(rows: Sequence[Row]) -> list[str]:
    """What is wrong with the table, as sentences."""
    problems = _shape(rows)
    if problems:
        return problems
    walk = _Walk({(row[0], row[1]): row for row in rows})
    reached = {state for state, _ in walk.paths}
    problems = walk.problems
    for state in sorted({row[0] for row in rows} - reached):
        problems.append(f"no path from {INITIAL!r} leads to the state {state!r}")
    if not problems:
        used = walk.records
        problems += [f"no path ever records {record}" for record in RECORDS if record not in used]
    return problems


def _shape(rows: Sequence[Row]) -> list[str]:
    """Problems that can be seen without walking."""
    if not isinstance(rows, (list, tuple)) or not rows:
        return [f"a table is a list of rows, not {quote(rows)}"]
    problems, seen = [], set()
    for number, row in enumerate(rows, 1):
        good = isinstance(row, (list, tuple)) and len(row) == 4
        if not good or not all(isinstance(cell, str) for cell in row):
            problems.append(f"row {number} is {quote(row)}, not (state, event, next state, record)")
            continue
        state, event, target, record = row
        if event not in EVENTS:
            problems.append(f"row {number}: {event!r} is none of the events {', '.join(EVENTS)}")
        if record and record not in RECORDS:
            problems.append(f"row {number}: {record!r} is none of {', '.join(RECORDS)}")
        if not record and state != target:
            problems.append(
                f"row {number}: nothing is written, but the state changes from {state!r} to "
                f"{target!r}: a crash would forget it"
            )
        if (state, event) in seen:
            problems.append(f"not deterministic: two rows for state {state!r} and event {event!r}")
        seen.add((state, event))
    if not problems and INITIAL not in {row[0] for row in rows}:
        problems.append(f"no row for the state that a session begins in, {INITIAL!r}")
    return problems


class _Walk:
    """All pairs of a state and of what is really on disk, each with the shortest path to it."""

    def __init__(self, table: dict[tuple[str, str], Row]) -> None:
        self.problems: list[str] = []
        self.paths: dict[Node, tuple[str, ...]] = {(INITIAL, Facts()): ()}
        self.records: set[str] = set()
        self._table = table
        queue = deque(self.paths)
        while queue:
            node = queue.popleft()
            for event, target in self._moves(node):
                if target not in self.paths:
                    self.paths[target] = (*self.paths[node], event)
                    queue.append(target)

    def _moves(self, node: Node) -> Iterator[tuple[str, Node]]:
        state, facts = node
        for event in EVENTS:
            if not facts.may_happen(event):
                continue
            row = self._table.get((state, event))
            if row is None:
                rule = f"not complete: no row for state {state!r} and event {event!r}"
                self._report(rule, node, event)
                continue
            if row[3]:
                self.records.add(row[3])
            try:
                yield event, (row[2], follow(facts, event, row[3]))
            except Broken as rule:
                self._report(str(rule), node, event)

    def _report(self, rule: str, node: Node, event: str) -> None:
        path = " -> ".join([*self.paths[node], event])
        if not any(problem.startswith(rule) for problem in self.problems):
            self.problems.append(f"{rule}; path: {path}")
