"""Faults on demand: a stream that is dropped, a provider that is busy, a disk that is lost.

Each is wrapped round the real part, which does not know of it. Luck comes from a seeded source and
is drawn the same number of times for every attempt, so that settings do not change the luck.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TypeVar

from curriculum.core.errors import TransientModelError
from curriculum.core.journal import Journal, Record
from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import Model, Retry, StreamingModel, stream_turn
from curriculum.core.retry import close
from curriculum.sessions.disk import SystemDisk

T = TypeVar("T")


# region: flaky
class FlakyModel:
    """A model some of whose attempts are refused, or dropped after some pieces of text.

    Percentages are of attempts. `drop_at` pieces are shown before a drop; -1 draws how many, from
    none to `pieces`.
    """

    def __init__(
        self,
        model: Model | StreamingModel,
        random: Random,
        *,
        busy_percent: int,
        drop_percent: int,
        drop_at: int,
        pieces: int,
    ) -> None:
        self._model, self._random = model, random
        self._busy, self._drop, self._at = busy_percent, drop_percent, drop_at
        self._pieces = pieces

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | Retry | ModelTurn]:
        busy = self._random.randrange(100) < self._busy
        drop = self._random.randrange(100) < self._drop
        drawn = self._random.randrange(self._pieces + 1)
        if busy:
            raise TransientModelError("the provider is busy (503)")
        at, shown = (drawn if self._at < 0 else self._at), 0
        answer = stream_turn(self._model, messages, tools)
        try:
            for item in answer:
                if drop and (shown == at or isinstance(item, ModelTurn)):
                    raise TransientModelError(f"the stream was dropped after {shown} pieces")
                shown += isinstance(item, str)
                yield item
        finally:
            close(answer)


# endregion


class LosingJournal:
    """A journal whose disk is gone at record number `lost_at`, counted from 1."""

    def __init__(self, journal: Journal, lost_at: int) -> None:
        self._journal, self._left = journal, lost_at

    def append(self, record: Record) -> int | None:
        self._left -= 1
        if self._left <= 0:
            raise OSError(errno.EIO, "Input/output error")
        return self._journal.append(record)


# region: disk
class WatchedDisk:
    """A disk that counts, that may leave out syncs, and that is dead from a chosen step on.

    A dead disk takes nothing any more, which leaves the same bytes as the end of the process at
    that step. `wreck` then takes away what was never synced, as the end of the machine may. Steps
    count from `arm` on; `half` lets half of the bytes of a write at the last step get there.
    `is_played`: what a sync does is only noted, as `wreck` is the only one to ask for it.
    """

    def __init__(self, is_synced: bool = True, is_played: bool = False) -> None:
        self._real = SystemDisk()
        self._is_synced, self._is_played = is_synced, is_played
        self._dies_at, self._half = 0, False
        self.steps = self.syncs = self.bytes = 0
        self._is_armed = self.is_dead = False
        self._safe: dict[str, int] = {}

    def arm(self, dies_at: int = 0, half: bool = False) -> None:
        """Count from here. Die at that step, if it is not 0."""
        self._dies_at, self._half, self._is_armed = dies_at, half, True

    def step(self, act: Callable[[], T], half: Callable[[], object] | None = None) -> T:
        """One step: done, or the end."""
        self.steps += self._is_armed
        if not self.is_dead and self._is_armed and self.steps == self._dies_at:
            self.is_dead = True
            if self._half and half:
                half()
        if self.is_dead:
            raise OSError(errno.EIO, "Input/output error")
        return act()

    def open(self, path: str, flags: int) -> int:
        def act() -> int:
            fd = self._real.open(path, flags)
            self._safe[path] = os.fstat(fd).st_size
            return fd

        return self.step(act)

    def write(self, fd: int, data: bytes) -> int:
        def act() -> int:
            self.bytes += len(data)
            return self._real.write(fd, data)

        return self.step(act, lambda: self._real.write(fd, data[: len(data) // 2]))

    def sync(self, fd: int) -> None:
        self.step(lambda: self._sync(fd, self._real.sync))

    def sync_data(self, fd: int) -> None:
        self.step(lambda: self._sync(fd, self._real.sync_data))

    def truncate(self, fd: int, size: int) -> None:
        self.step(lambda: self._real.truncate(fd, size))

    def _sync(self, fd: int, sync: Callable[[int], None]) -> None:
        if not self._is_synced and self._is_armed:
            return
        self.syncs += self._is_armed
        if not self._is_played:
            sync(fd)
        held = os.fstat(fd)
        for path in self._safe:
            if os.path.samestat(os.stat(path), held):
                self._safe[path] = held.st_size

    def wreck(self) -> None:
        """What the end of the machine may do to bytes that were not synced."""
        for path, size in self._safe.items():
            os.truncate(path, min(size, os.path.getsize(path)))


# endregion
