"""One process at a time: a kernel lock on the session's own inode, held for as long as it is open.

The kernel lets go when the process ends, however it ends, so there is no stale lock to clean up
and no file to delete. The descriptor is closed on exec: a command left running holds nothing.
"""

from __future__ import annotations

import fcntl
import os

from curriculum.sessions.errors import SessionBusyError, SessionError, describe_fault
from curriculum.sessions.text import shown


# region: lock
def lock_session(fd: int, path: str) -> None:
    """Take the lock, without waiting.

    Raises SessionBusyError if somebody has it, SessionError if it cannot be taken at all or the
    file was replaced meanwhile: without the lock nothing goes on.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        ours, named = os.fstat(fd), os.stat(path, follow_symlinks=False)
    except BlockingIOError:
        raise SessionBusyError(
            f"{shown(path)}: the session is busy: it is open in another process; close it there"
        ) from None
    except OSError as fault:
        raise SessionError(describe_fault(path, fault)) from None
    if (ours.st_dev, ours.st_ino) != (named.st_dev, named.st_ino):
        raise SessionError(f"{shown(path)}: the file was replaced while it was opened; try again")


# endregion
