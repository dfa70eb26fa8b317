"""A conformance kit for whole agents: `check_agent(YourAgent)`.

It talks to an agent as a person and a provider do, and looks at what is on the screen, on disk and
in the events. Commands really run, in a scratch folder; they only write files there.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from curriculum.core.errors import TransientModelError
from curriculum.core.journal import Record
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import Model, ScriptedModel, StreamingModel
from curriculum.core.seams import CancelToken
from curriculum.core.trace import Event
from curriculum.core.visible import escape
from curriculum.core.waiting import Waiter
from curriculum.grading.mistakes import collect, mistake, quote
from curriculum.grading.scratch import scratch
from curriculum.sessions.errors import SessionError
from curriculum.sessions.store import SessionStore

__unittest = True

DEEP = 's12, "Exercises", D'
HOSTILE = "\x1b[2J\x9b1m\u202egnp.exe\u200b\rY"
BUSY = TransientModelError("busy")

Line = str | None


class Agent(Protocol):
    """What is put through the kit; see exercise D of s12."""

    @property
    def session_id(self) -> str:
        """The session's id."""

    @property
    def events(self) -> Sequence[Event]:
        """All events so far."""

    def turn(self, text: str) -> str:
        """Answer one input."""

    def close(self) -> None:
        """End the run."""


Make = Callable[
    [
        Model | StreamingModel,
        str,
        str,
        Callable[[str], Line],
        Callable[[str], object],
        Waiter,
    ],
    Agent,
]


def runs(call_id: str, command: str) -> ModelTurn:
    """An answer that asks for a command."""
    return ModelTurn(tool_calls=(ToolCall(call_id, "bash", json.dumps({"command": command})),))


class _Waiter:
    """Waits no time at all, and counts how long it would have been."""

    def __init__(self) -> None:
        self.waited_us = 0

    def wait(self, wait_us: int, cancel: CancelToken) -> None:
        self.waited_us += wait_us


class _Streams:
    """A model that streams as it is told."""

    def __init__(self, *answers: Sequence[str | ModelTurn | Exception]) -> None:
        self._answers = iter(answers)
        self.asked = 0

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | ModelTurn]:
        self.asked += 1
        for item in next(self._answers):
            if isinstance(item, Exception):
                raise item
            yield item


class _Room:
    """A folder to work in, a person with some lines to type, and a screen."""

    def __init__(self, make: Make, folder: str, *lines: Line | BaseException) -> None:
        self._make = make
        self.home, self.work = os.path.join(folder, "home"), Path(folder, "work")
        self.work.mkdir(exist_ok=True)
        self.lines = list(lines)
        self.questions: list[str] = []
        self.shown: list[str] = []
        self.waiter = _Waiter()

    def ask(self, text: str) -> Line:
        self.questions.append(text)
        line = self.lines.pop(0) if self.lines else None
        if isinstance(line, BaseException):
            raise line
        return line

    @contextlib.contextmanager
    def agent(self, model: Model | StreamingModel, session_id: str = "") -> Iterator[Agent]:
        """An agent, made in the folder to work in, closed at the end."""
        before = os.getcwd()
        os.chdir(self.work)
        try:
            agent = self._make(
                model, self.home, session_id, self.ask, self.shown.append, self.waiter
            )
            try:
                yield agent
            finally:
                agent.close()
        finally:
            os.chdir(before)

    def kinds(self, session_id: str) -> list[str]:
        """The kinds of the records on disk."""
        path = os.path.join(self.home, "sessions", f"{session_id}.jsonl")
        with open(path, "rb") as file:
            return [json.loads(line)["kind"] for line in file]

    @property
    def screen(self) -> str:
        """All that a person has seen."""
        return "\n".join([*self.shown, *self.questions])


def _same(what: str, wanted: object, saw: object) -> None:
    if wanted != saw:
        raise mistake(f"{what}: {quote(wanted)}", quote(saw), DEEP)


def check_agent(make: Make) -> list[str]:
    """Put an agent through all checks. Returns what is wrong: nothing, if it conforms."""
    checks: dict[str, Callable[[Make, str], None]] = {
        "a conversation": _conversation,
        "only yes": _only_yes,
        "the question": _question,
        "harmless on the screen": _harmless,
        "asks again": _asks_again,
        "not after text": _not_after_text,
        "bounds": _bounds,
        "save points": _save_points,
        "resume": _resume,
        "after a crash": _after_crash,
        "one at a time": _one_at_a_time,
        "Ctrl+C": _ctrl_c,
        "the trace": _trace,
    }

    def ready(check: Callable[[Make, str], None]) -> Callable[[], None]:
        def run() -> None:
            with scratch() as folder:
                check(make, folder)

        return run

    return collect({name: ready(check) for name, check in checks.items()}, DEEP)


def _conversation(make: Make, folder: str) -> None:
    room = _Room(make, folder, "y")
    model = ScriptedModel(
        [runs("c1", "echo 6 > six; cat six"), ModelTurn("Six."), ModelTurn("Bye.")]
    )
    with room.agent(model) as agent:
        _same("the text of the answer", "Six.", agent.turn("How many?"))
        _same("the next answer", "Bye.", agent.turn("Thanks."))
    results = [m.content for m in model.requests[1] if m.role == "tool"]
    if len(results) != 1 or "6" not in results[0]:
        raise mistake("the command's output in the next request", quote(results), DEEP)
    said = [m.content for m in model.requests[2] if m.role == "user"]
    _same("what the user said, in the last request", ["How many?", "Thanks."], said)
    if "Six." not in room.screen:
        raise mistake("the answer on the screen", quote(room.shown), DEEP)


def _only_yes(make: Make, folder: str) -> None:
    for number, line in enumerate([None, "", "n", "yes please", "y y", "ye", "y", " YES \n"]):
        allowed = line in ("y", " YES \n")
        room = _Room(make, folder, line)
        model = ScriptedModel([runs("c1", f"echo x > ran{number}"), ModelTurn("ok")])
        with room.agent(model) as agent:
            agent.turn("go")
        told = f"after the line {line!r} the command has run"
        _same(told, allowed, (room.work / f"ran{number}").exists())
        _same("one question for one call", 1, len(room.questions))
    room = _Room(make, folder, "y", "n")
    model = ScriptedModel([runs("c1", "echo a > a"), runs("c2", "echo b > b"), ModelTurn("ok")])
    with room.agent(model) as agent:
        agent.turn("go")
    done = [(room.work / name).exists() for name in "ab"]
    _same("of two commands, one yes and one no: what ran", [True, False], done)


def _question(make: Make, folder: str) -> None:
    """Two different commands never give the same question, and the command is in it."""
    commands = [
        "echo a",
        "echo a\n",
        "echo\ta",
        "echo a\u200b",
        "echo a\\n",
        "echo \u202ea",
        "echo  a",
    ]
    asked = []
    for command in commands:
        room = _Room(make, folder, "n")
        with room.agent(ScriptedModel([runs("c1", command), ModelTurn("ok")])) as agent:
            agent.turn("go")
        asked += room.questions
    _same("questions about as many commands, all different", len(commands), len(set(asked)))
    for text in asked:
        _check_harmless("the question", text)
    if "echo a" not in asked[0] or str(room.work) not in asked[0]:
        raise mistake("a question with the command and its directory", quote(asked[0]), DEEP)


def _check_harmless(what: str, text: str) -> None:
    if escape(text) != text or "\t" in text:
        raise mistake(f"{what}: nothing that a terminal would obey", quote(text), DEEP)


def _harmless(make: Make, folder: str) -> None:
    room = _Room(make, folder, "y")
    command = "printf '\\033[2J\\302\\233'; cat /nowhere"
    fault = TransientModelError(f"broken {HOSTILE}")
    model = _Streams([runs("c1", command)], [ModelTurn(HOSTILE)], ["x", fault])
    with room.agent(model) as agent:
        _same("the answer as it is, for programs", HOSTILE, agent.turn("go"))
        agent.turn("again")
    for text in (*room.shown, *room.questions):
        _check_harmless("the screen", text)


def _asks_again(make: Make, folder: str) -> None:
    room = _Room(make, folder)
    with room.agent(ScriptedModel([BUSY, BUSY, ModelTurn("third time")])) as agent:
        _same("two failures, then an answer", "third time", agent.turn("go"))
        waits = [event for event in agent.events if event.type == "retry.wait"]
        _same("each wait on record", 2, len(waits))
        asked_us = sum(int(str(event.payload["wait_us"])) for event in waits)
        _same("what the waiter was asked to wait, in µs", asked_us, room.waiter.waited_us)
    with room.agent(ScriptedModel([BUSY] * 20 + [ModelTurn("never")])) as agent:
        _same("twenty failures: the answer", "", agent.turn("go"))


def _not_after_text(make: Make, folder: str) -> None:
    room = _Room(make, folder)
    model = _Streams(["Half an ", BUSY], [ModelTurn("Fine.")])
    with room.agent(model) as agent:
        _same("a stream that breaks after text: the answer", "", agent.turn("go"))
        _same("how often the model was asked", 1, model.asked)
        before = len(room.shown)
        if not before or not any("busy" in text for text in room.shown):
            raise mistake("a line on the screen that says why", quote(room.shown), DEEP)
        _same("the next turn, by the same agent", "Fine.", agent.turn("go on"))


def _bounds(make: Make, folder: str) -> None:
    room = _Room(make, folder, *["y"] * 40)
    model = ScriptedModel([runs(f"c{n}", "echo x >> many") for n in range(40)])
    with room.agent(model) as agent:
        _same("a model that asks for ever: the answer", "", agent.turn("go"))
    if len(model.requests) > 8:
        raise mistake("at most 8 requests a turn", f"{len(model.requests)}", DEEP)
    calls = tuple(call for n in range(17) for call in runs(f"d{n}", "echo x >> more").tool_calls)
    room.lines = ["y"] * 40
    with room.agent(ScriptedModel([ModelTurn(tool_calls=calls), ModelTurn("ok")])) as agent:
        _same("17 calls at once: the answer", "", agent.turn("go"))
    _same("17 calls at once: anything ran", False, (room.work / "more").exists())


class _Looks:
    """A model that looks at the disk before it answers."""

    def __init__(self, look: Callable[[], None], answers: Sequence[ModelTurn]) -> None:
        self._look, self._answers = look, iter(answers)

    def respond(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> ModelTurn:
        self._look()
        return next(self._answers)


def _save_points(make: Make, folder: str) -> None:
    room = _Room(make, folder, "y")
    seen: list[list[str]] = []
    names: list[str] = []
    command = f"cp -r {room.home} copy"
    model = _Looks(
        lambda: seen.append(room.kinds(names[0])), [runs("c1", command), ModelTurn("ok")]
    )
    with room.agent(model) as agent:
        names.append(agent.session_id)
        agent.turn("go")
    first = ["session", "user_input"]
    _same("on disk at the first request", first, seen[0])
    copied = Path(room.work, "copy", "sessions", f"{names[0]}.jsonl")
    with open(copied, "rb") as file:
        kinds = [json.loads(line)["kind"] for line in file]
    _same("on disk while the command runs", [*first, "model_response", "tool_start"], kinds)
    _same("on disk at the second request", [*kinds, "tool_result"], seen[1])


def _resume(make: Make, folder: str) -> None:
    room = _Room(make, folder, "y")
    with room.agent(ScriptedModel([runs("c1", "echo x >> once"), ModelTurn("ok")])) as agent:
        session_id = agent.session_id
        agent.turn("first")
    model = ScriptedModel([ModelTurn("You said: first.")])
    with room.agent(model, session_id) as agent:
        _same("the session's id", session_id, agent.session_id)
        _same("the answer", "You said: first.", agent.turn("second"))
    roles = [m.role for m in model.requests[0] if m.role != "system"]
    wanted = ["user", "assistant", "tool", "assistant", "user"]
    _same("after a restart the roles of the first request", wanted, roles)
    _same("lines that the command wrote", 1, (room.work / "once").read_text().count("x"))


def _after_crash(make: Make, folder: str) -> None:
    room = _Room(make, folder)
    call = runs("c1", "echo x >> again").tool_calls[0]
    display = {"command": "echo x >> again"}
    proposed = {"call_id": call.call_id, "name": "bash", "arguments": call.arguments}
    with SessionStore.create(room.home, "wreck") as store:
        store.append(Record("user_input", "turn-1", {"content": "go"}))
        response = {"content": "", "tool_calls": [proposed]}
        store.append(Record("model_response", "turn-1", response))
        store.append(Record("tool_start", "turn-1", {"call_id": "c1", "display": display}))
    model = ScriptedModel([ModelTurn("ok")])
    with room.agent(model, "wreck") as agent:
        _same("requests before anybody said anything", 0, len(model.requests))
        if not any("interrupted" in text.lower() for text in room.shown):
            raise mistake("a notice about the interrupted turn", quote(room.shown), DEEP)
        _same("the turn after it", "ok", agent.turn("go on"))
    _same("the command has run again", False, (room.work / "again").exists())
    _same("the session closed and continued", "turn_end", room.kinds("wreck")[5])


def _one_at_a_time(make: Make, folder: str) -> None:
    room = _Room(make, folder)
    with room.agent(ScriptedModel([])) as agent:
        try:
            with room.agent(ScriptedModel([]), agent.session_id):
                saw = "it was opened twice"
        except SessionError:
            return
    raise mistake("a SessionError for a session that is in use", saw, DEEP)


def _ctrl_c(make: Make, folder: str) -> None:
    room = _Room(make, folder, KeyboardInterrupt())
    model = ScriptedModel([runs("c1", "echo x > ran"), ModelTurn("Here I am.")])
    with room.agent(model) as agent:
        _same("Ctrl+C at the question: the answer", "", agent.turn("go"))
        _same("the command has run", False, (room.work / "ran").exists())
        _same("requests", 1, len(model.requests))
        _same("the next turn", "Here I am.", agent.turn("still there?"))


def _trace(make: Make, folder: str) -> None:
    room = _Room(make, folder, "y", "n")
    calls = runs("c1", "echo a").tool_calls + runs("c2", "echo b").tool_calls
    with room.agent(ScriptedModel([ModelTurn(tool_calls=calls), ModelTurn("ok")])) as agent:
        agent.turn("go")
    agent.close()
    types = [event.type for event in agent.events]
    _same("the first and the last event", ["session.start", "session.stop"], [types[0], types[-1]])
    _same("one session.stop, also when closed twice", 1, types.count("session.stop"))
    _same("numbers without gaps", list(range(len(types))), [e.sequence for e in agent.events])
    _same("a result for each call", types.count("tool.call"), types.count("tool.result"))
    _same("a start for the call that was allowed", 1, types.count("tool.start"))
    started = agent.events[0].payload["session_id"]
    _same("the session's id in the trace", agent.session_id, started)
