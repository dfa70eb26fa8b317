"""The session's own file: made or opened, locked and private, or refused in one line.

The order matters. The id is checked before any file is touched, and the lock is taken before
anything about the file is changed, so whoever finds a session busy has written nothing.
"""

from __future__ import annotations

import contextlib
import errno
import os

from curriculum.sessions.disk import (
    NEW,
    READ_ONLY,
    READ_WRITE,
    SystemDisk,
    make_folders,
    make_private,
    session_path,
)
from curriculum.sessions.errors import (
    SessionBusyError,
    SessionError,
    SessionExistsError,
    SessionNotFoundError,
    describe_fault,
)
from curriculum.sessions.ids import check_session_id
from curriculum.sessions.lock import lock_session, release
from curriculum.sessions.text import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from curriculum.sessions.disk import Disk


# region: create
def create_file(home: str, session_id: str, disk: Disk) -> tuple[int, str]:
    """A new, empty, locked session file: its descriptor and path.

    Raises SessionIdError, SessionExistsError, SessionError.
    """
    path = session_path(home, check_session_id(session_id))
    make_folders(home, disk)
    try:
        fd = disk.open(path, READ_WRITE | NEW)
    except FileExistsError:
        raise SessionExistsError(
            f"{shown(path)}: the session is there already; open it, or choose another id"
        ) from None
    except OSError as fault:
        raise SessionError(describe_fault(path, fault)) from None
    try:
        lock_session(fd, path)
        make_private(fd, path)
    except BaseException as fault:
        if not isinstance(fault, SessionBusyError):
            remove_file(path)
        release(fd)
        raise
    return fd, path


# endregion


# region: open
def open_file(home: str, session_id: str, disk: Disk) -> tuple[int, str]:
    """The locked file of a session that exists: its descriptor and path.

    Raises SessionIdError, SessionNotFoundError, SessionBusyError, SessionError.
    """
    path = session_path(home, check_session_id(session_id))
    fd = open_plain(path, READ_WRITE, disk)
    try:
        lock_session(fd, path)
        make_folders(home, disk)
        make_private(fd, path)
    except BaseException:
        release(fd)
        raise
    return fd, path


# endregion


def open_plain(path: str, flags: int, disk: Disk) -> int:
    """A descriptor of a session file that exists. Raises SessionNotFoundError, SessionError."""
    try:
        return disk.open(path, flags)
    except FileNotFoundError as fault:
        raise SessionNotFoundError(f"{describe_fault(path, fault)}; `list` shows all") from None
    except OSError as fault:
        if fault.errno == errno.ELOOP:
            raise SessionError(
                f"{shown(path)}: a symbolic link; a session has to be a file itself"
            ) from None
        raise SessionError(describe_fault(path, fault)) from None


def remove_file(path: str) -> None:
    """Take away a session that could not be made, if that is possible."""
    with contextlib.suppress(OSError):
        os.unlink(path)


def check_free(path: str) -> None:
    """Raise SessionBusyError if somebody has the session open. Nothing is kept or written."""
    fd = open_plain(path, READ_ONLY, SystemDisk())
    try:
        lock_session(fd, path)
    finally:
        release(fd)
