"""The agent loop: request, response, effect, result, next request, until a stop that is recorded.

The model proposes; the harness owns state, effects and the end. This file is written once: each
later lesson plugs one thing into one of the seams that AgentRunner takes. Three things always
hold: every request can be explained from the messages before it, every answer is appended exactly
once, and every run ends in one `session.stop`.
"""

from __future__ import annotations

from curriculum.core.errors import (
    CallLimitError,
    ContextOverflowError,
    ProtocolError,
    TurnLimitError,
)
from curriculum.core.interrupts import Interrupts
from curriculum.core.journal import MemoryJournal
from curriculum.core.ledger import Ledger
from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import Retry, stream_turn
from curriculum.core.seams import CancelToken, InOrder, KeepEverything, NoBudget
from curriculum.core.tools import ToolBox
from curriculum.core.trace import Recorder
from curriculum.core.values import TYPE_CHECKING, Prefix, value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from curriculum.core.approval import Approver
    from curriculum.core.errors import RunError
    from curriculum.core.journal import Journal
    from curriculum.core.messages import ToolCall
    from curriculum.core.model import Model, StreamingModel
    from curriculum.core.seams import Budget, ContextPolicy, Scheduler
    from curriculum.core.trace import ActorKind, Event


END = object()  # of a stream


# region: config
@value
class AgentConfig:
    """The bounds of one turn: at most `max_turns` model requests and `max_tool_calls` calls."""

    max_turns: int = 8
    max_tool_calls: int = 16
    agent_id: str = "agent"
    model_id: str = "model"
    harness: str = "curriculum 0.1"


# endregion


# region: result
@value
class RunResult:
    """What a run came to: the reason of its stop, both records of it, and the fault if any."""

    stop_reason: str
    messages: tuple[Message, ...]
    events: tuple[Event, ...]
    final_text: str = ""
    error: RunError | None = None


# endregion


class AgentRunner:
    """Runs one agent. `run` is a session of one turn; a conversation is turns, then `stop`."""

    def __init__(
        self,
        model: Model | StreamingModel,
        tools: ToolBox | None = None,
        config: AgentConfig | None = None,
        *,
        system_prompt: str = "",
        history: Iterable[Message] = (),
        approver: Approver | None = None,
        journal: Journal | None = None,
        cancel: CancelToken | None = None,
        context: ContextPolicy | None = None,
        scheduler: Scheduler | None = None,
        budget: Budget | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self.model = model
        self.tools = tools or ToolBox()
        self.config = config or AgentConfig()
        if not (isinstance(self.tools, ToolBox) and isinstance(self.config, AgentConfig)):
            raise TypeError("AgentRunner takes a model, a ToolBox, an AgentConfig, in this order")
        if self.config.max_turns < 1 or self.config.max_tool_calls < 0:
            raise ValueError("max_turns must be at least 1, max_tool_calls at least 0")
        if not (self.config.agent_id and self.config.model_id and self.config.harness):
            raise ValueError("agent_id, model_id and harness must not be empty")
        self.cancel = cancel or CancelToken()
        self.recorder = recorder or Recorder()
        self._interrupts = Interrupts(self.cancel)
        self._context = context or KeepEverything()
        self._budget = budget or NoBudget()
        self._history = tuple(history)
        self._stopped = False
        prompt = [Message("system", system_prompt)] if system_prompt else []
        self._ledger = Ledger(
            self.recorder, self.config, journal or MemoryJournal(), [*prompt, *self._history]
        )
        self._approver = approver
        self._scheduler = scheduler or InOrder()

    # region: run
    def run(self, user_input: str) -> RunResult:
        """Run a session of one turn."""
        with self._interrupts:
            return self.stop(self.turn(user_input))

    def turn(self, user_input: str) -> RunResult:
        """Answer one input. Whatever happens on the way, the caller gets the facts.

        Raises, with nothing recorded: RuntimeError after the session has stopped, TypeError if the
        input is no text.
        """
        self._check_open()
        if not isinstance(user_input, str):
            raise TypeError(f"the input is {type(user_input).__name__}, not text")
        text, stop = "", None
        with self._interrupts:
            try:
                if not self.recorder.events:
                    self.start()
                self._ledger.begin_turn(user_input)
                text = self._answer()
                self._ledger.end_turn("completed")
            except BaseException as fault:
                self._interrupts.close()
                stop = self._ledger.fail_turn(fault)
                if not isinstance(fault, (Exception, KeyboardInterrupt)):
                    self.stop(self._result(stop, text))  # SystemExit goes on, but not unrecorded
                    raise
        return self._result(stop, text)

    def _answer(self) -> str:
        """Ask, act, ask again: until the model asks for nothing more, or a bound is reached."""
        most, room = self.config.max_turns, self.config.max_tool_calls
        for number in range(1, most + 1):
            turn = self._ask(number)
            if not turn.tool_calls:
                return turn.content
            if number == most:
                raise TurnLimitError(f"no model request is left of {most}", max_turns=most)
            room -= len(turn.tool_calls)
            if room < 0:
                limit = self.config.max_tool_calls
                raise CallLimitError(f"more than {limit} tool calls", max_tool_calls=limit)
            self._act(turn.tool_calls)
        raise AssertionError("the last round has returned or raised")

    def _act(self, calls: Sequence[ToolCall]) -> None:
        """Give each call its one result."""
        from curriculum.core.calls import CallRunner  # a run that never acts does not load it

        runner = CallRunner(
            self._ledger,
            self.tools,
            self._approver,
            self._scheduler,
            self._budget,
            self._interrupts,
        )
        runner.run(calls, self.cancel)

    # endregion

    # region: ask
    def _ask(self, number: int) -> ModelTurn:
        """One answer of the model. A request that turns out too long is made shorter, once."""
        self.cancel.check()
        self.recorder.check()
        try:
            return self._request(number, None)
        except ContextOverflowError as overflow:
            return self._request(number, overflow)

    def _request(self, number: int, overflow: ContextOverflowError | None) -> ModelTurn:
        """Send one request and keep its answer. Nothing of an incomplete answer is kept."""
        ledger, budget = self._ledger, self._budget
        fit = self._context.fit
        view, compaction = self._interrupts.call(fit, Prefix(ledger.messages), overflow)
        ledger.report("context.compact", compaction)
        ledger.report("budget.spend", budget.reserve("request", view))
        ledger.requested(view, number)
        try:
            turn = ledger.answered(self._receive(view))
        except BaseException as fault:
            stop = ledger.unanswered(fault)
            raise stop from stop.__cause__
        ledger.report("budget.spend", budget.settle("request", turn.usage))
        return turn

    def _receive(self, view: Sequence[Message]) -> ModelTurn:
        """Show each piece of the answer as it comes; only the complete one counts."""
        stream = stream_turn(self.model, view, self.tools.descriptors())
        while (item := self._interrupts.call(next, stream, END)) is not END:
            self.cancel.check()
            if isinstance(item, ModelTurn):
                return item
            if isinstance(item, Retry):
                self._ledger.retried(item)
            else:
                self._ledger.delta(item)
        raise ProtocolError("the stream ended without a complete answer")

    # endregion

    # region: session
    def start(self, session_id: str = "", resumed_from: str = "") -> None:
        """Record the start of the session; `turn` does it when nobody has."""
        config = self.config
        name, _, version = config.harness.partition(" ")
        payload: dict[str, object] = {
            "session_id": session_id or self.recorder.ids.next("session"),
            "harness": {"name": name, "version": version},
            "model": config.model_id,
            "tools": self.tools.names(),
            "config": {"max_turns": config.max_turns, "max_tool_calls": config.max_tool_calls},
        }
        if self._history:
            roles = [message.role for message in self._history]
            origin = resumed_from or payload["session_id"]
            payload["resumed_from"] = {"session_id": origin, "roles": roles}
        self._emit("session.start", actor_kind="harness", actor_id=config.agent_id, payload=payload)

    def stop(self, result: RunResult) -> RunResult:
        """Record the end of the session, for the reason of its last turn."""
        self._check_open()
        self._stopped = True
        count = self.recorder.count + 1  # this event is one of them
        self._emit(
            "session.stop",
            actor_kind="harness",
            actor_id=self.config.agent_id,
            payload={"reason": result.stop_reason, "event_count": count},
        )
        return self._result(result.error or self.recorder.failure, result.final_text)

    # endregion

    def _check_open(self) -> None:
        if self._stopped:
            raise RuntimeError("this session has stopped; make a new AgentRunner")

    def _result(self, error: RunError | None, text: str) -> RunResult:
        reason = error.reason if error else "completed"
        messages, events = tuple(self._ledger.messages), tuple(self.recorder.events)
        return RunResult(reason, messages, events, text, error)

    def _emit(
        self, type: str, *, actor_kind: ActorKind, actor_id: str, payload: Mapping[str, object]
    ) -> Event:
        return self.recorder.emit(type, actor_kind=actor_kind, actor_id=actor_id, payload=payload)
