"""One conversation, put together: model, tools, approver, session file, instructions, observers.

Each part is plugged into the seam that its lesson made; the loop is the one of s01. A conversation
is one runner for all its turns, so the session and the trace have one writer each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from curriculum import __version__
from curriculum.core.approval import Approver
from curriculum.core.errors import ModelError, TurnLimitError
from curriculum.core.loop import AgentConfig, AgentRunner, RunResult
from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import Retry, StreamingModel
from curriculum.core.retry import RetryingModel, RetryPolicy
from curriculum.core.seams import CancelToken
from curriculum.core.tools import ToolBox
from curriculum.core.trace import Event, Recorder, SystemClock
from curriculum.core.visible import quote
from curriculum.core.waiting import SystemWaiter
from curriculum.mino.config import Settings
from curriculum.mino.context import ReplayRule
from curriculum.mino.instructions import Instructions
from curriculum.sessions.errors import SessionNotFoundError
from curriculum.sessions.ids import known_ids, resolve_prefix
from curriculum.sessions.listing import list_sessions
from curriculum.sessions.observe import show_acknowledgement, show_recovery
from curriculum.sessions.state import UnknownOutcome
from curriculum.sessions.store import SessionStore
from curriculum.tools.bash import Bash

if TYPE_CHECKING:
    from curriculum.core.model import Descriptors

HARNESS = f"mino {__version__}"
AGENT = "mino"
NEWEST = ""  # the prefix that means the newest session
MAX_REQUESTS, MAX_CALLS = 8, 16
MOST_ANSWER = 1024 * 1024  # characters of text
RETRIES = RetryPolicy(max_attempts=3)


# region: session
def open_session(settings: Settings, resume: str | None) -> SessionStore:
    """A new session, or the one that the prefix `resume` means. Raises SessionError."""
    clock = SystemClock()
    if resume is None:
        about: dict[str, str | int] = {
            "harness": HARNESS,
            "model": settings.model,
            "max_turns": MAX_REQUESTS,
        }
        return SessionStore.create(settings.home, about=about, rule=settings.replay, clock=clock)
    if resume != NEWEST:
        session_id = resolve_prefix(resume, known_ids(settings.home))
    elif sessions := list_sessions(settings.home):
        session_id = sessions[0].session_id
    else:
        where = quote(settings.home)
        raise SessionNotFoundError(f"there are no sessions in {where} to go on with")
    return SessionStore.open(settings.home, session_id, rule=settings.replay, clock=clock)


# endregion


# region: model
def make_model(settings: Settings, cancel: CancelToken) -> StreamingModel:
    """The model that the settings name; nothing is connected yet."""
    if settings.demo:
        from curriculum.mino.demo import DemoModel

        return DemoModel(cancel)
    from curriculum.providers.responses import ResponsesModel

    return ResponsesModel(settings.endpoint, settings.model, omit=settings.omit, cancel=cancel)


# endregion


class BoundedModel:
    """A model that may be asked `most` times in a turn, and whose every answer has an end.

    The loop bounds the answers of a turn; this bounds what goes over the wire. A failed attempt
    counts too.
    """

    def __init__(self, model: StreamingModel, most: int) -> None:
        self._model, self._most = model, most
        self._asked = 0

    def begin_turn(self) -> None:
        """A turn begins: nothing has been asked in it."""
        self._asked = 0

    def stream(
        self, messages: Sequence[Message], tools: Descriptors
    ) -> Iterator[str | Retry | ModelTurn]:
        """The model's stream. Raises TurnLimitError when nothing may be asked any more, ModelError
        when an answer does not end.
        """
        if self._asked >= self._most:
            most = self._most
            raise TurnLimitError(f"no model request is left of {most}", max_turns=most)
        self._asked += 1
        size = 0
        for item in self._model.stream(messages, tools):
            size += len(item) if isinstance(item, str) else 0
            if size > MOST_ANSWER:
                raise ModelError(f"the answer is longer than {MOST_ANSWER} characters; stopped")
            yield item


class Conversation:
    """The turns of one session, observed. `observe` is called with each event as it happens.

    Raises FileNotFoundError if the current directory is gone.
    """

    # region: assemble
    def __init__(
        self,
        settings: Settings,
        store: SessionStore,
        instructions: Instructions,
        approver: Approver,
        cancel: CancelToken,
        observe: Callable[[Event], object],
    ) -> None:
        self.store = store
        self.recorder = Recorder(
            provenance="scripted" if settings.demo else "live",
            sink=observe,
            keep=lambda event: event.type != "model.delta",
        )
        self.last: RunResult | None = None
        self._is_open = False
        self._model = BoundedModel(make_model(settings, cancel), MAX_REQUESTS)
        self._context = ReplayRule(store.rule)
        self._size = 1 + len(store.replay.messages)  # messages so far: the instructions come first
        clock = self.recorder.clock
        self._runner = AgentRunner(
            RetryingModel(self._model, SystemWaiter(clock), cancel, RETRIES),
            ToolBox([Bash.here()]),
            AgentConfig(MAX_REQUESTS, MAX_CALLS, AGENT, settings.model, HARNESS),
            system_prompt=instructions.text,
            history=store.replay.messages,
            approver=approver,
            journal=store,
            cancel=cancel,
            context=self._context,
            recorder=self.recorder,
        )

    # endregion

    def begin(self) -> None:
        """Record the start, and what opening the session had to close."""
        self._runner.start(self.store.session_id, resumed_from=self.store.session_id)
        self._is_open = True
        show_recovery(self.recorder, self.store, AGENT)

    def acknowledge(self, outcome: UnknownOutcome) -> None:
        """The person knows that nobody knows. Raises JournalError."""
        self.store.acknowledge(outcome, by="user")
        show_acknowledgement(self.recorder, outcome, by="user")

    # region: turn
    def turn(self, text: str) -> RunResult:
        """Answer one input; a fault is in the result. What ends the program passes through."""
        self._model.begin_turn()
        try:
            self.last = result = self._runner.turn(text)
        except BaseException:
            self._is_open = False  # the runner has recorded the end itself
            raise
        self._context.end_turn(self._size, result.messages, result.error is None)
        self._size = len(result.messages)
        return result

    # endregion

    def end(self) -> None:
        """Record the end, once."""
        if self._is_open:
            self._is_open = False
            self._runner.stop(self.last or RunResult("completed", (), ()))
