"""One way to do each exercise of s05. Look after you have tried."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sqlite3
from collections.abc import Mapping, Sequence

from curriculum.core.errors import JournalError
from curriculum.core.journal import Record
from curriculum.sessions.disk import Disk, sync_folder


# region: save_points
def save_points(path: str) -> list[tuple[str, str]]:
    """A. Bytes first: what stands after the last line feed is no line."""
    with open(path, "rb") as file:
        _, *lines = file.read().split(b"\n")[:-1]
    records = [json.loads(line) for line in lines]
    return [(record["kind"], record["data"].get("call_id", "")) for record in records]


# endregion


# region: jsonl_journal
class JsonlJournal:
    """B. Write, sync, return; and no word more after the first failure."""

    def __init__(self, path: str, disk: Disk) -> None:
        self._path, self._disk, self._fault = path, disk, ""
        try:
            self._fd = disk.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            with open(path, "rb") as file:
                content = file.read()
            self._count = content.count(b"\n")
            whole = content.rfind(b"\n") + 1
            if whole < len(content):
                disk.truncate(self._fd, whole)
                disk.sync(self._fd)
            sync_folder(os.path.dirname(path), disk)
        except OSError as fault:
            raise JournalError(f"{path}: {fault}") from None

    def append(self, record: Record) -> int:
        if self._fault:
            raise JournalError(self._fault)
        fields = {"kind": record.kind, "turn_id": record.turn_id, "data": record.data}
        line = json.dumps(fields, default=dict).encode() + b"\n"
        self._fault = f"{self._path}: a record was interrupted"  # holds if anything raises below
        try:
            written = self._disk.write(self._fd, line)
            if written != len(line):
                raise OSError(f"only {written} of {len(line)} bytes were written")
            self._disk.sync_data(self._fd)
        except OSError as fault:
            self._fault = f"{self._path}: {fault}"
            raise JournalError(self._fault) from None
        self._fault = ""
        self._count += 1
        return self._count - 1

    def close(self) -> None:
        os.close(self._fd)
        self._fault = f"{self._path}: the journal is closed"


def json_lines(path: str) -> list[Record]:
    """The records of such a file; what stands after the last line feed is none."""
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")[:-1]
    return [Record(**json.loads(line)) for line in lines]


# endregion


# region: crash_table
CALLED = ("user_input", "model_response")
STARTED = (*CALLED, "tool_start")
ANSWERED = (*STARTED, "tool_result", "model_response")
ENDED = "turn_end interrupted"


def row(
    on_disk: Sequence[str],
    recovery: Sequence[str],
    *,
    ran: str = "no",
    completed_only: bool = False,
    with_evidence: bool = True,
) -> dict[str, object]:
    """One row of the table."""
    return {
        "on disk": tuple(on_disk),
        "ran": ran,
        "recovery": tuple(recovery),
        "completed-only": completed_only,
        "with-evidence": with_evidence,
    }


CRASH_TABLE: Mapping[str, Mapping[str, object]] | None = {
    "nothing saved": row((), (), with_evidence=False),
    # No tool was asked for, so there is no evidence to replay: the user can simply ask again.
    "input saved": row(("user_input",), (ENDED,), with_evidence=False),
    "call saved": row(CALLED, ("tool_result not_executed", ENDED)),
    "refusal saved": row((*CALLED, "tool_result"), (ENDED,)),
    # Two moments, one file: that is why there has to be a word for not knowing.
    "start saved": row(STARTED, ("tool_result unknown", ENDED), ran="maybe"),
    "tool has acted": row(STARTED, ("tool_result unknown", ENDED), ran="maybe"),
    "result saved": row((*STARTED, "tool_result"), (ENDED,), ran="yes"),
    "answer saved": row(ANSWERED, (ENDED,), ran="yes"),
    "end saved": row((*ANSWERED, "turn_end"), (), ran="yes", completed_only=True),
}
# endregion


# region: sqlite_journal
class SqliteJournal:
    """D. One INSERT is one transaction; the lock is a file of its own, and the kernel's."""

    def __init__(self, path: str) -> None:
        self._path, self._fault = path, ""
        # A lock inside the database would end with each transaction. This one ends with us.
        self._lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise JournalError(f"{path}: the journal is open in another process") from None
        try:
            # isolation_level=None: each statement commits by itself, none waits for a commit().
            self._database = sqlite3.connect(path, isolation_level=None)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = FULL")
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS records (position INTEGER PRIMARY KEY,"
                " kind TEXT NOT NULL, turn_id TEXT NOT NULL, data TEXT NOT NULL)"
            )
            [[last]] = self._database.execute("SELECT max(position) FROM records")
            self._next = 0 if last is None else last + 1
        except sqlite3.Error as fault:
            raise JournalError(f"{path}: {fault}") from None

    def append(self, record: Record) -> int:
        if self._fault:
            raise JournalError(self._fault)
        row = (self._next, record.kind, record.turn_id, json.dumps(record.data, default=dict))
        self._fault = f"{self._path}: a record was interrupted"
        try:
            self._database.execute("INSERT INTO records VALUES (?, ?, ?, ?)", row)
        except sqlite3.Error as fault:
            self._fault = f"{self._path}: {fault}"
            raise JournalError(self._fault) from None
        self._fault = ""
        self._next += 1
        return self._next - 1

    def close(self) -> None:
        self._fault = f"{self._path}: the journal is closed"
        self._database.close()
        os.close(self._lock)

    @staticmethod
    def read(path: str) -> Sequence[Record]:
        if not os.path.exists(path):
            return []
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            rows = database.execute("SELECT kind, turn_id, data FROM records ORDER BY position")
            return [Record(kind, turn_id, json.loads(data)) for kind, turn_id, data in rows]


# endregion
