"""Adding one line to a file so that it is there for good, or not at all.

One write, one sync, then the return. If any of it fails the file is cut back to what it was; when
even that fails the half line is left for the next opening to set aside. After a failed write or
sync nothing more is written by this process: what the disk holds is no longer known.
"""

from __future__ import annotations

import os
import stat

from curriculum.core.errors import JournalError
from curriculum.core.values import TYPE_CHECKING
from curriculum.sessions.errors import describe_fault
from curriculum.sessions.text import shown

if TYPE_CHECKING:
    from curriculum.sessions.disk import Disk

NOT_KEPT = "the record was not kept, and the session takes no more"
HALF_KEPT = "; a part of it may be in the file: the next opening sets that aside"


class Appender:
    """The end of one file. `size` is where its whole lines end, `lines` how many there are."""

    def __init__(self, fd: int, path: str, size: int, lines: int, disk: Disk) -> None:
        self.size, self.lines = size, lines
        self._fd, self._path, self._disk = fd, path, disk
        self._broken = ""
        self._interrupted = f"{shown(path)}: a record was interrupted; {NOT_KEPT}"

    def check(self, lines: int) -> None:
        """Raise JournalError if no line can be taken, or `lines` is not how many there are."""
        if self._broken:
            raise JournalError(self._broken)
        if self.lines != lines:  # Ctrl+C came between the return of a write and its consequence
            raise JournalError(self._interrupted)

    # region: append
    def append(self, line: bytes) -> None:
        """Write and sync one line. Raises JournalError, now and for every line after a failure."""
        self._check_file()
        self._broken = self._interrupted
        try:
            self._write(line)
            self._disk.sync_data(self._fd)
            self.lines += 1
            self.size += len(line)
        except OSError as fault:
            self._broken = f"{describe_fault(self._path, fault)}; {NOT_KEPT}"
            if not self._cut_back():
                self._broken += HALF_KEPT
            raise JournalError(self._broken) from None
        except BaseException:  # Ctrl+C: the caller's memory does not move, so neither does the file
            if self._cut_back():
                self._broken = ""
            raise
        self._broken = ""

    # endregion

    def close(self) -> None:
        """Take no more lines."""
        self._broken = f"{shown(self._path)}: the session is closed; the record was not kept"

    def _write(self, line: bytes) -> None:
        """One write. Of a short one the rest is tried, only to hear the reason for it."""
        written = self._disk.write(self._fd, line)
        if written != len(line):
            self._disk.write(self._fd, line[written:])
            raise OSError(None, f"only {written} of {len(line)} bytes were written")

    def _check_file(self) -> None:
        try:
            found = os.fstat(self._fd)
        except OSError as fault:
            raise JournalError(f"{describe_fault(self._path, fault)}; {NOT_KEPT}") from None
        if found.st_size != self.size or not found.st_nlink:
            change = "was changed by another program" if found.st_nlink else "was deleted"
            change += " while open"
            if not stat.S_ISREG(found.st_mode):  # see lock: a forked child has given it up
                change = "belongs to the process that forked this one"
            self._broken = f"{shown(self._path)}: the file {change}; {NOT_KEPT}"
            raise JournalError(self._broken)

    def _cut_back(self) -> bool:
        """Take away what was written of the line; False if that cannot be done."""
        try:
            self._disk.truncate(self._fd, self.size)
            self._disk.sync(self._fd)
        except OSError:
            return False
        return True
