"""A running shell: what it prints, when it exits, and what it leaves behind.

The shell is a session of its own with /dev/null as its input, so it reaches neither the terminal
nor the next line that the user types. End of output is not exit and exit is not end of output:
both are watched. Once `finish` has returned the shell is reaped, its session is swept, its orphans
are stopped and no descriptor is left open.
"""

from __future__ import annotations

import os
import select
import subprocess
import time

from curriculum.core.values import TYPE_CHECKING
from curriculum.tools import survivors
from curriculum.tools.bounds import (
    BLIND_POLL_SECONDS,
    INHERITED_PIPE_SECONDS,
    POLL_SECONDS,
    READ_BYTES,
    REAP_SECONDS,
    Ending,
)
from curriculum.tools.capture import STREAMS
from curriculum.tools.orphans import Orphans

if TYPE_CHECKING:
    from collections.abc import Callable

    from curriculum.core.seams import CancelToken
    from curriculum.tools.bounds import Cause, Launch
    from curriculum.tools.capture import Capture, Stream


class Shell:
    """A running bash and the read ends of its two pipes."""

    def __init__(self, launch: Launch, capture: Capture, now: Callable[[], float]) -> None:
        self._capture = capture
        self._now = now
        self._code: int | None = None
        self._exited = self._reaped = self._held = self._stopped = self._escaped = False
        self._poll = select.poll()
        self._pipes: dict[int, Stream] = {}  # read ends that somebody may still write to
        self._fds: list[int] = []  # whatever must be closed in the end
        # Our copies of the write ends stay open until the shell has exited: otherwise each pipe
        # that it closes on its way out would wake us up once more.
        self._writers: list[int] = []
        self._orphans = Orphans()
        try:
            self._process = self._start(launch)
        except BaseException:
            self._orphans.close()
            self._close(self._writers)
            self._close(self._fds)
            raise
        self._pid = self._process.pid
        self._exit_fd: int | None = None
        try:
            self._exit_fd = os.pidfd_open(self._pid)
        except (AttributeError, OSError):
            return
        self._fds.append(self._exit_fd)
        self._poll.register(self._exit_fd, select.POLLIN)

    def _start(self, launch: Launch) -> subprocess.Popen[bytes]:
        for stream in STREAMS:
            reader, writer = os.pipe()
            self._fds.append(reader)
            self._writers.append(writer)
            os.set_blocking(reader, False)
            self._poll.register(reader, select.POLLIN)
            self._pipes[reader] = stream
        return subprocess.Popen(
            ["/bin/bash", "--noprofile", "--norc", "-c", launch.command],
            stdin=subprocess.DEVNULL,
            stdout=self._writers[0],
            stderr=self._writers[1],
            cwd=launch.directory,
            env=dict(launch.environment),
            start_new_session=True,  # set before bash runs, so a group is there to be killed
            close_fds=True,
        )

    # region: watch
    def watch(self, timeout_seconds: float, cancel: CancelToken) -> Cause:
        """Collect output until the shell and its pipes are done, or a bound is reached."""
        deadline = self._now() + timeout_seconds
        while not self._exited:
            self._collect(deadline - self._now())
            if self._capture.overflowed:
                return "output-limit"
            if not self._exited and cancel.cancelled:
                return "cancelled"
            if not self._exited and self._now() >= deadline:
                return "timeout"
        self._close(self._writers)
        self._empty_pipes()
        deadline = self._now() + INHERITED_PIPE_SECONDS
        while self._pipes and not self._capture.overflowed:
            if cancel.cancelled:
                return "cancelled"
            if self._now() >= deadline:
                self._held = True
                break
            self._collect(deadline - self._now())
        return "output-limit" if self._capture.overflowed else "exit"

    # endregion

    def _empty_pipes(self) -> None:
        """Take all that is in the pipes now: no clock may lose it, the cap bounds it."""
        while self._pipes and not self._capture.overflowed and self._collect(0):
            pass

    def _collect(self, seconds: float) -> bool:
        """Wait at most so long (and 100 ms) for output or exit. True if there was output."""
        longest = POLL_SECONDS if self._exit_fd is not None else BLIND_POLL_SECONDS
        seconds = min(seconds, longest)
        progress = False
        for fd, event in self._poll.poll(seconds * 1000 if seconds > 0 else 0):
            if fd == self._exit_fd:
                self._exited = True
                self._poll.unregister(fd)
            elif event & select.POLLIN:
                progress = self._read(fd) or progress
            else:  # hung up, and empty
                self._drop(fd)
        if self._exit_fd is None and not self._reaped:
            self._reap(os.WNOHANG)
        return progress

    def _read(self, fd: int) -> bool:
        try:
            data = os.read(fd, READ_BYTES)
        except BlockingIOError:  # a process of this user can read our end through /proc
            return False
        if data:
            self._capture.add(self._pipes[fd], data)
        else:
            self._drop(fd)
        return bool(data)

    def _drop(self, fd: int) -> None:
        self._poll.unregister(fd)
        del self._pipes[fd]

    def _reap(self, flags: int = 0) -> None:
        """Take the shell's status. Its number is not ours to signal any more afterwards."""
        try:
            pid, status = os.waitpid(self._pid, flags)
        except ChildProcessError:  # SIGCHLD is ignored here, so the kernel has dropped the status
            pid, status = self._pid, None
        if pid == self._pid:
            self._exited = self._reaped = True
            self._code = None if status is None else os.waitstatus_to_exitcode(status)
            self._process.returncode = self._code or 0

    # region: finish
    def finish(self, cause: Cause) -> Ending:
        """Stop what still runs, reap, take what is left in the pipes. May be called again."""
        if not self._reaped:
            if cause == "exit":
                self._reap()
            else:
                self._stop()
        if self._fds:
            self._close(self._writers)
            if self._reaped and not self._orphans.are_impossible():
                if not survivors.session_is_empty(self._pid, self._fds[0]):
                    self._stop_leftovers()
                self._stop_orphans()
            self._orphans.close()
            self._drain(0.0 if cause == "exit" and not self._stopped else INHERITED_PIPE_SECONDS)
            self._close(self._fds)
        if cause == "exit" and self._capture.overflowed:
            cause = "output-limit"
        self._capture.close(whole=cause == "exit")
        code = self._code if cause == "exit" else None
        return Ending(cause, code, self._held, self._stopped, self._escaped)

    # endregion

    def _stop(self) -> None:
        members = survivors.snapshot(self._pid)
        survivors.kill_group(self._pid)
        self._escaped = not survivors.sweep(self._pid, members)
        for _ in range(int(REAP_SECONDS / BLIND_POLL_SECONDS)):
            self._reap(os.WNOHANG)
            if self._reaped:
                return
            time.sleep(BLIND_POLL_SECONDS)
        self._escaped = True

    def _stop_leftovers(self) -> None:
        members = survivors.snapshot(self._pid)
        killed = survivors.kill_group(self._pid)
        self._stopped = bool(members) or (killed and not survivors.can_look())
        if not survivors.sweep(self._pid, members):
            self._escaped = True

    def _stop_orphans(self) -> None:
        was_running, is_running = self._orphans.stop(self._pid)
        self._stopped = self._stopped or was_running
        self._escaped = self._escaped or is_running

    def _drain(self, seconds: float) -> None:
        """Take what the stopped processes left in the pipes. Who still holds one has escaped."""
        self._empty_pipes()
        deadline = self._now() + seconds
        while self._pipes:
            if self._now() >= deadline:
                self._escaped = True
                return
            self._collect(deadline - self._now())

    @staticmethod
    def _close(fds: list[int]) -> None:
        while fds:
            os.close(fds.pop())
