"""A session as Trace 0.1: what an observer would have seen, as far as the records tell.

Events that a record stands for are `recorded`. What no record holds but must have happened (a
request before its answer, the cause of a turn that did not complete, the stop) is `synthesized`.
A request lists all messages before it: which of them a resumed run left out is not on record. Trace
0.1 asks for that list (`roles[]` of the whole request), so an export grows with the square of the
turns: 1,000 turns of one call each are 0.9 MB of session and 15 MB of trace, 4,000 are 3.6 and 217.
A session whose last turn has ended gives a complete trace, any other an open one.
"""

from __future__ import annotations

import calendar

from curriculum.core.trace import MAX_INTEGER, UNCHECKED, Event
from curriculum.core.values import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from curriculum.core.trace import ActorKind
    from curriculum.sessions.record import StoredRecord

HARNESS = {"kind": "harness", "id": "agent"}
USER = {"kind": "user", "id": "user"}
TURN_BOUND = 8  # what the core's AgentConfig bounds a turn by, if the header names no other
# Why a turn ended is not on record, only that it did not complete.
CAUSES = {
    "failed": "the turn failed; the session does not say why",
    "cancelled": "the turn was cancelled",
    "interrupted": "the harness ended before the turn did; a restart closed it",
}


def export_trace(records: Iterable[StoredRecord], write: Callable[[str], object]) -> int:
    """Write the trace of a session line by line; returns how many events it has.

    Raises what reading the records raises, and the core's TraceError if the session has more
    messages than a request can list in one line.
    """
    exporter = Exporter(write)
    for record in records:
        exporter.take(record)
    exporter.finish()
    return exporter.count


class Exporter:
    """Turns records, in order, into events. It holds the roles so far and what is open."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self.count = 0
        self._write = write
        self._record: StoredRecord
        self._started_us = self._elapsed_us = self._requests = self._asked = 0
        self._last_id: str | None = None
        self._trace_id = ""
        self._model = {"kind": "model", "id": "model"}
        self._roles: list[str] = []
        self._calls: dict[str, tuple[str, str]] = {}  # call_id: tool, latest event
        self._closed = {"not_executed": 0, "unknown": 0}
        self._ending = ""
        self._steps: dict[str, Callable[[Mapping[str, object]], None]] = {
            "session": self._start,
            "user_input": self._input,
            "model_response": self._response,
            "tool_start": self._tool_start,
            "tool_result": self._tool_result,
            "turn_end": self._turn_end,
            "outcome_acknowledged": self._acknowledged,
        }

    def take(self, record: StoredRecord) -> None:
        """Write the events that the record stands for."""
        self._record = record
        now_us = _microseconds(record.timestamp)
        if not self.count:
            self._started_us = now_us
            self._trace_id = record.data["session_id"]
        # The wall clock may have been set back, or by centuries; the order of the records was not.
        self._elapsed_us = min(max(self._elapsed_us, now_us - self._started_us), MAX_INTEGER)
        self._steps[record.kind](record.data)

    def finish(self) -> None:
        """Write the stop, if the last turn has ended."""
        if self._ending:
            payload = {"reason": self._ending, "event_count": self.count + 1}
            self._emit("session.stop", HARNESS, payload, source="synthesized")

    def _emit(
        self,
        type: str,
        actor: Mapping[str, str],
        payload: Mapping[str, object],
        parent: str | None = None,
        source: str = "recorded",
    ) -> str:
        event_id = f"event-{self.count + 1}"
        event = Event(
            self._trace_id,
            event_id,
            self.count,
            parent or self._last_id,
            type,
            actor,
            self._record.timestamp,
            self._elapsed_us,
            {"source": source},
            UNCHECKED,
            payload,
        )
        self._write(event.to_line())
        self.count += 1
        self._last_id = event_id
        return event_id

    # region: turn
    def _start(self, data: Mapping[str, object]) -> None:
        about = data.get("about", {})
        assert hasattr(about, "get")
        name, _, version = str(about.get("harness") or "unknown").partition(" ")
        bound = about.get("max_turns")
        payload: dict[str, object] = {
            "session_id": data["session_id"],
            "harness": {"name": name, "version": version},
            "tools": [],
            "config": {"max_turns": bound if type(bound) is int and bound > 0 else TURN_BOUND},
        }
        if model := str(about.get("model") or ""):
            payload["model"] = model
            self._model = {"kind": "model", "id": model[:256]}
        self._emit("session.start", HARNESS, payload)

    def _input(self, data: Mapping[str, object]) -> None:
        self._ending, self._asked = "", 0
        self._roles.append("user")
        self._emit("user.message", USER, data)

    def _response(self, data: Mapping[str, object]) -> None:
        self._requests += 1
        self._asked += 1
        request_id = f"request-{self._requests}"
        request = {
            "request_id": request_id,
            "attempt": 1,
            "turn": self._asked,
            "roles": self._roles,
            "message_count": len(self._roles),
        }
        asked = self._emit("model.request", HARNESS, request, source="synthesized")
        self._roles.append("assistant")
        calls = data["tool_calls"]
        assert isinstance(calls, (list, tuple))
        response = {
            "request_id": request_id,
            "status": "completed",
            "content": data["content"],
            "tool_calls": calls,
            "chunks": {"count": 0, "complete": True},
            "stop": data.get("stop"),
        }
        answer = self._emit("model.response", self._model, response, asked)
        for call in calls:
            proposed = {"request_id": request_id, **call}
            event_id = self._emit("tool.call", self._model, proposed, answer)
            self._calls[call["call_id"]] = (call["name"], event_id)

    def _turn_end(self, data: Mapping[str, object]) -> None:
        self._ending = ending = str(data["status"])
        if self._record.recovered:
            payload = {"session_id": self._trace_id, "closed": self._closed}
            self._emit("session.recover", HARNESS, payload)
        self._closed = {"not_executed": 0, "unknown": 0}
        if ending != "completed":
            error = {"kind": ending, "message": CAUSES[ending], "retryable": False}
            self._emit("error", HARNESS, error, source="synthesized")

    # endregion

    # region: calls
    def _tool_start(self, data: Mapping[str, object]) -> None:
        call_id = str(data["call_id"])
        tool, cause = self._calls[call_id]
        self._calls[call_id] = (tool, self._emit("tool.start", HARNESS, data, cause))

    def _tool_result(self, data: Mapping[str, object]) -> None:
        tool, cause = self._calls.pop(str(data["call_id"]))
        status = str(data["status"])
        kind: ActorKind = "tool" if status in ("completed", "failed") else "harness"
        actor = {"kind": "tool", "id": tool[:256] or "unnamed"} if kind == "tool" else HARNESS
        if self._record.recovered:
            self._closed[status] += 1
        source = "synthesized" if status == "unknown" else "recorded"
        self._emit("tool.result", actor, data, cause, source)
        self._roles.append("tool")

    def _acknowledged(self, data: Mapping[str, object]) -> None:
        by = str(data["by"])
        self._emit("outcome.acknowledge", {"kind": by, "id": by}, data)

    # endregion


def _microseconds(timestamp: str) -> int:
    """Microseconds since the Unix epoch of a 27 character timestamp.

    A day that its month does not have is one of the next month.
    """
    year, month, day = timestamp[:4], timestamp[5:7], timestamp[8:10]
    hour, minute, second = timestamp[11:13], timestamp[14:16], timestamp[17:19]
    parts = (int(part) for part in (year, month, day, hour, minute, second))
    return calendar.timegm(tuple(parts)) * 1_000_000 + int(timestamp[20:26])
