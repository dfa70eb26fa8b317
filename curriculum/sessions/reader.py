"""Reading a session as a stream: whole records in order, and what is left over at the end.

Lines end at the byte 0x0A and nowhere else. Bytes after the last one are a torn tail: a write that
never came to its end, so nobody was told that it was kept. Everything else that is not a record is
damage: it is refused with its line, never skipped. Memory holds one record.
"""

from __future__ import annotations

import os

from curriculum.core.values import TYPE_CHECKING, value
from curriculum.sessions.errors import (
    RecordError,
    SessionDamagedError,
    SessionError,
    describe_fault,
)
from curriculum.sessions.record import MAX_RECORD_BYTES, decode
from curriculum.sessions.state import SessionState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curriculum.sessions.record import StoredRecord

READ_BYTES = 256 * 1024


@value
class Line:
    """One line: its first byte in the file, its bytes without the LF, and its size with it.

    `text` is not all of a line that is too long. The last line may lack its LF: `is_whole` says.
    """

    start: int
    text: bytes
    size: int
    is_whole: bool


# region: lines
def split_lines(fd: int, size: int) -> Iterator[Line]:
    """The lines in the first `size` bytes of the file."""
    at = start = kept = 0
    parts: list[bytes] = []
    while at < size:
        chunk = os.pread(fd, min(READ_BYTES, size - at), at)
        if not chunk:
            break
        begin = 0
        while (end := chunk.find(b"\n", begin)) >= 0:
            next_start = at + end + 1
            parts.append(chunk[begin:end] if kept < MAX_RECORD_BYTES else b"")
            yield Line(start, b"".join(parts), next_start - start, True)
            parts, kept, start, begin = [], 0, next_start, end + 1
        if kept < MAX_RECORD_BYTES:
            parts.append(chunk[begin:])
            kept += len(chunk) - begin
        at += len(chunk)
    if start < at:
        yield Line(start, b"".join(parts), at - start, False)


# endregion


class RecordReader:
    """Iterates once over the records of an open file, judging each.

    Afterwards `whole_bytes` is where the last whole record ends and `torn_bytes` what follows it.
    Iterating raises SessionDamagedError for the first line that is not a record in its place.
    """

    def __init__(self, fd: int, path: str, session_id: str) -> None:
        self.state = SessionState(session_id)
        self.whole_bytes = self.torn_bytes = 0
        self._fd, self._path = fd, path

    # region: read
    def __iter__(self) -> Iterator[StoredRecord]:
        try:
            size = os.fstat(self._fd).st_size
            for line in split_lines(self._fd, size):
                record = self._judge(line, size)
                if record is None:
                    self.torn_bytes = size - line.start
                    return
                self.state.advance(record)
                self.whole_bytes = line.start + line.size
                yield record
        except OSError as fault:
            raise SessionError(describe_fault(self._path, fault)) from None

    def _judge(self, line: Line, size: int) -> StoredRecord | None:
        """The record of a line; None if it is a torn tail."""
        if not line.is_whole:
            return None
        try:
            if line.size > MAX_RECORD_BYTES:
                raise RecordError(f"longer than {MAX_RECORD_BYTES} bytes")
            record = decode(line.text)
            self.state.check(record)
        except RecordError as fault:
            # The parts of one long write may reach the disk in any order: if its end did and its
            # middle did not, there are zeros, which no record holds. It was never acknowledged.
            if b"\0" in line.text and line.start + line.size == size:
                return None
            raise SessionDamagedError(self._path, self.state.count + 1, str(fault)) from None
        return record

    # endregion
