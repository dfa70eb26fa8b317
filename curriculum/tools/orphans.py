"""Orphans of a command: processes that left its session and outlived their parent.

Linux hands an orphan to the nearest ancestor that asks for orphans (PR_SET_CHILD_SUBREAPER,
prctl(2)), else to process 1, and then nothing ties it to its command any more. So while a command
runs, this process asks. What it is handed stands in the list of children of its first thread, so
only a run in that thread asks: the thread is busy with the run, hence whatever is new in its list
is an orphan of this command. Two kinds are not, and are left alone: what another thread starts is
in that thread's list, and if the thread has ended, in our session, which no command can join. (Not
told apart is a child in a session of its own, left by a thread that ended during the run.) Where
none of this is to be had (macOS, no /proc, another thread) no orphan is found.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from functools import lru_cache

from curriculum.core.values import TYPE_CHECKING
from curriculum.tools.survivors import PAUSES

if TYPE_CHECKING:
    from collections.abc import Callable

_SET_SUBREAPER, _GET_SUBREAPER = 36, 37  # linux/prctl.h


@lru_cache(maxsize=1)
def _prctl() -> Callable[..., int] | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        import ctypes

        return ctypes.CDLL(None).prctl
    except (ImportError, OSError, AttributeError):
        return None


class Orphans:
    """The orphans of one run: make it before the shell starts, `close` it at the end."""

    def __init__(self) -> None:
        is_first = threading.get_native_id() == os.getpid()
        self._prctl = _prctl() if is_first else None
        self._asks = bool(self._prctl and self._prctl(_SET_SUBREAPER, 1, 0, 0, 0) == 0)
        self._before = frozenset(self._children()) if self._asks and has_children() else frozenset()

    def are_impossible(self) -> bool:
        """Whether nobody at all can be left of a command whose shell was reaped; one system call.

        Each of its processes is then our child, or has an ancestor that is.
        """
        return self._asks and not has_children()

    def stop(self, shell: int) -> tuple[bool, bool]:
        """Kill and reap them, and whoever they leave behind in turn.

        (Whether one of them was running, whether one still is.)
        """
        was_running = False
        for pause in PAUSES:
            orphans = self._new(shell)
            if not orphans:
                return was_running, False
            for pid in orphans:
                if not _reap(pid):
                    was_running = True
                    _kill(pid)
            time.sleep(pause)
        return was_running, bool(self._new(shell))

    def close(self) -> None:
        """Ask no longer."""
        if self._asks and self._prctl:
            self._prctl(_SET_SUBREAPER, 0, 0, 0, 0)
        self._asks = False

    def _new(self, shell: int) -> list[int]:
        if not self._asks or not has_children():
            return []
        known, here = {shell, *self._before}, os.getsid(0)
        return [pid for pid in self._children() if pid not in known and _session(pid) != here]

    def _children(self) -> list[int]:
        """The children of the first thread, dead ones too (proc_pid_task(5))."""
        try:
            with open(f"/proc/self/task/{os.getpid()}/children", "rb", buffering=0) as file:
                return [int(pid) for pid in file.read().split()]
        except OSError:
            self.close()  # they could not be told from others
            return []


def has_children() -> bool:
    """Whether this process has any, dead or alive."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:  # somebody has reaped it
        return os.getsid(0)


def _reap(pid: int) -> bool:
    """Take the status of a child of ours, if it is dead: until then its number is its own."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # of another user now (a setuid program): the next look tells
