"""What may come next in a session, and what is still open in it.

The same small machine judges records that are read and records about to be written: a header,
then turns, one after the other; in a turn an input, then answers, each call of which gets at most
one start and exactly one result before the next answer or the end. It holds what is open, never
the history.
"""

from __future__ import annotations

from curriculum.core.messages import ToolCall
from curriculum.core.tools import RAN
from curriculum.core.values import TYPE_CHECKING, value
from curriculum.sessions.errors import RecordError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curriculum.sessions.record import StoredRecord


@value
class OpenCall:
    """A call without its result. `display` is what its start showed; None if it never started."""

    call: ToolCall
    display: Mapping[str, object] | None = None

    @property
    def has_started(self) -> bool:
        """Whether a start is on record: then it may have taken effect."""
        return self.display is not None


@value
class UnknownOutcome:
    """A call that started and whose outcome nobody knows. `display` is what was allowed to run."""

    turn_id: str
    call: ToolCall
    display: Mapping[str, object]


class SessionState:
    """Where a session stands after the records so far."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.count = 0
        self.turn_id = ""  # of the turn that is open; "" between turns
        self.open_calls: dict[str, OpenCall] = {}
        self.unknown: dict[tuple[str, str], UnknownOutcome] = {}
        self._used_ids: set[str] = set()
        self._is_closing = False  # a restart closes the turn: nobody else writes in it any more

    # region: check
    def check(self, record: StoredRecord) -> None:
        """Raise RecordError if the record cannot come next. Nothing is changed."""
        if record.sequence != self.count:
            raise RecordError(f"sequence is {record.sequence}, expected {self.count}")
        kind, data = record.kind, record.data
        if (kind == "session") != (self.count == 0):
            raise RecordError("a header stands on the first line, and only there")
        if kind == "session":
            if data["session_id"] != self.session_id:
                raise RecordError("the header names another session than the file")
        elif kind == "user_input":
            if self.turn_id:
                raise RecordError(f"the turn {self.turn_id!r} has not ended")
        elif kind == "outcome_acknowledged":
            if (record.turn_id, data["call_id"]) not in self.unknown:
                raise RecordError(f"the call {data['call_id']!r} has no unknown outcome")
        elif record.turn_id != self.turn_id or not self.turn_id:
            raise RecordError(f"the turn {record.turn_id!r} is not open")
        else:
            if self._is_closing and not record.recovered:
                raise RecordError(f"a restart was closing the turn {record.turn_id!r}")
            self._check_in_turn(kind, data)

    def _check_in_turn(self, kind: str, data: Mapping[str, object]) -> None:
        if kind in ("model_response", "turn_end"):
            if self.open_calls:
                raise RecordError(f"the call {next(iter(self.open_calls))!r} has no result yet")
            if kind == "model_response":
                self._check_calls(data)
            return
        call_id = str(data["call_id"])
        if call_id not in self.open_calls:
            raise RecordError(f"no call {call_id!r} is open")
        has_started = self.open_calls[call_id].has_started
        if kind == "tool_start":
            if has_started:
                raise RecordError(f"the call {call_id!r} has started already")
        elif has_started != (data["status"] in RAN):
            state = "has started" if has_started else "has not started"
            raise RecordError(f"the call {call_id!r} {state}, its result is {data['status']}")

    def _check_calls(self, data: Mapping[str, object]) -> None:
        fresh: set[str] = set()
        calls = data["tool_calls"]
        assert isinstance(calls, (list, tuple))
        for call_id in [call["call_id"] for call in calls]:
            if call_id in self._used_ids or call_id in fresh:
                raise RecordError(f"the call_id {call_id!r} was used before in this turn")
            fresh.add(call_id)

    # endregion

    # region: advance
    def advance(self, record: StoredRecord) -> None:
        """The record is in the file; it has been checked."""
        kind, data = record.kind, record.data
        self._is_closing = record.recovered and kind == "tool_result"
        if kind == "user_input":
            self.turn_id = record.turn_id
            self._used_ids = set()
        elif kind == "model_response":
            self.open_calls = {call.call_id: OpenCall(call) for call in calls_of(data)}
            self._used_ids.update(self.open_calls)
        elif kind == "tool_start":
            call = self.open_calls[data["call_id"]].call
            self.open_calls[data["call_id"]] = OpenCall(call, data["display"])
        elif kind == "tool_result":
            closed = self.open_calls.pop(data["call_id"])
            if data["status"] == "unknown":
                key = (record.turn_id, data["call_id"])
                self.unknown[key] = UnknownOutcome(key[0], closed.call, closed.display or {})
        elif kind == "turn_end":
            self.turn_id = ""
        elif kind == "outcome_acknowledged":
            del self.unknown[record.turn_id, data["call_id"]]
        self.count += 1  # last: whoever is interrupted on the way there knows less than the file

    # endregion


def calls_of(data: Mapping[str, object]) -> tuple[ToolCall, ...]:
    """The calls that a model_response record proposes."""
    calls = data["tool_calls"]
    assert isinstance(calls, (list, tuple))
    return tuple(ToolCall(call["call_id"], call["name"], call["arguments"]) for call in calls)
