"""The chat: read a line, hold a turn, again, until the person or a signal ends it.

It shows and asks; it never opens a session file or runs a command itself. The order at the start
matters: settings and terminal first, then the trace, then the session, so that a wrong start
leaves nothing behind; a trace in which nothing begins is taken away again.
"""

from __future__ import annotations

import os

from curriculum import __version__
from curriculum.core.approval import HumanApprover
from curriculum.core.errors import CancelledError, JournalError, TraceError
from curriculum.core.trace import Event
from curriculum.core.visible import quote
from curriculum.mino.assembly import Conversation, open_session
from curriculum.mino.config import Settings
from curriculum.mino.exits import INTERRUPTED, NO_SESSION, NO_TRACE, OK, SIGNALLED
from curriculum.mino.instructions import load_instructions
from curriculum.mino.question import Asker, field_lines, one_line, tool_line
from curriculum.mino.recovered import earlier_turns, recovery_lines
from curriculum.mino.screen import Screen, make_console
from curriculum.mino.signals import Signals, TurnToken
from curriculum.mino.terminal import Terminal
from curriculum.mino.trace_file import TraceFile
from curriculum.mino.view import View
from curriculum.sessions.errors import SessionError
from curriculum.sessions.store import SessionStore

PROMPT = "You> "
LAST_EVENTS = 10
HELP = """\
/help      this list
/sessions  the sessions that `mino --resume ID` can go on with
/trace     the last events of this chat, and where they are written
/quit      leave; so does Ctrl+D
Ctrl+C     ends the turn and the command that runs; once more leaves
A command that you approve has all your permissions; there is no sandbox.
It can open this terminal by its path.
What it leaves running is stopped when it ends. What has left its session is
found on Linux only; what it has a service run (cron, docker) is found nowhere."""


class Chat:
    """One chat at a terminal. `hold` returns the exit code."""

    def __init__(self, settings: Settings, trace: TraceFile | None, trace_path: str | None) -> None:
        self._settings = settings
        self._trace, self._trace_path = trace, trace_path
        self._signals = Signals(TurnToken())
        self._signals.install()
        self._screen = Screen(make_console(), self._signals.hang_up, self._signals)
        self._view = View(self._screen)
        self._terminal = Terminal(self._signals, PROMPT)
        self._asker = Asker(self._screen, self._terminal, self._signals)
        self._shown = 0

    # region: hold
    def hold(self, resume: str | None) -> int:
        """Open the session and talk until the end. Raises SessionError, TerminatedError."""
        instructions = load_instructions(os.getcwd())
        try:
            with open_session(self._settings, resume) as store:
                talk = Conversation(
                    self._settings,
                    store,
                    instructions,
                    HumanApprover(self._asker.ask),
                    self._signals.token,
                    self._observe,
                )
                for line in recovery_lines(store):
                    self._screen.say(line)
                earlier = "" if resume is None else earlier_turns(store)
                self._banner(store, instructions.notices, earlier)
                for message in store.replay.messages:
                    if message.role == "user":
                        self._terminal.remember(message.content)
                talk.begin()
                try:
                    code = self._talk(talk)
                finally:
                    talk.end()
                    self._show_rest(talk)
                if code in (OK, INTERRUPTED) and talk.last:
                    self._screen.say(f"Go on with: mino --resume {store.session_id}")
                return code
        finally:
            self._terminal.restore()

    # endregion

    def _observe(self, event: Event) -> None:
        """Show an event and write it."""
        self._shown = event.sequence + 1
        self._view.show(event)
        if self._trace:
            with self._signals.writing():
                self._trace.write(event)

    def _show_rest(self, talk: Conversation) -> None:
        """A trace that failed has silenced the screen too: show what it has missed."""
        for event in talk.recorder.events:
            if event.sequence >= self._shown:
                self._view.show(talk.masked(event))
        self._shown = talk.recorder.count

    def _banner(self, store: SessionStore, notices: tuple[str, ...], earlier: str) -> None:
        settings, say = self._settings, self._screen.say
        where = "a scripted endpoint" if settings.demo else settings.endpoint.base_url
        say(f"mino {__version__}, model {one_line(settings.model)} at {one_line(where)}", "bold")
        say(f"Session {store.session_id}{earlier}; /help shows what you can type.")
        for notice in notices:
            say(notice)

    # region: talk
    def _talk(self, talk: Conversation) -> int:
        """Turn after turn; returns the exit code."""
        leaving = False  # Ctrl+C has been pressed, and no line was typed since
        while True:
            self._signals.begin_turn()
            if not self._acknowledge_all(talk):
                return NO_SESSION
            self._screen.blank()
            try:
                line = self._terminal.read_line()
            except KeyboardInterrupt:
                self._screen.typed()
                self._screen.blank()
                if leaving:
                    return INTERRUPTED
                leaving = True
                self._screen.say("(Ctrl+C once more leaves; so does /quit.)")
                continue
            leaving = False
            self._screen.typed()
            if line is None:
                self._screen.blank()
                return OK
            if not line.strip():
                continue
            if line.startswith("/") and "\n" not in line:
                if line.strip() == "/quit":
                    return OK
                self._command(line.strip(), talk)
                continue
            result = talk.turn(line)
            self._show_rest(talk)
            self._view.turn_ended()
            leaving = isinstance(result.error, CancelledError) and result.error.by == "user"
            if self._signals.ending:
                return SIGNALLED + self._signals.ending
            if self._signals.interrupts > 1:
                return INTERRUPTED
            if isinstance(result.error, JournalError):
                self._screen.say("The chat ends here, as nothing more can be kept.")
                return NO_SESSION
            if isinstance(result.error, TraceError):
                self._screen.say("The chat ends here, as the trace that was asked for is not kept.")
                return NO_TRACE

    # endregion

    # region: acknowledge
    def _acknowledge_all(self, talk: Conversation) -> bool:
        """Ask about each outcome that nobody knows; whether all were acknowledged."""
        if talk.store.rule != "with-evidence":
            return True
        for outcome in talk.store.unacknowledged:
            say = self._screen.say
            self._screen.blank()
            say(tool_line(outcome.call.name, "Unknown outcome"), "bold")
            for line in field_lines(outcome.display):
                say(line)
            say("It started, and nobody knows what came of it. It was not run again.")
            try:
                known = self._asker.confirm("Go on, with this outcome unknown? [y/N]")
            except KeyboardInterrupt:
                known = False
                self._screen.blank()
            if not known:
                say(
                    "Nothing was changed. To go on without that turn: "
                    f"mino --resume {talk.store.session_id} --replay completed-only"
                )
                return False
            try:
                talk.acknowledge(outcome)
            except JournalError as fault:
                say(fault.message, "bold")
                return False
        return True

    # endregion

    def _command(self, line: str, talk: Conversation) -> None:
        """One of the commands that begin with a slash."""
        say = self._screen.say
        if line == "/help":
            for row in HELP.split("\n"):
                say(row)
        elif line == "/sessions":
            from curriculum.mino.listing import session_rows

            try:
                for row in session_rows(self._settings.home):
                    say(row)
            except SessionError as fault:
                say(str(fault))
        elif line == "/trace":
            say(
                f"Written to {quote(self._trace_path)}."
                if self._trace_path is not None
                else "Not written to a file (that is `mino --trace FILE`)."
            )
            for event in talk.recorder.events[-LAST_EVENTS:]:
                say(f"{event.sequence:5} {event.type} by {event.actor['kind']}")
        else:
            say(f"There is no command {quote(line)}; /help shows them.")
