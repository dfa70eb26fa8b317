"""What a person is told of a session that did not end well, before anything else."""

from __future__ import annotations

from curriculum.core.visible import quote
from curriculum.sessions.store import SessionStore


def recovery_lines(store: SessionStore) -> list[str]:
    """What opening the session had to do; no lines if it had nothing to do."""
    recovery, lines = store.recovery, []
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
