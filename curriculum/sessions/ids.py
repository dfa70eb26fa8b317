"""Session ids: what one may look like, and which one a prefix means.

An id becomes a file name, so it is checked before any file is touched. Ids of Trace 0.1 are the
same, except that here none begins with a dot or a dash: no hidden file, no look of an option.
"""

from __future__ import annotations

import os

from curriculum.core.values import TYPE_CHECKING
from curriculum.sessions.errors import (
    SessionError,
    SessionIdError,
    SessionNotFoundError,
    describe_fault,
)
from curriculum.sessions.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 64
SUFFIX = ".jsonl"
_ALLOWED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_KIND = "session-"  # what the recorder's ids begin with; a prefix may leave it away
_MOST_NAMED = 5


def check_session_id(session_id: str) -> str:
    """The id, if it is one: 1 to 64 of `A-Za-z0-9._-`, not beginning with `.` or `-`.

    Raises SessionIdError.
    """
    if not is_session_id(session_id):
        name = shown(str(session_id))
        name = name if len(name) <= LONGEST else f"{name[:LONGEST]}…"
        raise SessionIdError(
            f"'{name}' is no session id: use 1 to {LONGEST} letters, digits, '.', '_' or '-', "
            "not beginning with '.' or '-'"
        )
    return session_id


def is_session_id(session_id: object) -> bool:
    """Whether it can be the id of a session."""
    return (
        isinstance(session_id, str)
        and 0 < len(session_id) <= LONGEST
        and session_id[0] not in ".-"
        and _ALLOWED.issuperset(session_id)
    )


def known_ids(home: str) -> list[str]:
    """The ids of all sessions under `home`, sorted. None if there is no such folder.

    Raises SessionError if the folder cannot be read.
    """
    folder = os.path.join(home, "sessions")
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    except OSError as fault:
        raise SessionError(describe_fault(folder, fault)) from None
    ids = (name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))
    return sorted(filter(is_session_id, ids))


def resolve_prefix(prefix: str, ids: Iterable[str], listing: str = "list") -> str:
    """The one id that `prefix` means, with or without its leading `session-`.

    A whole id means itself; `listing` is the command that shows all. Raises SessionIdError for what
    begins no id, SessionNotFoundError if none or several begin so.
    """
    check_session_id(prefix)
    known = list(ids)
    if prefix in known:
        return prefix
    found = [name for name in known if name.startswith((prefix, _KIND + prefix))]
    if len(found) == 1:
        return found[0]
    if not found:
        raise SessionNotFoundError(f"no session begins with '{prefix}'; `{listing}` shows them all")
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    named = ", ".join(found[:_MOST_NAMED])
    raise SessionNotFoundError(
        f"'{prefix}' begins {len(found)} sessions: {named}{more}; give more characters"
    )
