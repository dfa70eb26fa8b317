"""Setting a torn tail aside: copied to a file beside the session first, then cut off.

The next record can then never be glued to half of another. A crash between copy and cut is
repaired at the next opening: the same bytes go to the same file.
"""

from __future__ import annotations

import os

from curriculum.sessions.disk import NEW, READ_ONLY, READ_WRITE, sync_folder, write_all
from curriculum.sessions.ids import SUFFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from curriculum.sessions.disk import Disk

COPY_BYTES = 256 * 1024


# region: set_aside
def set_aside(fd: int, path: str, start: int, size: int, disk: Disk) -> str:
    """Move the bytes from `start` to `size` to `<id>.torn-<n>`; returns its path. Raises OSError.

    On return both files are on stable storage.
    """
    copy, target = _open_copy(fd, path, start, size, disk)
    try:
        disk.truncate(target, 0)
        for at in range(start, size, COPY_BYTES):
            write_all(target, os.pread(fd, min(COPY_BYTES, size - at), at), disk)
        disk.sync(target)
    finally:
        os.close(target)
    sync_folder(os.path.dirname(path), disk)
    disk.truncate(fd, start)
    disk.sync(fd)
    return copy


# endregion


def _open_copy(fd: int, path: str, start: int, size: int, disk: Disk) -> tuple[str, int]:
    """A new file, or the last one if it is the beginning of the same copy, cut short."""
    base = path.removesuffix(SUFFIX) + ".torn-"
    number = 1
    while os.path.lexists(f"{base}{number}"):
        number += 1
    last = f"{base}{number - 1}"
    if number > 1 and _begins_with(fd, start, size, last, disk):
        return last, disk.open(last, READ_WRITE)
    copy = f"{base}{number}"
    return copy, disk.open(copy, READ_WRITE | NEW)


def _begins_with(fd: int, start: int, size: int, copy: str, disk: Disk) -> bool:
    """Whether the tail begins with what lies in `copy`."""
    try:
        source = disk.open(copy, READ_ONLY)
    except OSError:
        return False
    try:
        length = os.fstat(source).st_size
        if length > size - start:
            return False
        for at in range(0, length, COPY_BYTES):
            copied = os.pread(source, COPY_BYTES, at)
            if copied != os.pread(fd, len(copied), start + at):
                return False
        return True
    finally:
        os.close(source)
