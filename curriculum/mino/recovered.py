"""What a person is told before anything else: of an open folder, of a session that did not end."""

from __future__ import annotations

import os
import stat

from curriculum.core.visible import quote
from curriculum.sessions.store import SessionStore


def recovery_lines(store: SessionStore) -> list[str]:
    """What opening the session had to do; no lines if it had nothing to do."""
    recovery, lines = store.recovery, open_lines(os.path.dirname(os.path.dirname(store.path)))
    if store.replay.notice:
        lines.append(store.replay.notice)
    elif recovery.turn_id:
        lines.append(
            "An interrupted turn was closed and the model is told of its calls. "
            f"Not started: {len(recovery.not_executed)}. "
            f"Started, with an unknown outcome: {len(recovery.unknown)}. None was retried."
        )
    if recovery.torn_bytes:
        lines.append(
            f"The last {recovery.torn_bytes} bytes of the session were not a whole record; they "
            f"are kept in {quote(recovery.torn_path)}."
        )
    return lines


def earlier_turns(store: SessionStore) -> str:
    """Behind the name of a resumed session: how many turns of it the model is told of."""
    turns = store.replay.turns
    return f"; resumed with {turns} earlier turn{'' if turns == 1 else 's'}"


def open_lines(home: str) -> list[str]:
    """A line if other users can get into mino's folder; it is for its owner to close it."""
    try:
        mode = stat.S_IMODE(os.stat(home).st_mode)
    except OSError:
        return []
    if not mode & 0o077:
        return []
    return [f"{quote(home)} is open to other users (mode {mode:o}); the sessions in it are not."]
