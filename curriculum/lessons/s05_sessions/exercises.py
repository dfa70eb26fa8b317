"""Exercises of s05. Edit this file only; grade it with

    python3 -m curriculum grade s05

An exercise that is still as you found it is skipped. `solutions.py` holds one way to do each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curriculum.core.journal import Record
from curriculum.sessions.disk import Disk


# region: save_points
def save_points(path: str) -> list[tuple[str, str]]:
    """A. Read a session file: which save points has it passed?

    Return (kind, call_id) for each record after the header, in order; call_id is "" where a record
    has none. Look only: the file stays as it is, so SessionStore.open is no way to do it.

    A record ends with the byte 0x0A, and nothing else ends one: not U+2028, not U+0085. Bytes after
    the last 0x0A are a write that never came to its end: they are no record, whatever they say.

    Accepted for files of several turns, cut off at any byte behind their header.
    """
    raise NotImplementedError


# endregion


# region: jsonl_journal
class JsonlJournal:
    """B. A durable journal of your own: one JSON object a line, in the file `path`.

    opening  makes the file if there is none, and then its name durable too: a file that was synced
             in a directory that was not may be gone (`sync_folder(folder, disk)` of
             curriculum.sessions.disk). Goes on with a file that exists. Bytes after its last
             0x0A were never acknowledged: they are cut off, and the cut is synced, before
             anything is written
    append   one line, {"kind": ..., "turn_id": ..., "data": ...}: one `write`, one `sync` or
             `sync_data`; only then returns the position of the record (0 is the first line)
    a fault  a write that raises or takes only a part, a sync that raises: JournalError, with the
             path and what the system said. From then on every record is refused, and nothing is
             written: what the disk holds is no longer known

    Everything that changes the disk goes through `disk`: open, write, sync, sync_data, truncate.
    Flags and modes are those of `os`; `disk.open` makes a new file if they say O_CREAT. Reading
    needs no `disk`. Records hold JSON data; any mapping may stand where JSON has an object.

    Accepted when no acknowledged record is lost on a disk that forgets what was not synced, none
    is glued to the rest of another, and a run on a disk that fails ends with an error of the kind
    journal, its messages as they were.
    """

    def __init__(self, path: str, disk: Disk) -> None:
        raise NotImplementedError

    def append(self, record: Record) -> int:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


# endregion


# region: crash_table
CRASH_TABLE: Mapping[str, Mapping[str, object]] | None = None
"""C. What a crash leaves: replace None by a dict with a row for each of these moments.

The user asks, the model answers with one call, a person allows it, the tool acts once, the model
answers. The process is killed

    "nothing saved"           before user_input is on disk
    "input saved"             user_input is on disk; the model has not answered
    "call saved"              the model_response with the call is
    "refusal saved"           instead of allowing the call the person refused it; its result is
    "start saved"             tool_start is; the tool has not acted
    "tool has acted"          the tool has acted; its result is not on disk
    "result saved"            tool_result is
    "answer saved"            the second model_response is; the end of the turn is not
    "end saved"               turn_end is

A row is a dict with these columns:

    "on disk"        kinds of this turn's records, in order: a tuple of words
    "ran"            has the tool acted? What somebody can know who has nothing but the file: "no",
                     "yes" or "maybe"
    "recovery"       what opening the session adds, in order: a tuple of words, each the kind and
                     the status of a record, as in "turn_end interrupted"
    "completed-only" does this rule show the turn to the model: True or False
    "with-evidence"  does this one

Accepted when every row is what real processes leave that were killed at that moment. s06 has the
rules of recovery; you can work most of them out from what the file says.
"""
# endregion


# region: sqlite_journal
class SqliteJournal:
    """D. A durable journal in a SQLite database (`sqlite3`), one row a record.

    opening  makes the database `path`, or goes on with the one that is there. Raises JournalError
             if another process has it open: one process at a time, and no lock that outlives it
    append   the record is committed, and on stable storage, before its position is returned: 0, 1,
             2 and so on, over all openings.
             JournalError if it was not kept, and for every record after that
    close    lets go of the database
    read     the records of the database that is not open, in order; the file is not changed

    Accepted when it passes `curriculum.grading.journal_conformance`, as our SessionStore does, and
    when SQLite is told to sync each commit (PRAGMA synchronous).
    """

    def __init__(self, path: str) -> None:
        raise NotImplementedError

    def append(self, record: Record) -> int:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    @staticmethod
    def read(path: str) -> Sequence[Record]:
        raise NotImplementedError


# endregion
