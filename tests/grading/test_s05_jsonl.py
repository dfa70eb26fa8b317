"""The grader of s05 B is graded: each wrong journal is told why."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

import pytest

from curriculum.core.errors import JournalError
from curriculum.core.journal import Record
from curriculum.grading.journal_under_test import ForgetfulDisk
from curriculum.grading.jsonl_journal import grade_jsonl_journal
from curriculum.lessons.s05_sessions.solutions import JsonlJournal
from curriculum.sessions.disk import Disk, sync_folder


def test_the_reference_passes() -> None:
    grade_jsonl_journal(JsonlJournal)


class Wrong(JsonlJournal):
    """Right, but for what a subclass does in `_keep`."""

    def append(self, record: Record) -> int:
        if self._fault:
            raise JournalError(self._fault)
        fields = {"kind": record.kind, "turn_id": record.turn_id, "data": record.data}
        try:
            self._keep(json.dumps(fields, default=dict).encode() + b"\n")
        except OSError as fault:
            self._fault = f"{self._path}: {fault}"
            raise JournalError(self._fault) from None
        self._count += 1
        return self._count - 1

    def _keep(self, line: bytes) -> None:
        if self._disk.write(self._fd, line) != len(line):
            raise OSError("a short write")
        self._disk.sync_data(self._fd)


def test_the_base_of_the_wrong_ones_is_right() -> None:
    grade_jsonl_journal(Wrong)


class NeverSyncs(Wrong):
    """A kill would not show it; a power cut does."""

    def _keep(self, line: bytes) -> None:
        if self._disk.write(self._fd, line) != len(line):
            raise OSError("a short write")


class SyncsFirst(Wrong):
    def _keep(self, line: bytes) -> None:
        self._disk.sync_data(self._fd)
        if self._disk.write(self._fd, line) != len(line):
            raise OSError("a short write")


class TrustsTheWrite(Wrong):
    """Half a line is a line."""

    def _keep(self, line: bytes) -> None:
        self._disk.write(self._fd, line)
        self._disk.sync_data(self._fd)


class TrustsTheSync(Wrong):
    """A sync that fails is somebody else's problem."""

    def _keep(self, line: bytes) -> None:
        if self._disk.write(self._fd, line) != len(line):
            raise OSError("a short write")
        with contextlib.suppress(OSError):
            self._disk.sync_data(self._fd)


class WritesTwice(Wrong):
    """The line feed has a write of its own."""

    def _keep(self, line: bytes) -> None:
        self._disk.write(self._fd, line[:-1])
        super()._keep(b"\n")


class GoesOn(Wrong):
    """After a fault the next record is taken as if nothing had been."""

    def append(self, record: Record) -> int:
        self._fault = ""
        return super().append(record)


class TriesAgain(Wrong):
    """A sync that failed once is called again; the kernel has forgotten the fault by then."""

    def _keep(self, line: bytes) -> None:
        if self._disk.write(self._fd, line) != len(line):
            raise OSError("a short write")
        try:
            self._disk.sync_data(self._fd)
        except OSError:
            self._disk.sync_data(self._fd)


class ForgetsTheName(JsonlJournal):
    """The bytes of a new file are synced, its directory is not."""

    def __init__(self, path: str, disk: Disk) -> None:
        self._path, self._disk, self._fault = path, disk, ""
        self._fd = disk.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        content = Path(path).read_bytes()
        self._count = content.count(b"\n")
        disk.truncate(self._fd, content.rfind(b"\n") + 1)


class GluesToTheTail(JsonlJournal):
    """What was torn stays, and the next record is written behind it."""

    def __init__(self, path: str, disk: Disk) -> None:
        self._path, self._disk, self._fault = path, disk, ""
        self._fd = disk.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        self._count = Path(path).read_bytes().count(b"\n")
        sync_folder(os.path.dirname(path), disk)


class CutsUnsynced(JsonlJournal):
    """The tail is cut off in the cache; on the disk it is still there."""

    def __init__(self, path: str, disk: Disk) -> None:
        self._path, self._disk, self._fault = path, disk, ""
        self._fd = disk.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        content = Path(path).read_bytes()
        self._count = content.count(b"\n")
        disk.truncate(self._fd, content.rfind(b"\n") + 1)
        sync_folder(os.path.dirname(path), disk)


class StartsAnew(JsonlJournal):
    def __init__(self, path: str, disk: Disk) -> None:
        super().__init__(path, disk)
        disk.truncate(self._fd, 0)
        self._count = 0


class CountsFromZero(JsonlJournal):
    def __init__(self, path: str, disk: Disk) -> None:
        super().__init__(path, disk)
        self._count = 0


class LetsTheErrorOut(JsonlJournal):
    def append(self, record: Record) -> int:
        try:
            return super().append(record)
        except JournalError as fault:
            raise OSError(str(fault)) from None


class SaysNothing(JsonlJournal):
    def append(self, record: Record) -> int:
        try:
            return super().append(record)
        except JournalError:
            raise JournalError("the record was not kept") from None


class Buffers(Wrong):
    """Writes every second record together with the one before."""

    _waiting = b""

    def _keep(self, line: bytes) -> None:
        self._waiting += line
        if self._waiting.count(b"\n") > 1:
            super()._keep(self._waiting)
            self._waiting = b""


class Bypasses(Wrong):
    """Has its own way to the disk."""

    def _keep(self, line: bytes) -> None:
        os.write(self._fd, line)
        os.fsync(self._fd)


WRONG: dict[str, tuple[type[JsonlJournal], str]] = {
    "never syncs": (NeverSyncs, "the disk was asked to write$"),
    "syncs first": (SyncsFirst, "the disk was asked to sync, write"),
    "trusts the write": (TrustsTheWrite, "fault 'short' at record 0"),
    "trusts the sync": (TrustsTheSync, "fault 'lost sync' at record 0"),
    "writes twice": (WritesTwice, "the disk was asked to write, write, sync"),
    "goes on": (GoesOn, "every later record refused"),
    "tries the sync again": (TriesAgain, "fault 'lost sync' at record 0"),
    "forgets the name": (ForgetsTheName, "its name in the directory was not"),
    "glues to the tail": (GluesToTheTail, "on a line of its own|to be"),
    "cuts the tail and does not sync": (CutsUnsynced, "before the next record is written"),
    "starts anew": (StartsAnew, "acknowledged records"),
    "counts from zero": (CountsFromZero, "the next record on a line of its own"),
    "lets the error out": (LetsTheErrorOut, "raise JournalError itself"),
    "says nothing": (SaysNothing, "a message that names the file"),
    "buffers": (Buffers, "the disk was asked to do nothing"),
    "bypasses the disk": (Bypasses, "the disk was asked to do nothing"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_journals_are_told_why(name: str) -> None:
    wrong, message = WRONG[name]
    with pytest.raises(AssertionError, match=rf"(?m){message}"):
        grade_jsonl_journal(wrong)


def test_a_disk_that_forgets_keeps_what_was_synced(tmp_path: Path) -> None:
    disk, path = ForgetfulDisk(str(tmp_path)), str(tmp_path / "a")
    fd = disk.open(path, os.O_RDWR | os.O_CREAT)
    sync_folder(str(tmp_path), disk)
    disk.write(fd, b"kept")
    disk.sync_data(fd)
    disk.write(fd, b", lost")
    os.close(disk.open(str(tmp_path / "b"), os.O_RDWR | os.O_CREAT))
    os.close(fd)
    disk.cut_power()
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"a": b"kept"}


def test_another_way_to_do_it_passes_too() -> None:
    """A journal that cuts back after a fault, as SessionStore does, and syncs all of the file."""

    class CutsBack(Wrong):
        def _keep(self, line: bytes) -> None:
            size = os.fstat(self._fd).st_size
            try:
                if self._disk.write(self._fd, line) != len(line):
                    raise OSError("a short write")
                self._disk.sync(self._fd)
            except OSError:
                self._disk.truncate(self._fd, size)
                raise

    grade_jsonl_journal(CutsBack)
