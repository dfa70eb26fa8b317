"""`mino run "PROMPT"`: one turn for scripts, the answer on standard output, all else on stderr.

Nobody can be asked here, so a call runs only if a rule on the command line allows it. The turn is
kept in a session like any other. With `--json` standard output is the trace, as it happens.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from curriculum.core.errors import CancelledError, JournalError, TraceError
from curriculum.core.loop import RunResult
from curriculum.core.trace import Event
from curriculum.core.visible import escape
from curriculum.mino.assembly import Conversation, open_session
from curriculum.mino.config import ConfigError, Settings
from curriculum.mino.exits import FAILED, INTERRUPTED, NO_SESSION, NO_TRACE, OK, SIGNALLED
from curriculum.mino.instructions import load_instructions
from curriculum.mino.recovered import recovery_lines
from curriculum.mino.rules import make_approver
from curriculum.mino.screen import Screen, make_console
from curriculum.mino.signals import Signals, TurnToken
from curriculum.mino.trace_file import TraceFile
from curriculum.mino.view import View

if TYPE_CHECKING:
    from curriculum.core.approval import Approver

    Task = tuple[str, Approver]

MOST_PROMPT = 1024 * 1024  # characters of standard input


# region: run
def run_prompt(
    settings: Settings, given: dict[str, Any], task: Task, trace: TraceFile | None
) -> int:
    """Hold one turn; returns the exit code. Raises SessionError, TerminatedError."""
    prompt, approver = task
    signals = Signals(TurnToken())
    signals.install()
    screen = Screen(make_console(stderr=True), signals=signals)
    instructions = load_instructions(os.getcwd())
    traces = [trace] if trace else []
    if given["json"]:
        traces.append(TraceFile(sys.stdout.fileno()))
    with open_session(settings, given.get("resume")) as store:
        if store.rule == "with-evidence" and store.unacknowledged:
            screen.say(
                "mino: an outcome of this session is unknown, and only a person can acknowledge "
                f"it: mino --resume {store.session_id}; or take --replay completed-only"
            )
            return NO_SESSION
        for line in (*recovery_lines(store), *instructions.notices):
            screen.say(line)
        view = View(screen, chat=False)
        observe = _observer(view, traces, signals)
        talk = Conversation(settings, store, instructions, approver, signals.token, observe)
        talk.begin()
        try:
            result = talk.turn(prompt)
        finally:
            talk.end()
        view.turn_ended()
        if talk.recorder.failure:
            screen.say(f"mino: {talk.recorder.failure.message}")
    signals.release()
    return _conclude(result, signals, quiet=given["json"])


# endregion


def read_task(given: dict[str, Any]) -> Task:
    """What to do, and who allows: all that can be wrong in it. Raises ConfigError."""
    approver = make_approver(given["allow_rule"])
    return read_prompt(given["prompt"]), approver


def read_prompt(given: str) -> str:
    """The prompt, or what standard input holds. Raises ConfigError."""
    text = given
    if given == "-":
        try:
            text = sys.stdin.read(MOST_PROMPT + 1)
        except OSError as fault:
            why = f"{fault.strerror} (errno {fault.errno})"
            raise ConfigError(f"standard input: {why}") from None
        if len(text) > MOST_PROMPT:
            raise ConfigError(f"the prompt is longer than {MOST_PROMPT} characters")
    if not text.strip():
        raise ConfigError("the prompt is empty; say what to do")
    return text


def _observer(view: View, traces: list[TraceFile], signals: Signals) -> Callable[[Event], None]:
    def observe(event: Event) -> None:
        view.show(event)
        with signals.writing():
            for trace in traces:
                trace.write(event)

    return observe


def _conclude(result: RunResult, signals: Signals, quiet: bool) -> int:
    """Print the answer; the exit code that says how it went."""
    if signals.ending:
        return SIGNALLED + signals.ending
    if isinstance(result.error, JournalError):
        return NO_SESSION
    if isinstance(result.error, TraceError):
        return NO_TRACE
    if isinstance(result.error, CancelledError) and result.error.by == "user":
        return INTERRUPTED
    if result.error:
        return FAILED
    if not quiet:
        text = result.final_text
        print(escape(text) if sys.stdout.isatty() else text)
    return OK
