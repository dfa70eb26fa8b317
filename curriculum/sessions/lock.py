"""One process at a time: a kernel lock on the session's own inode, held for as long as it is open.

The kernel lets go when the process ends, however it ends, so there is no stale lock to clean up
and no file to delete. The descriptor is closed on exec: a command left running holds nothing. A
forked child would share the lock and keep it when its parent ends; so it is given up there. What no
process can give up is the moment between a command's fork and its exec: whoever is killed just then
leaves the session busy until the exec, for Linux has no descriptor that is closed on fork.
"""

from __future__ import annotations

import fcntl
import os

from curriculum.sessions.errors import SessionBusyError, SessionError, describe_fault
from curriculum.sessions.text import shown

# What a forked child has to give up: each descriptor that holds a lock, and its device and inode.
# A hook of the interpreter cannot be unregistered, so there is one, and this is what it looks at.
_held: dict[int, tuple[int, int]] = {}


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
    _held[fd] = ours.st_dev, ours.st_ino


# endregion


def release(fd: int) -> None:
    """Close the descriptor, and with it the lock that it may hold."""
    _held.pop(fd, None)
    os.close(fd)


def _give_up() -> None:
    """In a forked child: nothing is behind its descriptors any more, and their numbers are kept."""
    for fd, known in _held.items():
        try:
            found = os.fstat(fd)
            if (found.st_dev, found.st_ino) == known:
                nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
                os.dup2(nothing, fd, inheritable=False)
                os.close(nothing)
        except OSError:
            continue  # it is closed already, or there is no descriptor left to put in its place
    _held.clear()


os.register_at_fork(after_in_child=_give_up)
