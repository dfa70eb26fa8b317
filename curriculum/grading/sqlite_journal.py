"""Grader of s05 D: a journal in SQLite, put through the kit; and how SQLite was told to sync."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from curriculum.core.journal import Record
from curriculum.grading.journal_conformance import check_journal
from curriculum.grading.journal_under_test import records_of_turn
from curriculum.grading.killed_process import Tell, run_child
from curriculum.grading.mistakes import attempt, mistake, raise_findings
from curriculum.grading.scratch import scratch

__unittest = True

STEPS = 's05, "Step by step"'
DEEP = 's05, "Deep dive"'
NAME = "journal.db"
LEVELS = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}


class SqliteLike(Protocol):
    """What the exercise asks for."""

    def __init__(self, path: str) -> None: ...

    def append(self, record: Record) -> int: ...

    def close(self) -> None: ...

    @staticmethod
    def read(path: str) -> Sequence[Record]: ...


class SqliteUnderTest:
    """The harness for the journal conformance kit around a journal in a database."""

    lacks: Mapping[str, str] = {}

    def __init__(self, make: type[SqliteLike]) -> None:
        self._make = make

    def open(self, folder: str) -> SqliteLike:
        return self._make(os.path.join(folder, NAME))

    def records(self, folder: str) -> Sequence[Record]:
        return self._make.read(os.path.join(folder, NAME))


def grade_sqlite_journal(make: type[SqliteLike]) -> None:
    """D. The kit, and then what no killed process can show: a process takes no cache with it."""
    raise_findings("SqliteJournal", check_journal(SqliteUnderTest(make)))
    with scratch() as folder, attempt("SqliteJournal", STEPS):
        _check_positions(make, os.path.join(folder, NAME))
    with scratch() as folder:

        def work(tell: Tell) -> None:
            connections: list[Any] = []

            def hook(event: str, args: tuple[Any, ...]) -> None:
                if event == "sqlite3.connect/handle":
                    connections.append(args[0])

            sys.addaudithook(hook)  # cannot be taken away again, but ends with this process
            journal = make(os.path.join(folder, NAME))
            journal.append(records_of_turn(1)[0])
            tell([_level(connection) for connection in connections])

        told = run_child(work, "append", STEPS).told[0]
    levels = [level for level in told if level is not None] if isinstance(told, list) else []
    if not levels:
        raise mistake("an open connection of sqlite3", "there is none after append", DEEP)
    if weak := [level for level in levels if level < 2]:
        expected = "PRAGMA synchronous FULL or EXTRA: each commit is synced"
        raise mistake(expected, f"it is {LEVELS.get(weak[0], str(weak[0]))}", DEEP)


def _check_positions(make: type[SqliteLike], path: str) -> None:
    """The kit lets positions jump, since a journal may have records of its own; here is none."""
    found: list[int] = []
    for number in range(3):
        journal = make(path)
        found += [journal.append(record) for record in records_of_turn(number)[: number + 1]]
        journal.close()
    if found != list(range(len(found))):
        expected = "positions 0, 1, 2 and so on, also after the database is opened again"
        raise mistake(expected, f"over three openings append returned {found}", STEPS)


def _level(connection: Any) -> int | None:
    """How a connection syncs; None if it is closed."""
    import sqlite3

    try:
        return int(connection.execute("PRAGMA synchronous").fetchone()[0])
    except sqlite3.ProgrammingError:
        return None
