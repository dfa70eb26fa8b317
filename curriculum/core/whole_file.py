"""A file that a user names and that is read whole: a regular one, and no larger than it may be.

A named pipe would be waited for without an end, and a device such as /dev/zero fill the memory.
"""

from __future__ import annotations

import errno
import os
import stat


def read_whole(path: str, most: int) -> bytes:
    """Its bytes. Raises OSError with a `strerror` that says why not; ValueError for a NUL."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "Not a regular file", path)
        data = file.read(most + 1)
    if len(data) > most:  # a part of it would be another file than was meant
        raise OSError(errno.EFBIG, f"Larger than {most} bytes", path)
    return data
