"""Makes a trace of a session of another agent, as right as a trace of our own.

Requests, starts and the stop are not in such files; they are inferred from what is, and every
event says `imported`. A call without an outcome is `unknown`: nobody recorded whether it ran.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from curriculum.core.trace import MAX_INTEGER, Event, Ids, Recorder
from curriculum.trace.foreign import Answer, Call, Foreign, Outcome, Said, Trouble

MOST_CALL_ID = 256
_ID = re.compile(r"[^A-Za-z0-9._-]")

ActorKind = Literal["user", "model", "tool", "harness", "policy"]


class _Clock:
    """The time of the record that is being written; it never falls."""

    def __init__(self) -> None:
        self.now_us = 0

    def read(self) -> tuple[int, int]:
        return self.now_us, self.now_us

    def move(self, when_us: int) -> None:
        self.now_us = min(max(self.now_us, when_us), MAX_INTEGER)


class _Ids:
    """Counted ids; the trace and its session are named after the session of the file."""

    def __init__(self, session_id: str) -> None:
        self._ids = Ids()
        self._own = _ID.sub("-", session_id)[:64]

    def next(self, kind: str) -> str:
        if kind in ("trace", "session") and self._own:
            return self._own
        return self._ids.next(kind)


class _Writer:
    """Writes one session through a recorder."""

    def __init__(self, session: Foreign) -> None:
        self._session = session
        self._clock = _Clock()
        ids = _Ids(session.session_id)
        self._recorder = Recorder(self._clock, ids, "imported")  # type: ignore[arg-type]
        self._roles = ["system"] if session.has_system else []
        self._open: dict[str, tuple[Call, Event]] = {}
        self._used: set[str] = set()
        self._turn = 0
        self._waits = False

    def _emit(
        self,
        kind: str,
        actor: ActorKind,
        actor_id: str,
        payload: Mapping[str, object],
        parent: Event | None = None,
        provenance: str | None = None,
    ) -> Event:
        return self._recorder.emit(
            kind,
            actor_kind=actor,
            actor_id=actor_id[:256] or actor,
            payload=payload,
            parent=parent,
            provenance=provenance,
        )

    def _harness(self, kind: str, payload: dict[str, object], parent: Event | None = None) -> Event:
        return self._emit(kind, "harness", self._session.harness, payload, parent)

    def run(self) -> list[Event]:
        session = self._session
        answers = [step for step in session.steps if isinstance(step, Answer)]
        tools = dict.fromkeys(call.name for answer in answers for call in answer.calls)
        self._clock.move(next((step.when_us for step in session.steps if step.when_us), 0))
        start: dict[str, object] = {
            "session_id": self._recorder.ids.next("session"),
            "harness": {"name": session.harness, "version": session.version},
            "tools": list(tools),
            # The file does not say how many turns were allowed; there were at least these.
            "config": {"max_turns": max(1, len(answers)), "max_turns_known": False},
        }
        if session.model:
            start["model"] = session.model
        self._harness("session.start", start)
        for step in session.steps:
            if isinstance(step, Said):
                self._say(step)
            elif isinstance(step, Answer):
                self._answer(step)
            elif isinstance(step, Outcome):
                self._finish(step)
            else:
                self._fail(step)
        self._stop()
        return self._recorder.events

    def _say(self, step: Said) -> None:
        self._close_calls()
        self._clock.move(step.when_us)
        self._emit("user.message", "user", "user", {"content": step.text})
        self._roles.append("user")
        self._turn, self._waits = 0, True

    def _answer(self, step: Answer) -> None:
        self._close_calls()
        self._turn += 1
        request_id = self._recorder.ids.next("request")
        about: dict[str, object] = {"request_id": request_id, "attempt": 1, "turn": self._turn}
        roles = {"roles": list(self._roles), "message_count": len(self._roles)}
        request = self._harness("model.request", {**about, **roles})
        model = step.model or self._session.model or "model"
        calls = [self._unique(call) for call in step.calls]
        payload: dict[str, object] = {
            "request_id": request_id,
            "status": "completed",
            "content": step.text,
            "tool_calls": [vars(call) for call in calls],
            "chunks": {"count": 0, "complete": True},
            "stop": not calls,
        }
        if step.usage:
            payload["usage"] = {"input_tokens": step.usage[0], "output_tokens": step.usage[1]}
        # The file has no time of the request: it is asked when what came before was there.
        self._clock.move(step.when_us)
        response = self._emit("model.response", "model", model, payload, request)
        self._roles.append("assistant")
        for call in calls:
            proposal = {"request_id": request_id, **vars(call)}
            event = self._emit("tool.call", "model", model, proposal, response)
            self._open[call.call_id] = (call, event)
        self._waits = bool(calls)

    def _unique(self, call: Call) -> Call:
        """The call under an id that no other has; a trace refuses to use one twice."""
        call_id, count = call.call_id[:MOST_CALL_ID] or "call", 1
        while call_id in self._used:
            count += 1
            call_id = f"{call.call_id[:240]}#{count}"
        self._used.add(call_id)
        return Call(call_id, call.name, call.arguments)

    def _finish(self, step: Outcome) -> None:
        call_id = step.call_id[:MOST_CALL_ID]
        if call_id not in self._open:
            self._session.unknown["a result without its call"] += 1
            return
        call, cause = self._open.pop(call_id)
        payload: dict[str, object] = {
            "call_id": call_id,
            "status": step.status,
            "output": step.output,
        }
        if step.exit_code is not None and abs(step.exit_code) <= MAX_INTEGER:
            payload["exit_code"] = step.exit_code
        if step.status == "denied":
            self._clock.move(step.when_us)
            self._harness("tool.result", payload, cause)
        else:
            display = {"arguments": call.arguments}
            start = self._harness("tool.start", {"call_id": call_id, "display": display}, cause)
            self._clock.move(step.when_us)
            self._emit("tool.result", "tool", call.name, payload, start)
        self._roles.append("tool")

    def _close_calls(self) -> None:
        """Nothing is known of what came of these calls."""
        for call_id, (call, cause) in self._open.items():
            shown = {"call_id": call_id, "display": {"arguments": call.arguments}}
            harness = self._session.harness
            start = self._emit("tool.start", "harness", harness, shown, cause, "synthesized")
            output = "the file has no result of this call; it may have taken effect"
            lost = {"call_id": call_id, "status": "unknown", "output": output}
            self._emit("tool.result", "harness", harness, lost, start, "synthesized")
            self._roles.append("tool")
        self._open = {}

    def _fail(self, step: Trouble) -> None:
        self._clock.move(step.when_us)
        if step.kind == "cancelled":
            self._emit("cancel.request", "user", "user", {"by": "user"})
        self._close_calls()
        error = {"kind": step.kind, "message": step.message, "retryable": False}
        self._harness("error", error)
        self._waits = False

    def _stop(self) -> None:
        last = self._session.steps[-1] if self._session.steps else None
        reason = "completed"
        if isinstance(last, Trouble):
            reason = last.kind if last.kind in ("cancelled", "max-turns") else "failed"
        elif session_ended := self._session.reason:
            reason = session_ended
        elif self._waits or self._open:
            self._fail(Trouble("interrupted", "the file ends before the turn does", 0))
            reason = "interrupted"
        count = len(self._recorder.events) + 1
        self._harness("session.stop", {"reason": reason, "event_count": count})


def write_foreign(session: Foreign) -> list[Event]:
    """The trace of a session. What has no place in it is counted as unknown in the session."""
    return _Writer(session).run()
