"""The one place where state moves: journal first, then memory, then the event.

Each method is one step that has happened. If the journal cannot keep its record, memory stays as
it was and no event claims otherwise. The ledger decides nothing; the loop does.
"""

from __future__ import annotations

from curriculum.core.approval import ApprovalRequest
from curriculum.core.errors import (
    CancelledError,
    JournalError,
    ModelError,
    ProtocolError,
    RunError,
)
from curriculum.core.journal import Record
from curriculum.core.messages import Message, ToolCall
from curriculum.core.tools import ToolResult, copy_display
from curriculum.core.trace import Event, clean_text
from curriculum.core.values import TYPE_CHECKING, value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from curriculum.core.approval import Decision
    from curriculum.core.journal import Journal, RecordKind
    from curriculum.core.loop import AgentConfig
    from curriculum.core.messages import ModelTurn
    from curriculum.core.model import Retry
    from curriculum.core.tools import Prepared
    from curriculum.core.trace import Recorder


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
        self._recorder = recorder
        self._agent_id = config.agent_id
        self._model_id = config.model_id
        self._journal = journal
        self._journal_lost = False
        self._turn_id = ""
        self._roles = [message.role for message in self.messages]
        self._used_ids = {m.call_id for m in self.messages if m.call_id is not None}
        self._request: Event
        self._attempt = 0
        self._shown: list[str] = []
        self._open: dict[str, OpenCall] = {}
        self._cancellation: CancelledError | None = None

    def _harness(
        self, type: str, payload: Mapping[str, object], parent: Event | None = None
    ) -> Event:
        return self._recorder.emit(
            type, actor_kind="harness", actor_id=self._agent_id, payload=payload, parent=parent
        )

    def _model(self, type: str, payload: Mapping[str, object], parent: Event) -> Event:
        return self._recorder.emit(
            type, actor_kind="model", actor_id=self._model_id, payload=payload, parent=parent
        )

    def save(self, kind: RecordKind, data: Mapping[str, object], *messages: Message) -> None:
        """Make a record durable, then let memory follow. Raises JournalError if it was not kept."""
        try:
            position = self._journal.append(Record(kind, self._turn_id, data))
        except Exception as fault:
            self._journal_lost = True
            if isinstance(fault, JournalError):
                raise
            raise JournalError(f"the {kind} record could not be kept: {fault}") from fault
        self.messages += messages
        self._roles += [message.role for message in messages]
        if position is not None:
            self._harness("journal.append", {"record_kind": kind, "position": position})

    # region: turn
    def begin_turn(self, user_input: str) -> None:
        """The user has said something."""
        content = clean_text(user_input)
        self._turn_id = self._recorder.ids.next("turn")
        self.save("user_input", {"content": content}, Message("user", content))
        self._recorder.emit(
            "user.message", actor_kind="user", actor_id="user", payload={"content": content}
        )

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
            except JournalError as worse:
                stop = worse
        self._close_calls(stop.message)
        self._harness("error", stop.payload())
        return stop

    # endregion

    def explain(self, fault: BaseException, kind: type[RunError] = RunError) -> RunError:
        """`fault` as the RunError to record; the first word of a cancellation is an event."""
        if isinstance(fault, RunError):
            stop = fault
        elif isinstance(fault, KeyboardInterrupt):
            stop = CancelledError("interrupted from the keyboard")
        else:
            stop = kind(f"{type(fault).__name__}: {fault}")
        if isinstance(stop, CancelledError) and stop is not self._cancellation:
            self._cancellation = stop
            self._recorder.emit(
                "cancel.request", actor_kind=stop.by, actor_id=stop.by, payload={"by": stop.by}
            )
        return stop

    # region: request
    def requested(self, view: Sequence[Message], turn: int) -> None:
        """The model is asked for answer number `turn`; `view` is what it is shown."""
        roles = self._roles if view is self.messages else [message.role for message in view]
        self._shown = []
        self._attempt = 1
        self._request = self._harness(
            "model.request",
            {
                "request_id": self._recorder.ids.next("request"),
                "turn": turn,
                "attempt": 1,
                "roles": tuple(roles),
                "message_count": len(roles),
            },
        )

    def retried(self, retry: Retry) -> None:
        """The attempt failed before it showed anything, and another follows."""
        if self._shown:
            raise ProtocolError("a model that has shown text cannot start its answer again")
        self._respond("failed")
        failed = self._request.payload
        wait = {"request_id": failed["request_id"], "attempt": self._attempt, **retry.__dict__}
        self._harness("retry.wait", wait)
        self._attempt += 1
        again = {
            **failed,
            "request_id": self._recorder.ids.next("request"),
            "attempt": self._attempt,
            "retry_of": failed["request_id"],
        }
        self._request = self._harness("model.request", again)

    # region: delta
    def delta(self, text: str) -> None:
        """A piece of the answer arrived. It is shown; it is not state."""
        if not isinstance(text, str):
            raise ProtocolError(f"the model answered with {type(text).__name__}, not a ModelTurn")
        if not text:
            return
        payload = {
            "request_id": self._request.payload["request_id"],
            "index": len(self._shown),
            "text": clean_text(text),
        }
        self._shown.append(clean_text(text))
        self._model("model.delta", payload, self._request)

    # endregion

    def unanswered(self, fault: BaseException) -> BaseException:
        """The request came to nothing: no message, and the text so far is for observers only."""
        stop = self.explain(fault, ModelError)
        self._respond("cancelled" if stop.reason == "cancelled" else "failed")
        return stop if isinstance(fault, (Exception, KeyboardInterrupt)) else fault

    def answered(self, turn: ModelTurn) -> None:
        """The model has answered: one assistant message, and its calls are open."""
        self._check_answer(turn)
        content = clean_text(turn.resolved_content)
        record: dict[str, object] = {"content": content, "tool_calls": plain_calls(turn)}
        if turn.opaque is not None:
            record["opaque"] = turn.opaque
        message = Message("assistant", content, turn.tool_calls, opaque=turn.opaque)
        self.save("model_response", record, message)
        response = self._respond("completed", turn)
        for call in turn.tool_calls:
            self._used_ids.add(call.call_id)
            proposal = {"request_id": self._request.payload["request_id"], **call.__dict__}
            self._open[call.call_id] = OpenCall(call, self._model("tool.call", proposal, response))

    def _respond(self, status: str, turn: ModelTurn | None = None) -> Event:
        payload: dict[str, object] = {
            "request_id": self._request.payload["request_id"],
            "status": status,
            "content": clean_text(turn.resolved_content) if turn else "".join(self._shown),
            "tool_calls": plain_calls(turn) if turn else [],
            "chunks": {"count": len(self._shown), "complete": turn is not None},
            "stop": bool(turn and turn.stop),
        }
        if turn and turn.usage:
            payload["usage"] = dict(turn.usage.__dict__)
        return self._model("model.response", payload, self._request)

    # region: check
    def _check_answer(self, turn: ModelTurn) -> None:
        """Refuse an answer that cannot be trusted before anything of it is kept or run."""
        if self._shown and "".join(self._shown) != clean_text(turn.resolved_content):
            raise ProtocolError("the streamed text is not the text of the answer")
        fresh: set[str] = set()
        for call in turn.tool_calls:
            if not isinstance(call.call_id, str) or not call.call_id:
                raise ProtocolError(f"a call of {call.name!r} has no call_id")
            if call.call_id in fresh:
                raise ProtocolError(f"two calls share the call_id {call.call_id!r}")
            if call.call_id in self._used_ids:
                raise ProtocolError(f"the call_id {call.call_id!r} was used before")
            fresh.add(call.call_id)

    # endregion

    # endregion

    # region: calls
    def question(self, call: ToolCall, prepared: Prepared) -> tuple[ApprovalRequest, Event]:
        """The approver is about to be asked: the question, and its event."""
        request = ApprovalRequest(
            self._recorder.ids.next("approval"),
            call.call_id,
            call.name,
            copy_display(prepared.display),
        )
        payload = {
            "approval_id": request.approval_id,
            "call_id": call.call_id,
            "display": copy_display(prepared.display),
        }
        return request, self._harness("approval.request", payload, self._open[call.call_id].cause)

    def decided(self, question: Event, decision: Decision) -> Event:
        """The approver has answered, or will not."""
        payload = {
            "approval_id": question.payload["approval_id"],
            "call_id": question.payload["call_id"],
            "decision": decision.decision,
        }
        if decision.rationale:
            payload["rationale"] = clean_text(decision.rationale)
        return self._recorder.emit(
            "approval.decision",
            actor_kind=decision.actor_kind,
            actor_id=decision.actor_id,
            payload=payload,
            parent=question,
        )

    def started(self, call: ToolCall, prepared: Prepared, cause: Event | None) -> None:
        """The call is about to act."""
        data = {"call_id": call.call_id, "display": copy_display(prepared.display)}
        self.save("tool_start", data)
        start = self._harness("tool.start", data, cause or self._open[call.call_id].cause)
        self._open[call.call_id] = OpenCall(call, start, has_started=True)

    def output(self, call: ToolCall, index: int, stream: str, text: str) -> None:
        """A running tool shows some of its output."""
        self._recorder.emit(
            "tool.output",
            actor_kind="tool",
            actor_id=call.name,
            payload={"call_id": call.call_id, "index": index, "stream": stream, "text": text},
            parent=self._open[call.call_id].cause,
        )

    def finished(self, call: ToolCall, result: ToolResult) -> None:
        """The call has come to its one result, which the model will see."""
        data = {"call_id": call.call_id, **result.payload()}
        self.save("tool_result", data, Message("tool", result.content(), call_id=call.call_id))
        self._show_result(call, result)

    def _show_result(self, call: ToolCall, result: ToolResult) -> None:
        cause = self._open.pop(call.call_id).cause
        by_tool = result.status in ("completed", "failed")
        self._recorder.emit(
            "tool.result",
            actor_kind="tool" if by_tool else "harness",
            actor_id=call.name if by_tool else self._agent_id,
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

    def compacted(self, report: Mapping[str, object] | None) -> None:
        """The next request leaves something out."""
        if report is not None:
            self._harness("context.compact", report)

    def spent(self, report: Mapping[str, object] | None) -> None:
        """The budget has set something aside, or settled it."""
        if report is not None:
            self._harness("budget.spend", report)


def plain_calls(turn: ModelTurn) -> list[dict[str, object]]:
    """The calls of a turn as plain data: call_id, name, arguments (raw text)."""
    return [dict(call.__dict__) for call in turn.tool_calls]
