"""One conversation, put together: model, tools, approver, session file, instructions, observers.

Each part is plugged into the seam that its lesson made; the loop is the one of s01. A conversation
is one runner for all its turns, so the session and the trace have one writer each.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from curriculum import __version__
from curriculum.core.approval import Approver
from curriculum.core.deadline import DeadlineToken
from curriculum.core.loop import AgentConfig, AgentRunner, RunResult
from curriculum.core.parallel import ParallelReads
from curriculum.core.retry import RetryingModel, RetryPolicy
from curriculum.core.tokens import MeasuredModel, TokenCounter
from curriculum.core.tools import ToolBox
from curriculum.core.trace import Event, Recorder, SystemClock
from curriculum.core.visible import quote
from curriculum.core.waiting import SystemWaiter
from curriculum.mino.config import Settings
from curriculum.mino.context import ReplayRule
from curriculum.mino.instructions import Instructions
from curriculum.mino.listing import resumable
from curriculum.mino.model import BoundedModel, make_model
from curriculum.mino.options import NEWEST
from curriculum.mino.secrecy import mask_event
from curriculum.mino.signals import TurnToken
from curriculum.mino.spending import make_budget
from curriculum.providers.key_mask import KeyMask
from curriculum.sessions.errors import SessionNotFoundError
from curriculum.sessions.ids import known_ids, resolve_prefix
from curriculum.sessions.observe import show_acknowledgement, show_recovery
from curriculum.sessions.state import UnknownOutcome
from curriculum.sessions.store import SessionStore
from curriculum.tools.bash import Bash
from curriculum.tools.edit_file import EditFile
from curriculum.tools.read_file import ReadFile

HARNESS = f"mino {__version__}"
AGENT = "mino"
MAX_REQUESTS, MAX_CALLS = 8, 16
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
        session_id = resolve_prefix(resume, known_ids(settings.home), "mino sessions")
    elif sessions := resumable(settings.home):
        session_id = sessions[0].session_id
    else:
        where = quote(settings.home)
        raise SessionNotFoundError(f"there are no sessions in {where} to go on with")
    return SessionStore.open(settings.home, session_id, rule=settings.replay, clock=clock)


# endregion


def make_tools(settings: Settings) -> ToolBox:
    """Bash and files below this directory. All is asked about, but for reads where granted."""
    here = os.getcwd()
    granted = ["read_file"] if settings.allow_reads else []
    return ToolBox([Bash.here(), ReadFile(here), EditFile(here)], granted)


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
        cancel: TurnToken,
        observe: Callable[[Event], object],
    ) -> None:
        self.store = store
        self._key_mask = KeyMask(settings.endpoint.api_key)
        self.recorder = Recorder(
            provenance="scripted" if settings.demo else "live",
            sink=lambda event: observe(self.masked(event)),
            keep=lambda event: event.type != "model.delta",
        )
        self.last: RunResult | None = None
        self._is_open = False
        self._cancel, self._deadline_us = cancel, settings.limits.deadline_us
        tools = make_tools(settings)
        counter = TokenCounter(tools.descriptors())
        self._model = BoundedModel(make_model(settings, cancel), MAX_REQUESTS)
        self._context = ReplayRule(store.rule, counter, settings.limits.context_limit)
        self._size = 1 + len(store.replay.messages)  # messages so far: the instructions come first
        clock = self.recorder.clock
        self._runner = AgentRunner(
            RetryingModel(
                MeasuredModel(self._model, counter), SystemWaiter(clock), cancel, RETRIES
            ),
            tools,
            AgentConfig(MAX_REQUESTS, MAX_CALLS, AGENT, settings.model, HARNESS),
            system_prompt=instructions.text,
            history=store.replay.messages,
            approver=approver,
            journal=store,
            cancel=cancel,
            context=self._context,
            scheduler=ParallelReads(cancel),
            budget=make_budget(settings.limits, tools, self.recorder),
            recorder=self.recorder,
        )

    # endregion

    def masked(self, event: Event) -> Event:
        """The event as anybody may see it: without the key."""
        return mask_event(event, self._key_mask)

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
        """Answer one input; a fault is in the result. What ends the program passes through.

        A key that was pasted into the input is masked: it would be kept, and be the title.
        """
        self._model.begin_turn()
        if self._deadline_us is not None:
            clock = self.recorder.clock
            self._cancel.take_deadline(DeadlineToken(clock, self._deadline_us, what="the turn"))
        try:
            self.last = result = self._runner.turn(self._key_mask.text(text))
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
