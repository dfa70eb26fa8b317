"""The one place where state moves: journal first, then memory, then the event.

Each method is one step that has happened. If the journal cannot keep its record, memory stays as
it was and no event claims otherwise. The ledger decides nothing; the loop does.
"""

from __future__ import annotations

from _thread import RLock

from curriculum.core.errors import (
    CancelledError,
    JournalError,
    ModelError,
    ProtocolError,
    RunError,
    describe,
)
from curriculum.core.journal import Record
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import check_answer
from curriculum.core.tools import ToolResult, copy_display
from curriculum.core.trace import clean_text
from curriculum.core.values import TYPE_CHECKING, Prefix, as_data, value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from curriculum.core.journal import Journal, RecordKind
    from curriculum.core.loop import AgentConfig
    from curriculum.core.model import Retry
    from curriculum.core.tools import Prepared
    from curriculum.core.trace import Event, Recorder


@value
class OpenCall:
    """A proposed call without a result yet; `cause` is its latest event."""

    call: ToolCall
    cause: Event
    has_started: bool = False


class Ledger:
    """Messages, open calls and events of one session.

    `messages` is what the model may see; the recorder holds what observers saw.
    """

    def __init__(
        self,
        recorder: Recorder,
        config: AgentConfig,
        journal: Journal,
        messages: Iterable[Message],
    ) -> None:
        self.messages = list(messages)
        self.recorder = recorder
        self._config = config
        self._journal = journal
        self._journal_lost = False
        self._turn_id = ""
        self._roles: list[str] = [message.role for message in self.messages]
        self._used_ids = {m.call_id for m in self.messages if m.call_id is not None}
        self._request: Event
        self._shown: list[str] = []
        self._open: dict[str, OpenCall] = {}
        self.outputs = RLock()  # held while live output is recorded, or a call ceases to be open
        self._cancellation: CancelledError | None = None

    def note(self, type: str, payload: Mapping[str, object], parent: Event | None = None) -> Event:
        """An event of the harness itself."""
        agent = self._config.agent_id
        return self.recorder.emit(
            type, actor_kind="harness", actor_id=agent, payload=payload, parent=parent
        )

    def report(self, type: str, payload: Mapping[str, object] | None) -> None:
        """What a seam has to tell observers; nothing if there is no payload."""
        if payload is not None:
            self.note(type, payload)

    def _model(self, type: str, payload: Mapping[str, object], parent: Event) -> Event:
        model = self._config.model_id
        return self.recorder.emit(
            type, actor_kind="model", actor_id=model, payload=payload, parent=parent
        )

    # region: save
    def save(self, kind: RecordKind, data: Mapping[str, object], *messages: Message) -> None:
        """Make a record durable, then let memory follow. Raises JournalError if it was not kept.

        A journal that has failed once is not asked again: what it holds is no longer all there is.
        """
        if self._journal_lost:
            raise JournalError("the journal was lost earlier in this session; start a new one")
        try:
            position = self._journal.append(Record(kind, self._turn_id, data))
            if position is not None and (type(position) is not int or position < 0):
                raise TypeError(f"the journal returned {position!r}, which is no position")
        except BaseException as fault:
            self._journal_lost = True  # also when interrupted: who knows what it holds now
            if isinstance(fault, JournalError) or not isinstance(fault, Exception):
                raise
            told = f"the {kind} record could not be kept: {describe(fault)}"
            raise JournalError(told) from fault
        self.messages += messages
        self._roles += [message.role for message in messages]
        if position is not None:
            self.note("journal.append", {"record_kind": kind, "position": position})

    # endregion

    # region: begin_turn
    def begin_turn(self, user_input: str) -> None:
        """The user has said something."""
        content = clean_text(user_input)
        self._turn_id = self.recorder.ids.next("turn")
        self.save("user_input", {"content": content}, Message("user", content))
        self.recorder.emit(
            "user.message", actor_kind="user", actor_id="user", payload={"content": content}
        )

    # endregion

    # region: fail_turn
    def end_turn(self, status: str) -> None:
        """The turn is over."""
        self.save("turn_end", {"status": status})

    def fail_turn(self, fault: BaseException) -> RunError:
        """Close what is open and record why the turn ended; returns the fault as recorded."""
        stop = self.explain(fault)
        if not self._journal_lost:
            try:
                self._close_calls(stop.message)
                self.end_turn("cancelled" if stop.reason == "cancelled" else "failed")
            except BaseException as worse:
                stop = self.explain(worse, JournalError)
        self._close_calls(stop.message)
        self.note("error", stop.payload())
        return stop

    # endregion

    def explain(self, fault: BaseException, kind: type[RunError] = RunError) -> RunError:
        """`fault` as the RunError to record; the first word of a cancellation is an event."""
        if isinstance(fault, RunError) and fault.is_whole:
            stop = fault
        elif isinstance(fault, KeyboardInterrupt):
            stop = CancelledError("interrupted from the keyboard")
        else:
            stop = kind(describe(fault))
            stop.__cause__ = fault  # whoever debugs finds the traceback there
        if isinstance(stop, CancelledError) and stop is not self._cancellation:
            self._cancellation = stop
            self.recorder.emit(
                "cancel.request", actor_kind=stop.by, actor_id=stop.by, payload={"by": stop.by}
            )
        return stop

    def requested(self, view: Sequence[Message], turn: int) -> None:
        """The model is asked for answer number `turn`; `view` is what it is shown."""
        whole = isinstance(view, Prefix) and len(view) == len(self._roles)
        roles = Prefix(self._roles) if whole else [message.role for message in view]
        request = {"turn": turn, "attempt": 1, "roles": roles, "message_count": len(roles)}
        self._send(request)

    def retried(self, retry: Retry) -> None:
        """The attempt failed before it showed anything, and another follows."""
        if not isinstance(retry.cause, str) or type(retry.wait_us) is not int or retry.wait_us < 0:
            raise ProtocolError(f"a retry has a cause and a wait in µs: {retry!r}")
        if self._shown:
            raise ProtocolError("a model that has shown text cannot start its answer again")
        self._respond("failed")
        failed = self._request.payload
        about = {"request_id": failed["request_id"], "attempt": failed["attempt"]}
        self.note("retry.wait", {**about, **as_data(retry)})
        attempt = int(str(failed["attempt"])) + 1
        self._send({**failed, "attempt": attempt, "retry_of": failed["request_id"]})

    def _send(self, request: Mapping[str, object]) -> None:
        self._shown = []
        request_id = self.recorder.ids.next("request")
        self._request = self.note("model.request", {**request, "request_id": request_id})

    # region: delta
    def delta(self, text: object) -> None:
        """A piece of the answer arrived. It is shown; it is not state."""
        if not isinstance(text, str):
            raise ProtocolError(f"the model answered with {type(text).__name__}, not a ModelTurn")
        if not text:
            return
        piece = clean_text(text)
        about = {"request_id": self._request.payload["request_id"], "index": len(self._shown)}
        self._shown.append(piece)
        self._model("model.delta", {**about, "text": piece}, self._request)

    # endregion

    def unanswered(self, fault: BaseException) -> BaseException:
        """The request came to nothing: no message, and the text so far is for observers only."""
        stop = self.explain(fault, ModelError)
        self._respond("cancelled" if stop.reason == "cancelled" else "failed")
        return stop if isinstance(fault, (Exception, KeyboardInterrupt)) else fault

    def answered(self, answer: ModelTurn) -> ModelTurn:
        """The model has answered: one assistant message, and its calls are open.

        Returns the answer as it is kept: whole, its text clean. Raises ProtocolError, with
        nothing kept, if it cannot be trusted.
        """
        calls = check_answer(answer, "".join(self._shown), self._used_ids)
        content = clean_text(answer.resolved_content)
        turn = ModelTurn(content, calls, (), answer.stop, answer.usage, answer.opaque)
        record: dict[str, object] = {"content": content, "tool_calls": plain_calls(calls)}
        if turn.opaque is not None:
            record["opaque"] = turn.opaque
        message = Message("assistant", content, calls, opaque=turn.opaque)
        self.save("model_response", record, message)
        response = self._respond("completed", turn)
        for call in calls:
            self._used_ids.add(call.call_id)
            proposal = {"request_id": self._request.payload["request_id"], **as_data(call)}
            self._open[call.call_id] = OpenCall(call, self._model("tool.call", proposal, response))
        return turn

    def _respond(self, status: str, turn: ModelTurn | None = None) -> Event:
        payload: dict[str, object] = {
            "request_id": self._request.payload["request_id"],
            "status": status,
            "content": turn.content if turn else "".join(self._shown),
            "tool_calls": plain_calls(turn.tool_calls) if turn else [],
            "chunks": {"count": len(self._shown), "complete": turn is not None},
            "stop": bool(turn and turn.stop),
        }
        if turn and turn.usage:
            payload["usage"] = as_data(turn.usage)
        return self._model("model.response", payload, self._request)

    # region: calls
    def cause_of(self, call: ToolCall) -> Event:
        """The latest event of an open call. Raises KeyError if it has its result."""
        return self._open[call.call_id].cause

    def decided(self, call: ToolCall, decision: Event) -> None:
        """Whatever becomes of the call now follows from the decision."""
        self._open[call.call_id] = OpenCall(call, decision)

    def started(self, call: ToolCall, prepared: Prepared) -> None:
        """The call is about to act."""
        data = {"call_id": call.call_id, "display": copy_display(prepared.display)}
        self.save("tool_start", data)
        start = self.note("tool.start", data, self.cause_of(call))
        self._open[call.call_id] = OpenCall(call, start, has_started=True)

    def finished(self, call: ToolCall, result: ToolResult) -> None:
        """The call has come to its one result, which the model will see."""
        data = {"call_id": call.call_id, **result.payload()}
        self.save("tool_result", data, Message("tool", result.content(), call_id=call.call_id))
        self._show_result(call, result)

    def _show_result(self, call: ToolCall, result: ToolResult) -> None:
        by_tool = result.status in ("completed", "failed")
        with self.outputs:
            cause = self._open.pop(call.call_id).cause
        self.recorder.emit(
            "tool.result",
            actor_kind="tool" if by_tool else "harness",
            actor_id=call.name if by_tool else self._config.agent_id,
            payload={"call_id": call.call_id, **result.payload()},
            parent=cause,
            provenance="synthesized" if result.status == "unknown" else None,
        )

    def _close_calls(self, why: str) -> None:
        """Give each open call its result: `unknown` if it had started, else `not_executed`.

        With the journal lost only observers are told; recovery closes the calls the same way.
        """
        for open_call in list(self._open.values()):
            if open_call.has_started:
                result = ToolResult("unknown", f"{why}; the call may have taken effect")
            else:
                result = ToolResult("not_executed", f"{why}; nothing ran")
            if self._journal_lost:
                self._show_result(open_call.call, result)
            else:
                self.finished(open_call.call, result)

    # endregion


def plain_calls(calls: Iterable[ToolCall]) -> list[dict[str, object]]:
    """Calls as plain data: call_id, name, arguments (raw text)."""
    return [as_data(call) for call in calls]
