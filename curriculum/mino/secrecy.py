"""Keeping the key to ourselves: out of the environment, of our children's reach, of all we show.

An allow-listed child environment does not hide a key: a child of the same user reads its parent's
/proc/PID/environ, even after the variable was removed, because the kernel shows the memory as it
was at the start. A process that is not dumpable refuses that (prctl(2)); root reads it all the
same, and so does whoever reads the shell that mino was started from.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, MutableMapping

from curriculum.core.line_limit import pointer_token
from curriculum.core.trace import Event
from curriculum.core.values import replace
from curriculum.providers.key_mask import KeyMask

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


# region: mask
def mask_event(event: Event, mask: KeyMask) -> Event:
    """The event with every occurrence of the key in its payload masked, and marked as such.

    The adapter masks what a model says, and a conversation what a person types; what is left is
    what a command has read from a file.
    """
    pointers: list[str] = []
    payload = _mask(event.payload, "/payload", mask, pointers)
    if not pointers:
        return event
    assert isinstance(payload, dict)
    redaction = {"status": "redacted", "policy": "known-values", "items": sorted(pointers)}
    return replace(event, payload=payload, redaction=redaction)


def _mask(data: object, pointer: str, mask: KeyMask, pointers: list[str]) -> object:
    if isinstance(data, str):
        masked = mask.text(data)
        if masked != data:
            pointers.append(pointer)
        return masked
    if isinstance(data, Mapping):
        return {
            name: _mask(field, f"{pointer}/{pointer_token(str(name))}", mask, pointers)
            for name, field in data.items()
        }
    if isinstance(data, (list, tuple)):
        return [_mask(item, f"{pointer}/{at}", mask, pointers) for at, item in enumerate(data)]
    return data


# endregion
