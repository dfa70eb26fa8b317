"""What observers of the new run are told about the old one: two events of Trace 0.1."""

from __future__ import annotations

from curriculum.core.values import TYPE_CHECKING

if TYPE_CHECKING:
    from curriculum.core.errors import CancelledBy
    from curriculum.core.trace import Event, Recorder
    from curriculum.sessions.state import UnknownOutcome
    from curriculum.sessions.store import SessionStore


def show_recovery(recorder: Recorder, store: SessionStore, agent_id: str = "agent") -> Event | None:
    """Emit `session.recover` if opening had to close or set aside anything, or has a notice.

    Call it after `runner.start`: no event may stand before `session.start`.
    """
    recovery, notice = store.recovery, store.replay.notice
    if not (recovery.turn_id or recovery.torn_bytes or notice):
        return None
    closed = {"not_executed": len(recovery.not_executed), "unknown": len(recovery.unknown)}
    payload: dict[str, object] = {"session_id": store.session_id, "closed": closed}
    if notice:
        payload["notice"] = notice
    if recovery.torn_bytes:
        payload["torn_bytes"] = recovery.torn_bytes
    return recorder.emit(
        "session.recover", actor_kind="harness", actor_id=agent_id, payload=payload
    )


def show_acknowledgement(
    recorder: Recorder, outcome: UnknownOutcome, by: CancelledBy = "user"
) -> Event:
    """Emit `outcome.acknowledge`; `by` is an actor kind: user, harness or policy."""
    payload = {"call_id": outcome.call.call_id, "by": by}
    return recorder.emit("outcome.acknowledge", actor_kind=by, actor_id=by, payload=payload)
