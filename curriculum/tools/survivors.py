"""Who is left of a session: find the processes a command started, and stop them.

A process group is not enough: `set -m` jobs have groups of their own. So the members of the
shell's session and the descendants of its leader are read from /proc *before* the first signal,
while parentage still tells. Two limits: a process that starts its own session and outlives its
parent is the work of `orphans`, and where there is no /proc (macOS) only the group is stopped.
"""

from __future__ import annotations

import fcntl
import os
import signal
import time

from curriculum.core.values import value

# Doubling from 1 ms: about a second in all for killed processes to be gone.
PAUSES = tuple(0.001 * 2**step for step in range(10))


@value
class Member:
    """A live process. Its start time tells it from a later process that got the same number."""

    pid: int
    parent: int
    session: int
    start: int


def session_is_empty(session: int, fd: int) -> bool:
    """Whether no process is left of a session whose leader was reaped; one system call.

    Linux keeps a number taken while it names a process, a group or a session, and F_SETOWN
    (fcntl(2)) says ESRCH only for a free one. `fd` is any open pipe; it is not set to send signals.
    Where the answer is not clear this says False, and the caller looks closer.
    """
    try:
        fcntl.fcntl(fd, fcntl.F_SETOWN, session)
        fcntl.fcntl(fd, fcntl.F_SETOWN, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def can_look() -> bool:
    """Whether this system shows its processes in /proc."""
    return os.path.exists("/proc/self/stat")


def snapshot(session: int) -> list[Member]:
    """The live members of a session and the live descendants of any of them, or of its leader."""
    table = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    for name in names:
        if name.isdigit() and (member := _read(int(name))):
            table[member.pid] = member
    children: dict[int, list[int]] = {}
    for member in table.values():
        children.setdefault(member.parent, []).append(member.pid)
    pending = [session, *(pid for pid, member in table.items() if member.session == session)]
    found: set[int] = set()
    while pending:
        pid = pending.pop()
        if pid not in found:
            found.add(pid)
            pending += children.get(pid, [])
    return [table[pid] for pid in sorted(found & table.keys())]


def _read(pid: int) -> Member | None:
    """The process of that number, unless it is gone, dead or a zombie (proc_pid_stat(5))."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if len(fields) < 20 or fields[0] in b"ZXx":
        return None
    return Member(pid, int(fields[1]), int(fields[3]), int(fields[19]))


def kill_group(group: int) -> bool:
    """SIGKILL to a whole group at once. False if it is gone, or not ours to kill."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def kill(member: Member) -> None:
    """SIGKILL to exactly this process, never to one that has taken its number since."""
    try:
        fd = os.pidfd_open(member.pid)
    except OSError:
        return
    try:
        now = _read(member.pid)
        if now and now.start == member.start:
            signal.pidfd_send_signal(fd, signal.SIGKILL)
    except OSError:
        return  # gone meanwhile, or not ours to kill: the next snapshot tells which
    finally:
        os.close(fd)


def sweep(session: int, members: list[Member]) -> bool:
    """Kill `members` and whoever else is found, until nobody is. False if somebody stays."""
    seen = {member.pid: member for member in members}
    for pause in PAUSES:
        for member in seen.values():
            kill(member)
        again = {member.pid: member for member in snapshot(session)}
        for pid, member in seen.items():
            now = _read(pid)
            if now and now.start == member.start:
                again[pid] = member
        if not again:
            return True
        seen = again
        time.sleep(pause)
    return False
