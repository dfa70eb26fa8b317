"""A growing file as blocks: what is there at once, then whatever is written behind it.

The reader is the one of every command; only its source waits at the end of the file instead of
ending. So a line that is half written is simply not there yet.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from curriculum.trace.engines import Engine
from curriculum.trace.events import EventReader
from curriculum.trace.inputs import BAD_DATA, RefusedError, Source, open_source
from curriculum.trace.viewer.blocks import Block, Digest

POLL_SECONDS = 0.2


class _Tail:
    """Reads a source; at its end, waits for more. `idle` is called at every wait.

    Ends where `idle` says False. Raises RefusedError if the file has shrunk or was replaced.
    """

    def __init__(self, source: Source, name: str, idle: Callable[[], bool]) -> None:
        self._source, self._name, self._idle = source, name, idle
        self._read = 0
        self._inode = _inode(name)

    def read(self, size: int) -> bytes:
        """The next bytes; empty only when nobody is interested any more."""
        while True:
            data = self._source.read(size)
            self._read += len(data)
            if data:
                return data
            if not self._idle():
                return b""
            self._check()
            time.sleep(POLL_SECONDS)

    def _check(self) -> None:
        try:
            status = os.stat(self._name)
        except OSError:
            return  # it was renamed or deleted; who writes it may still do so
        if status.st_ino != self._inode or status.st_size < self._read:
            raise RefusedError(f"{self._source.said}: is another file now; load it anew", BAD_DATA)


def _inode(name: str) -> int:
    return os.stat(name).st_ino


def follow(
    name: str,
    engine: Engine,
    tell: Callable[[Block, int], None],
    idle: Callable[[], bool],
    known: int = 0,
) -> None:
    """Tell of every block and of how many events there are with it, until `idle` says False.

    The first `known` events are not told of. Raises RefusedError for a file that cannot be read,
    or a line that is no event.
    """
    digest = Digest()

    def pass_on(block: Block | None) -> None:
        if block and digest.count > known:
            tell(block, digest.count)

    def wait() -> bool:
        if digest.count >= known:
            pass_on(digest.flush())
        return idle()

    with open_source(name) as source:
        reader = EventReader(Source(source.said, 0, _Tail(source, name, wait).read), engine)
        try:
            for event in reader:
                pass_on(digest.take(event))
                if digest.count == known:
                    digest.flush()  # so that the next block begins behind what is known
        finally:
            pass_on(digest.flush())
