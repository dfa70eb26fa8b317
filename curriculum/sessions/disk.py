"""The few things a session asks of the operating system, and where its files lie.

Everything that changes the disk goes through `Disk`, so that tests can make any of it fail, cut
it short, or end the process there. Directories are 0700 and files 0600 whatever the umask, also
when they were there before. A name is durable only when its directory is synced too.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat

from curriculum.core.values import Protocol
from curriculum.sessions.errors import SessionError, describe_fault
from curriculum.sessions.ids import SUFFIX
from curriculum.sessions.text import shown

READ_ONLY, READ_WRITE = os.O_RDONLY, os.O_RDWR | os.O_APPEND
NEW = os.O_CREAT | os.O_EXCL
# A symbolic link could lead a session anywhere; O_NONBLOCK so that a FIFO cannot make us wait.
_ALWAYS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class Disk(Protocol):
    """What changes the disk. Each method raises OSError."""

    def open(self, path: str, flags: int) -> int:
        """A descriptor that no child process inherits; a new file is 0600."""

    def write(self, fd: int, data: bytes) -> int:
        """Write once; returns how many bytes were taken."""

    def sync(self, fd: int) -> None:
        """Return when everything about the file (or directory) is on stable storage."""

    def sync_data(self, fd: int) -> None:
        """Return when its bytes and length are on stable storage."""

    def truncate(self, fd: int, size: int) -> None:
        """Cut the file to `size` bytes."""


class SystemDisk:
    """The disk of this machine."""

    def open(self, path: str, flags: int) -> int:
        return os.open(path, flags | _ALWAYS, 0o600)

    def write(self, fd: int, data: bytes) -> int:
        return os.write(fd, data)

    def sync(self, fd: int) -> None:
        if hasattr(fcntl, "F_FULLFSYNC"):  # where fsync only reaches the drive's own cache
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        else:
            os.fsync(fd)

    def sync_data(self, fd: int) -> None:
        if hasattr(os, "fdatasync"):
            os.fdatasync(fd)
        else:
            self.sync(fd)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)


def session_path(home: str, session_id: str) -> str:
    """Where the session lies. The id is checked before it comes here."""
    return os.path.join(home, "sessions", session_id + SUFFIX)


def make_private(fd: int, path: str) -> os.stat_result:
    """Make sure of a regular file with mode 0600. Raises SessionError."""
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise SessionError(f"{shown(path)}: not a regular file; a session has to be one")
        if stat.S_IMODE(found.st_mode) != 0o600:
            os.fchmod(fd, 0o600)
    except OSError as fault:
        raise SessionError(describe_fault(path, fault)) from None
    return found


def make_folders(home: str, disk: Disk) -> str:
    """Make `<home>/sessions`, private and durable, and return it. Raises SessionError.

    Both may be symbolic links to directories. A home that is there keeps its mode, and so does what
    a link leads to: it may be anybody's folder.
    """
    folder = os.path.join(home, "sessions")
    parent = os.path.dirname(os.path.abspath(home))
    at = parent
    try:
        for at in _missing(parent):
            os.mkdir(at)
            sync_folder(os.path.dirname(at), disk)
        for at, above in ((home, parent), (folder, home)):
            _make_folder(at, above, disk, is_ours=at == folder and not os.path.islink(at))
    except FileExistsError:
        raise SessionError(describe_fault(at, NotADirectoryError(errno.ENOTDIR, ""))) from None
    except OSError as fault:
        raise SessionError(describe_fault(at, fault)) from None
    return folder


def _missing(path: str) -> list[str]:
    """The directories on the way to `path` that are not there, the outermost first."""
    missing: list[str] = []
    while not os.path.isdir(path):
        missing.insert(0, path)
        path = os.path.dirname(path)
    return missing


def _make_folder(path: str, parent: str, disk: Disk, is_ours: bool) -> None:
    """One folder. The mode of one that is there already is changed only if `is_ours`."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        found = os.stat(path)
        if not stat.S_ISDIR(found.st_mode):
            raise
        if is_ours and found.st_mode & 0o077:
            os.chmod(path, 0o700)
        return
    os.chmod(path, 0o700)  # a umask may have taken bits of ours
    sync_folder(parent, disk)


def sync_folder(path: str, disk: Disk) -> None:
    """Make the names in a directory durable. Raises OSError."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        disk.sync(fd)
    finally:
        os.close(fd)


def write_all(fd: int, data: bytes, disk: Disk) -> None:
    """Write every byte, in as many writes as it takes. Raises OSError."""
    while data:
        data = data[disk.write(fd, data) :]
