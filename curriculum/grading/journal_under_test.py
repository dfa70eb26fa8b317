"""What the journal conformance kit needs to know of a journal, and disks that fail on purpose.

`JournalUnderTest` is the harness that an author writes around a journal. `FaultyDisk` makes one
operation fail as real disks do; `ForgetfulDisk` keeps only what was synced, as after a power cut.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from curriculum.core.journal import Record
from curriculum.sessions.disk import SystemDisk

Fault = Literal["", "full", "short", "lost sync"]
FAULTS: tuple[Fault, ...] = ("full", "short", "lost sync")


class ClosableJournal(Protocol):
    """A journal that can be let go of."""

    def append(self, record: Record) -> int | None:
        """Keep the record; returns its position, raises JournalError if it was not kept."""

    def close(self) -> None:
        """Let go of the storage."""


class JournalUnderTest(Protocol):
    """The harness around one journal. Everything of the journal lies in one folder."""

    @property
    def lacks(self) -> Mapping[str, str]:
        """Names of checks that do not apply to this journal, each with the reason."""

    def open(self, folder: str) -> ClosableJournal:
        """The journal in that folder: a new one, or the one that is there, to be gone on with.

        Raises JournalError if it cannot be opened.
        """

    def records(self, folder: str) -> Sequence[Record]:
        """What the journal in that folder holds. It is not open then, and this changes nothing.

        What the journal adds of its own accord (a header, what a recovery writes) is left out.
        """


def records_of_turn(number: int, size: int = 10) -> list[Record]:
    """The records of one whole turn with a call, in their order; texts have about `size` chars."""
    turn, call_id = f"turn-{number}", f"call-{number}"
    text = f"{number} \n\u2028\u0085\U0001f600 " + "x" * size
    call = {"call_id": call_id, "name": "echo", "arguments": '{"text": "\\n"}'}
    display: dict[str, object] = {"text": text, "env": {"A": "1"}, "limit": 2**53 - 1, "note": None}
    answer = {"content": "", "tool_calls": [call], "opaque": [{"sealed": [True, ""]}]}
    return [
        Record("user_input", turn, {"content": text}),
        Record("model_response", turn, answer),
        Record("tool_start", turn, {"call_id": call_id, "display": display}),
        Record("tool_result", turn, {"call_id": call_id, "status": "completed", "output": text}),
        Record("model_response", turn, {"content": f"done {number}", "tool_calls": []}),
        Record("turn_end", turn, {"status": "completed"}),
    ]


class FaultyDisk:
    """The disk of this machine until it is armed: then the next write or sync fails, once.

    full       nothing is written (ENOSPC)
    short      half of the bytes are, and the next write fails (ENOSPC)
    lost sync  the bytes are written, the sync fails (EIO)
    """

    def __init__(self) -> None:
        self.fault: Fault = ""
        self.writes: list[bytes] = []
        self._disk = SystemDisk()
        self._is_full = False

    def open(self, path: str, flags: int) -> int:
        return self._disk.open(path, flags)

    def write(self, fd: int, data: bytes) -> int:
        self.writes.append(bytes(data))
        if self.fault == "full" or self._is_full:
            self.fault, self._is_full = "", False
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.fault == "short":
            self.fault, self._is_full = "", True
            return self._disk.write(fd, data[: len(data) // 2])
        return self._disk.write(fd, data)

    def sync(self, fd: int) -> None:
        self._lose()
        self._disk.sync(fd)

    def sync_data(self, fd: int) -> None:
        self._lose()
        self._disk.sync_data(fd)

    def _lose(self) -> None:
        if self.fault == "lost sync":
            self.fault = ""
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def truncate(self, fd: int, size: int) -> None:
        self._disk.truncate(fd, size)


class ForgetfulDisk:
    """A disk with a cache: `cut_power` takes away all that nobody had synced, names included.

    It knows one folder. A real disk may keep some of it, in any order; this one is the worst case.
    """

    def __init__(self, folder: str) -> None:
        self._disk = SystemDisk()
        self._folder = folder
        self._kept: dict[int, bytes] = {}  # what each file holds for good, by inode number
        self._named: dict[str, int] = {}  # the names that are there for good, with their inode
        self._keep_names()
        for inode in self._named.values():
            self._keep_bytes(inode)

    def open(self, path: str, flags: int) -> int:
        return self._disk.open(path, flags)

    def write(self, fd: int, data: bytes) -> int:
        return self._disk.write(fd, data)

    def sync(self, fd: int) -> None:
        self.sync_data(fd)

    def sync_data(self, fd: int) -> None:
        found = os.fstat(fd)
        if stat.S_ISDIR(found.st_mode):
            self._keep_names()
        else:
            self._keep_bytes(found.st_ino)

    def truncate(self, fd: int, size: int) -> None:
        self._disk.truncate(fd, size)

    def _keep_names(self) -> None:
        self._named = {entry.name: entry.inode() for entry in os.scandir(self._folder)}

    def _keep_bytes(self, inode: int) -> None:
        for entry in os.scandir(self._folder):
            if entry.inode() == inode:
                with open(entry.path, "rb") as file:
                    self._kept[inode] = file.read()

    def kept(self, fd: int) -> bytes:
        """What a power cut would leave of an open file."""
        return self._kept.get(os.fstat(fd).st_ino, b"")

    def cut_power(self) -> None:
        """Leave in the folder what was synced, and nothing else."""
        for name in os.listdir(self._folder):
            os.unlink(os.path.join(self._folder, name))
        for name, inode in self._named.items():
            with open(os.path.join(self._folder, name), "wb") as file:
                file.write(self._kept.get(inode, b""))
