"""A trace as lines: read in binary, split on 0x0A only, in memory that does not grow.

Lines come in batches, one for each block that was read. A line longer than the limit comes as its
first 256 KiB and a byte, which is enough to refuse it; the rest is read past. What follows the
last LF is no line: it is left in `tail`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from curriculum.core.trace import MAX_LINE_BYTES

BLOCK_BYTES = 1 << 18

Read = Callable[[int], bytes]


class LineReader:
    """Reads one file. `seen` is told of every block as it comes, in order."""

    def __init__(self, read: Read, seen: Callable[[bytes], None] | None = None) -> None:
        self._read, self._seen = read, seen
        self.tail = b""
        self.bytes_read = 0

    def batches(self) -> Iterator[list[bytes]]:
        """Lines without their LF. After the last batch `tail` holds what had no LF."""
        tail, skipping = b"", False
        while block := self._read(BLOCK_BYTES):
            self.bytes_read += len(block)
            if self._seen:
                self._seen(block)
            lines = block.split(b"\n")
            if skipping:
                if len(lines) == 1:
                    continue
                del lines[0]
                skipping = False
            lines[0] = tail + lines[0]
            tail = lines.pop()
            if len(tail) > MAX_LINE_BYTES:
                lines.append(tail[: MAX_LINE_BYTES + 1])
                tail, skipping = b"", True
            if lines:
                yield lines
        self.tail = tail
