"""A session on disk: a Journal whose every record is safe before `append` returns.

A store is made or opened under the kernel's lock and keeps it. Opening reads every record once,
sets a torn tail aside, closes what was interrupted, and only then takes new records; it runs no
tool and asks no model. A record that could not come next is refused before it is written, so a
file that this program wrote can always be opened again.
"""

from __future__ import annotations

import os

from curriculum.core.errors import JournalError
from curriculum.core.trace import SystemClock, UniqueIds
from curriculum.core.values import TYPE_CHECKING
from curriculum.sessions.append import Appender
from curriculum.sessions.disk import SystemDisk, sync_folder
from curriculum.sessions.errors import RecordError, SessionError, describe_fault
from curriculum.sessions.files import create_file, open_file, remove_file
from curriculum.sessions.ids import SUFFIX
from curriculum.sessions.lock import release
from curriculum.sessions.reader import RecordReader
from curriculum.sessions.record import StoredRecord, TimeText, encode
from curriculum.sessions.recovery import Recovery, closing_records
from curriculum.sessions.replay import Replay, Replayer
from curriculum.sessions.state import SessionState
from curriculum.sessions.text import shown
from curriculum.sessions.torn import set_aside

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from curriculum.core.errors import CancelledBy
    from curriculum.core.journal import Record
    from curriculum.core.trace import Clock
    from curriculum.sessions.disk import Disk
    from curriculum.sessions.replay import Rule
    from curriculum.sessions.state import UnknownOutcome

    Home = str | os.PathLike[str]


class SessionStore:
    """One session, held by this process. Make it with `create` or `open`; close it when done."""

    def __init__(self, fd: int, path: str, rule: Rule, clock: Clock | None, disk: Disk) -> None:
        self.session_id = os.path.basename(path).removesuffix(SUFFIX)
        self.path, self.rule = path, rule
        self.recovery, self.replay = Recovery(), Replay()
        self._fd, self._clock, self._disk = fd, clock or SystemClock(), disk
        self._time_text = TimeText()
        self._state = SessionState(self.session_id)
        self._appender = Appender(fd, path, 0, 0, disk)

    # region: create
    @classmethod
    def create(
        cls,
        home: Home,
        session_id: str = "",
        *,
        about: Mapping[str, str | int] | None = None,
        rule: Rule = "completed-only",
        clock: Clock | None = None,
        disk: Disk | None = None,
    ) -> SessionStore:
        """Make a new session; `about` is for people and exports (model, harness, ...).

        On return its header and its name are on stable storage. Raises SessionIdError before any
        file is touched, SessionExistsError, SessionError.
        """
        Replayer(rule)  # a wrong name of a rule is told before any file is touched
        disk, home = disk or SystemDisk(), os.fspath(home)
        fd, path = create_file(home, session_id or UniqueIds().next("session"), disk)
        store = cls(fd, path, rule, clock, disk)
        try:
            store._write_header(about)
            sync_folder(os.path.dirname(path), disk)
        except BaseException as fault:
            remove_file(path)  # a session that could not be made is not left in the list
            store.close()
            raise _as_session_error(fault, path) from None
        return store

    # endregion

    # region: open
    @classmethod
    def open(
        cls,
        home: Home,
        session_id: str,
        *,
        rule: Rule = "completed-only",
        clock: Clock | None = None,
        disk: Disk | None = None,
    ) -> SessionStore:
        """Open a session that exists, and close on disk what was interrupted.

        Raises SessionIdError before any file is touched, SessionNotFoundError, SessionBusyError
        and SessionDamagedError with nothing written, SessionError for any other fault.
        """
        replayer = Replayer(rule)
        disk, home = disk or SystemDisk(), os.fspath(home)
        fd, path = open_file(home, session_id, disk)
        store = cls(fd, path, rule, clock, disk)
        try:
            store._recover(replayer)
        except BaseException as fault:
            store.close()
            raise _as_session_error(fault, path) from None
        return store

    def _recover(self, replayer: Replayer) -> None:
        """Read everything, then write what a restart owes."""
        disk = self._disk
        reader = RecordReader(self._fd, self.path, self.session_id)
        for record in reader:
            replayer.take(record)
        self._state = reader.state
        whole, torn, torn_path = reader.whole_bytes, reader.torn_bytes, ""
        if torn:
            torn_path = set_aside(self._fd, self.path, whole, whole + torn, disk)
        self._appender = Appender(self._fd, self.path, whole, reader.state.count, disk)
        if not self._state.count:  # the process ended before the header was whole
            self._write_header(None)
        # Whoever made the file may have ended before its name was durable.
        sync_folder(os.path.dirname(self.path), disk)
        turn_id = self._state.turn_id
        closed: dict[str, list[str]] = {"not_executed": [], "unknown": []}
        for closing in closing_records(self._state):
            replayer.take(self._write(closing.kind, turn_id, closing.data, recovered=True))
            if closing.kind == "tool_result":
                closed[str(closing.data["status"])].append(str(closing.data["call_id"]))
        self.recovery = Recovery(
            turn_id, tuple(closed["not_executed"]), tuple(closed["unknown"]), torn, torn_path
        )
        self.replay = replayer.result()

    # endregion

    # region: append
    def append(self, record: Record) -> int:
        """Keep a record of the loop; returns its position once it is on stable storage.

        Raises JournalError if it was not kept.
        """
        if record.kind == "user_input" and self.rule == "with-evidence" and self._state.unknown:
            call = self.unacknowledged[0].call
            raise JournalError(
                f"the outcome of call {call.call_id!r} is unknown and nobody has acknowledged it"
            )
        return self._write(record.kind, record.turn_id, record.data).sequence

    @property
    def unacknowledged(self) -> tuple[UnknownOutcome, ...]:
        """Outcomes that nobody knows and nobody has acknowledged, oldest first."""
        return tuple(self._state.unknown.values())

    def acknowledge(self, outcome: UnknownOutcome, by: CancelledBy = "user") -> int:
        """Keep on record that the outcome was acknowledged; returns the position.

        `by` is an actor kind. Raises JournalError if it was not kept.
        """
        data = {"call_id": outcome.call.call_id, "by": by}
        return self._write("outcome_acknowledged", outcome.turn_id, data).sequence

    def _write(
        self, kind: str, turn_id: str, data: Mapping[str, object], recovered: bool = False
    ) -> StoredRecord:
        self._appender.check(self._state.count)
        timestamp = self._time_text.of(self._clock.read()[0])
        record = StoredRecord(self._state.count, timestamp, kind, turn_id, data, recovered)
        try:
            line = encode(record)
            self._state.check(record)
        except RecordError as fault:
            raise JournalError(f"{shown(self.path)}: {fault}; the record was not kept") from None
        self._appender.append(line)
        self._state.advance(record)
        return record

    # endregion

    def _write_header(self, about: Mapping[str, str | int] | None) -> None:
        extra = {"about": dict(about)} if about else {}
        self._write("session", "", {"session_id": self.session_id, **extra})

    def close(self) -> None:
        """Let go of the session: the lock is free, and no more is written."""
        if self._fd >= 0:
            release(self._fd)
            self._fd = -1
            self._appender.close()

    def __enter__(self) -> SessionStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _as_session_error(fault: BaseException, path: str) -> BaseException:
    if isinstance(fault, OSError):
        return SessionError(describe_fault(path, fault))
    if isinstance(fault, JournalError):
        return SessionError(fault.message)
    return fault
