"""Keeping the key to ourselves: out of the environment, and out of reach of our children.

An allow-listed child environment does not hide a key: a child of the same user reads its parent's
/proc/PID/environ, even after the variable was removed, because the kernel shows the memory as it
was at the start. A process that is not dumpable refuses that (prctl(2)); root reads it all the
same, and so does whoever reads the shell that mino was started from.
"""

from __future__ import annotations

import sys
from collections.abc import MutableMapping

KEY_NAMES = ("MINO_API_KEY", "OPENAI_API_KEY")
PR_SET_DUMPABLE = 4  # linux/prctl.h


# region: take
def take_key(environment: MutableMapping[str, str]) -> tuple[str, str]:
    """(key, name of its variable), or ("", ""). Every variable that may hold one is removed."""
    found = [(environment.pop(name, None), name) for name in KEY_NAMES]
    return next(((key, name) for key, name in found if key is not None), ("", ""))


# endregion


# region: hide
def hide_process() -> bool:
    """Close this process's memory and environment to other processes of the user; if it worked."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    try:
        return bool(ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


# endregion
