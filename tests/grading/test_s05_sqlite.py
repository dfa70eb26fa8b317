"""The grader of s05 D and its kit are graded: each wrong journal is told why."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Sequence

import pytest

from curriculum.core.errors import JournalError
from curriculum.core.journal import Record
from curriculum.grading.journal_conformance import check_journal
from curriculum.grading.sqlite_journal import SqliteUnderTest, grade_sqlite_journal
from curriculum.lessons.s05_sessions.solutions import SqliteJournal


def test_the_reference_passes() -> None:
    grade_sqlite_journal(SqliteJournal)


class NoSync(SqliteJournal):
    """As fast as memory, and as lasting."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._database.execute("PRAGMA synchronous = OFF")


class NormalSync(SqliteJournal):
    """In WAL mode NORMAL syncs only at checkpoints: the last commits go with the power."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._database.execute("PRAGMA synchronous = NORMAL")


class NeverCommits(SqliteJournal):
    """Python's sqlite3 opens a transaction by itself, and somebody has to end it."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._database.isolation_level = "DEFERRED"


class CommitsLate(NeverCommits):
    def append(self, record: Record) -> int:
        position = super().append(record)
        if record.kind == "turn_end":
            self._database.commit()
        return position

    def close(self) -> None:
        self._database.commit()
        super().close()


class StepsOfTwo(SqliteJournal):
    def append(self, record: Record) -> int:
        return 2 * super().append(record)


class LeavesAGap(SqliteJournal):
    """Each opening begins one further on."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._next += self._next > 0


class CountsFromOne(SqliteJournal):
    """What SQLite's own rowid does."""

    def append(self, record: Record) -> int:
        return super().append(record) + 1


class NoLock(SqliteJournal):
    def __init__(self, path: str) -> None:
        self._path, self._fault = path, ""
        self._lock = os.open(os.devnull, os.O_RDONLY)
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS records (position INTEGER PRIMARY KEY,"
            " kind TEXT NOT NULL, turn_id TEXT NOT NULL, data TEXT NOT NULL)"
        )
        [[last]] = self._database.execute("SELECT max(position) FROM records")
        self._next = 0 if last is None else last + 1


class StaleLock(NoLock):
    """A lock file that outlives whoever made it."""

    def __init__(self, path: str) -> None:
        try:
            os.close(os.open(f"{path}.pid", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            raise JournalError(f"{path}: the journal is open in another process") from None
        super().__init__(path)

    def close(self) -> None:
        super().close()
        os.unlink(f"{self._path}.pid")


class GoesOn(SqliteJournal):
    """A failed commit leaves no trace, so why not take the next record?"""

    def append(self, record: Record) -> int:
        self._fault = ""
        return super().append(record)


class LetsTheErrorOut(SqliteJournal):
    def append(self, record: Record) -> int:
        row = (self._next, record.kind, record.turn_id, json.dumps(record.data, default=dict))
        self._database.execute("INSERT INTO records VALUES (?, ?, ?, ?)", row)
        self._next += 1
        return self._next - 1


class NoPosition(SqliteJournal):
    def append(self, record: Record) -> int:
        super().append(record)
        return None  # type: ignore[return-value]


class Forgets(SqliteJournal):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._database.execute("DELETE FROM records")
        self._next = 0


class ByTurn(SqliteJournal):
    """Reads in the order of an index, not of the positions."""

    @staticmethod
    def read(path: str) -> Sequence[Record]:
        return sorted(SqliteJournal.read(path), key=lambda record: record.kind)


class WritesRepr(SqliteJournal):
    """Takes whatever it is given."""

    def append(self, record: Record) -> int:
        data = json.loads(json.dumps(record.data, default=repr))
        return super().append(Record(record.kind, record.turn_id, data))


class Memory(SqliteJournal):
    """Keeps everything, until the process ends."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._file = self._database
        self._database = sqlite3.connect(":memory:", isolation_level=None)
        self._file.backup(self._database)

    def close(self) -> None:
        self._database.backup(self._file)
        self._file.close()
        super().close()


WRONG: dict[str, tuple[type[SqliteJournal], str]] = {
    "no sync": (NoSync, "PRAGMA synchronous FULL or EXTRA.*\n.*it is OFF"),
    "normal sync": (NormalSync, "PRAGMA synchronous FULL or EXTRA.*\n.*it is NORMAL"),
    "steps of two": (StepsOfTwo, r"append returned \[0, 2, 4"),
    "a gap after opening again": (LeavesAGap, r"append returned \[0, 2, 3"),
    "counts from one": (CountsFromOne, r"append returned \[1, 2, 3"),
    "never commits": (NeverCommits, "kept at once"),
    "commits late": (CommitsLate, "1 acknowledged records when the process is killed"),
    "no lock": (NoLock, "one at a time:.*\n.*a second process to be refused"),
    "a stale lock": (StaleLock, "the journal to be free as soon as its holder is dead|is open in"),
    "goes on": (GoesOn, "no record to be taken after one that could not be kept"),
    "lets the error out": (LetsTheErrorOut, "JournalError when there is no room"),
    "no position": (NoPosition, "append to return the record's position"),
    "forgets": (Forgets, "old and new records after a second opening"),
    "by kind": (ByTurn, "record 0 is"),
    "writes what repr says": (WritesRepr, "a record that JSON cannot hold to be refused"),
    "in memory": (Memory, "kept at once"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_journals_are_told_why(name: str) -> None:
    wrong, message = WRONG[name]
    with pytest.raises(AssertionError, match=message):
        grade_sqlite_journal(wrong)


def read_and_write(path: str) -> Sequence[Record]:
    with contextlib.closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT kind, turn_id, data FROM records ORDER BY position")
        return [Record(kind, turn, json.loads(data)) for kind, turn, data in rows]


def test_a_rollback_journal_is_as_good_as_a_write_ahead_log() -> None:
    class Rollback(SqliteJournal):
        def __init__(self, path: str) -> None:
            super().__init__(path)
            self._database.execute("PRAGMA journal_mode = DELETE")

        read = staticmethod(read_and_write)  # a commit that was killed has to be rolled back

    grade_sqlite_journal(Rollback)


def test_an_exclusive_database_needs_no_lock_file() -> None:
    """SQLite's own lock, held for as long as the connection is open."""

    class Exclusive(SqliteJournal):
        def __init__(self, path: str) -> None:
            self._path, self._fault = path, ""
            self._lock = os.open(os.devnull, os.O_RDONLY)
            self._database = sqlite3.connect(path, isolation_level=None, timeout=0)
            try:
                self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
                self._database.execute("BEGIN EXCLUSIVE")
                self._database.execute(
                    "CREATE TABLE IF NOT EXISTS records (position INTEGER PRIMARY KEY,"
                    " kind TEXT NOT NULL, turn_id TEXT NOT NULL, data TEXT NOT NULL)"
                )
                [[last]] = self._database.execute("SELECT max(position) FROM records")
                self._database.execute("COMMIT")
            except sqlite3.Error as fault:
                raise JournalError(f"{path}: {fault}") from None
            self._next = 0 if last is None else last + 1

        read = staticmethod(read_and_write)

    grade_sqlite_journal(Exclusive)


def test_a_check_that_is_lacking_must_exist() -> None:
    under_test = SqliteUnderTest(SqliteJournal)
    under_test.lacks = {"telepathy": "not built in"}
    with pytest.raises(ValueError, match="telepathy"):
        check_journal(under_test)
