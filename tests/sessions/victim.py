"""A process that is killed at a chosen step: it forks a child for each job and reports its end.

A job is one JSON line: home, calls, what ("run" or "recover"), step (of the disk or of the tool,
from 1), phase ("after", or "half" of a write; of any other step half is nothing) and loss: what
the machine makes of bytes that were not synced ("kept", "vanish", "zeros"). The answer is
{"signal": n} or {"exit": n}. In `<home>/kept` stands how many records `append` has returned for.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from curriculum.core.journal import Record
from curriculum.core.model import ScriptedModel
from curriculum.core.trace import GoldenClock
from curriculum.sessions.disk import NEW, SystemDisk
from curriculum.sessions.store import SessionStore
from tests.sessions.parts import NAME, Marker, runner_of, script


class DeadlyDisk:
    """The disk up to a step, then the end of the process, and of the machine if bytes are lost."""

    def __init__(self, step: int, phase: str, loss: str) -> None:
        self._left, self._phase, self._loss = step, phase, loss
        self._real = SystemDisk()
        self._synced: dict[str, int] = {}  # what survives of each file that was opened
        self._names: set[str] = set()  # new names that are not durable

    def step(self, act: Callable[[], Any], half: Callable[[], None] | None = None) -> Any:
        self._left -= 1
        if self._left:
            return act()
        if self._phase == "half" and half:
            half()
        elif self._phase == "after":
            act()
        self._die()
        raise AssertionError("the process has ended")

    def _die(self) -> None:
        for path, size in self._synced.items():
            length = os.path.getsize(path)
            if self._loss != "kept":
                os.truncate(path, size)
            if self._loss == "zeros" and length > size:
                with open(path, "ab") as file:  # the length and the end of a line got there
                    file.write(b"\0" * (length - size - 1) + b"\n")
            if self._loss == "vanish" and path in self._names:
                os.unlink(path)
        os.kill(os.getpid(), signal.SIGKILL)

    def _path(self, fd: int) -> str:
        return os.readlink(f"/proc/self/fd/{fd}")

    def open(self, path: str, flags: int) -> int:
        def act() -> int:
            fd = self._real.open(path, flags)
            self._synced[path] = os.fstat(fd).st_size
            if flags & NEW:
                self._names.add(path)
            return fd

        return int(self.step(act))

    def write(self, fd: int, data: bytes) -> int:
        def half() -> None:
            self._real.write(fd, data[: len(data) // 2])

        return int(self.step(lambda: self._real.write(fd, data), half))

    def sync(self, fd: int) -> None:
        self.step(lambda: self._sync(fd))

    def sync_data(self, fd: int) -> None:
        self.step(lambda: self._sync(fd))

    def _sync(self, fd: int) -> None:
        path = self._path(fd)
        if os.path.isdir(path):
            self._names = {name for name in self._names if os.path.dirname(name) != path}
        else:
            self._synced[path] = os.fstat(fd).st_size

    def truncate(self, fd: int, size: int) -> None:
        def act() -> None:
            self._real.truncate(fd, size)
            path = self._path(fd)
            self._synced[path] = min(self._synced[path], size)

        self.step(act)


class KeptCount:
    """A journal that writes down, elsewhere, how many records the store has vouched for."""

    def __init__(self, store: SessionStore, path: Path) -> None:
        self._store, self._path = store, path

    def append(self, record: Record) -> int:
        position = self._store.append(record)
        self._path.write_text(str(position + 1))
        return position


def perform(job: dict[str, Any]) -> None:
    home = Path(job["home"])
    disk = DeadlyDisk(job["step"], job["phase"], job["loss"])
    if job["what"] == "recover":
        SessionStore.open(home, NAME, clock=GoldenClock(), disk=disk).close()
        return
    store = SessionStore.create(home, NAME, clock=GoldenClock(), disk=disk)
    kept: Any = KeptCount(store, home / "kept")
    tool = Marker(home / "marks", disk.step)
    runner = runner_of(None, ScriptedModel(script(job["calls"])), tool)
    runner._ledger._journal = kept
    assert runner.run("go").error is None


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if not child:
            code = 70
            try:
                perform(json.loads(line))
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            print(json.dumps({"signal": os.WTERMSIG(status)}), flush=True)
        else:
            print(json.dumps({"exit": os.WEXITSTATUS(status)}), flush=True)


if __name__ == "__main__":
    main()
