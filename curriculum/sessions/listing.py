"""Looking at sessions without holding them: a list of all, or the records of one.

Reading takes no lock and changes nothing, so it also works while a session is in use: what is
being written at the moment looks like a torn tail and is left out.
"""

from __future__ import annotations

import os

from curriculum.core.values import TYPE_CHECKING, value
from curriculum.sessions.disk import READ_ONLY, SystemDisk, session_path
from curriculum.sessions.errors import SessionDamagedError, SessionError
from curriculum.sessions.files import open_plain
from curriculum.sessions.ids import check_session_id, known_ids
from curriculum.sessions.reader import RecordReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curriculum.sessions.record import StoredRecord

FIRST_CHARACTERS = 200


class SessionFile:
    """The records of one session, read once, in order. `torn_bytes` is known afterwards.

    Iterating raises SessionDamagedError at the first line that is not a record in its place.
    """

    def __init__(self, home: str | os.PathLike[str], session_id: str) -> None:
        self.session_id = check_session_id(session_id)
        self.path = session_path(os.fspath(home), session_id)
        self.torn_bytes = 0

    def __iter__(self) -> Iterator[StoredRecord]:
        fd = open_plain(self.path, READ_ONLY, SystemDisk())
        try:
            reader = RecordReader(fd, self.path, self.session_id)
            yield from reader
            self.torn_bytes = reader.torn_bytes
        finally:
            os.close(fd)


@value
class Summary:
    """One session at a glance.

    `status` is how its last turn ended, or: open (a turn has not ended), new (no turn yet), empty
    (no whole header), damaged, unreadable. `first_input` is the beginning of what the user said
    first, raw. `started` is a timestamp or "".
    """

    session_id: str
    started: str
    turns: int
    status: str
    first_input: str = ""


def list_sessions(home: str | os.PathLike[str]) -> list[Summary]:
    """All sessions under `home`, the newest first. Raises SessionError if they cannot be listed."""
    home = os.fspath(home)
    found = [summarise(home, session_id) for session_id in known_ids(home)]
    return sorted(found, key=lambda one: (one.started, one.session_id), reverse=True)


def summarise(home: str, session_id: str) -> Summary:
    """What the records of one session come to. One that cannot be read is said to be so."""
    started, first, status, turns = "", "", "empty", 0
    try:
        for record in SessionFile(home, session_id):
            if record.kind == "session":
                started, status = record.timestamp, "new"
            elif record.kind == "user_input":
                turns += 1
                status = "open"
                first = first or record.data["content"][:FIRST_CHARACTERS]
            elif record.kind == "turn_end":
                status = record.data["status"]
    except SessionDamagedError:
        status = "damaged"
    except SessionError:
        status = "unreadable"
    return Summary(session_id, started, turns, status, first)
