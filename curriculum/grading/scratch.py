"""A folder for a check: in memory where the system offers that, since it is a process that dies.

What a process has written is kept by the kernel when it is killed, so nothing is lost by not using
a disk, and thousands of syncs cost nothing. Power cuts are the matter of `ForgetfulDisk`.
"""

from __future__ import annotations

import os
import tempfile

MEMORY = "/dev/shm"


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A new folder, to be used in a `with`."""
    return tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None)
