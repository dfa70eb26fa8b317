"""A conformance kit for whole agents: `check_agent(YourAgent)`.

It talks to an agent as a person and a provider do, and looks at what is on the screen, on disk and
in the events. Commands really run, in a scratch folder; they only write files there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from curriculum.core.errors import TransientModelError
from curriculum.core.journal import Record
from curriculum.core.messages import ModelTurn
from curriculum.core.model import ScriptedModel
from curriculum.core.visible import escape
from curriculum.grading.agent_under_test import DEEP, Looks, Make, Room, Streams, runs, same
from curriculum.grading.mistakes import collect, mistake, quote
from curriculum.grading.scratch import scratch
from curriculum.sessions.errors import SessionError
from curriculum.sessions.store import SessionStore

__unittest = True

HOSTILE = "\x1b[2J\x9b1m\u202egnp.exe\u200b\rY"
BUSY = TransientModelError("busy")


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
    room = Room(make, folder, "y")
    model = ScriptedModel(
        [runs("c1", "echo 6 > six; cat six"), ModelTurn("Six."), ModelTurn("Bye.")]
    )
    with room.agent(model) as agent:
        same("the text of the answer", "Six.", agent.turn("How many?"))
        same("the next answer", "Bye.", agent.turn("Thanks."))
    results = [m.content for m in model.requests[1] if m.role == "tool"]
    if len(results) != 1 or "6" not in results[0]:
        raise mistake("the command's output in the next request", quote(results), DEEP)
    said = [m.content for m in model.requests[2] if m.role == "user"]
    same("what the user said, in the last request", ["How many?", "Thanks."], said)
    if "Six." not in room.screen:
        raise mistake("the answer on the screen", quote(room.shown), DEEP)


def _only_yes(make: Make, folder: str) -> None:
    for number, line in enumerate([None, "", "n", "yes please", "y y", "ye", "y", " YES \n"]):
        allowed = line in ("y", " YES \n")
        room = Room(make, folder, line)
        model = ScriptedModel([runs("c1", f"echo x > ran{number}"), ModelTurn("ok")])
        with room.agent(model) as agent:
            agent.turn("go")
        told = f"after the line {line!r} the command has run"
        same(told, allowed, (room.work / f"ran{number}").exists())
        same("one question for one call", 1, len(room.questions))
    room = Room(make, folder, "y", "n")
    model = ScriptedModel([runs("c1", "echo a > a"), runs("c2", "echo b > b"), ModelTurn("ok")])
    with room.agent(model) as agent:
        agent.turn("go")
    done = [(room.work / name).exists() for name in "ab"]
    same("of two commands, one yes and one no: what ran", [True, False], done)


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
        room = Room(make, folder, "n")
        with room.agent(ScriptedModel([runs("c1", command), ModelTurn("ok")])) as agent:
            agent.turn("go")
        asked += room.questions
    same("questions about as many commands, all different", len(commands), len(set(asked)))
    for text in asked:
        _check_harmless("the question", text)
    if "echo a" not in asked[0] or str(room.work) not in asked[0]:
        raise mistake("a question with the command and its directory", quote(asked[0]), DEEP)


def _check_harmless(what: str, text: str) -> None:
    if escape(text) != text or "\t" in text:
        raise mistake(f"{what}: nothing that a terminal would obey", quote(text), DEEP)


def _harmless(make: Make, folder: str) -> None:
    room = Room(make, folder, "y")
    command = "printf '\\033[2J\\302\\233'; cat /nowhere"
    fault = TransientModelError(f"broken {HOSTILE}")
    model = Streams([runs("c1", command)], [ModelTurn(HOSTILE)], ["x", fault])
    with room.agent(model) as agent:
        same("the answer as it is, for programs", HOSTILE, agent.turn("go"))
        agent.turn("again")
    for text in (*room.shown, *room.questions):
        _check_harmless("the screen", text)


def _asks_again(make: Make, folder: str) -> None:
    room = Room(make, folder)
    with room.agent(ScriptedModel([BUSY, BUSY, ModelTurn("third time")])) as agent:
        same("two failures, then an answer", "third time", agent.turn("go"))
        waits = [event for event in agent.events if event.type == "retry.wait"]
        same("each wait on record", 2, len(waits))
        asked_us = sum(int(str(event.payload["wait_us"])) for event in waits)
        same("what the waiter was asked to wait, in µs", asked_us, room.waiter.waited_us)
    with room.agent(ScriptedModel([BUSY] * 20 + [ModelTurn("never")])) as agent:
        same("twenty failures: the answer", "", agent.turn("go"))


def _not_after_text(make: Make, folder: str) -> None:
    room = Room(make, folder)
    model = Streams(["Half an ", BUSY], [ModelTurn("Fine.")])
    with room.agent(model) as agent:
        same("a stream that breaks after text: the answer", "", agent.turn("go"))
        same("how often the model was asked", 1, model.asked)
        before = len(room.shown)
        if not before or not any("busy" in text for text in room.shown):
            raise mistake("a line on the screen that says why", quote(room.shown), DEEP)
        same("the next turn, by the same agent", "Fine.", agent.turn("go on"))


def _bounds(make: Make, folder: str) -> None:
    room = Room(make, folder, *["y"] * 40)
    model = ScriptedModel([runs(f"c{n}", "echo x >> many") for n in range(40)])
    with room.agent(model) as agent:
        same("a model that asks for ever: the answer", "", agent.turn("go"))
    if len(model.requests) > 8:
        raise mistake("at most 8 requests a turn", f"{len(model.requests)}", DEEP)
    calls = tuple(call for n in range(17) for call in runs(f"d{n}", "echo x >> more").tool_calls)
    room.lines = ["y"] * 40
    with room.agent(ScriptedModel([ModelTurn(tool_calls=calls), ModelTurn("ok")])) as agent:
        same("17 calls at once: the answer", "", agent.turn("go"))
    same("17 calls at once: anything ran", False, (room.work / "more").exists())


def _save_points(make: Make, folder: str) -> None:
    room = Room(make, folder, "y")
    seen: list[list[str]] = []
    names: list[str] = []
    command = f"cp -r {room.home} copy"
    model = Looks(lambda: seen.append(room.kinds(names[0])), [runs("c1", command), ModelTurn("ok")])
    with room.agent(model) as agent:
        names.append(agent.session_id)
        agent.turn("go")
    first = ["session", "user_input"]
    same("on disk at the first request", first, seen[0])
    copied = Path(room.work, "copy", "sessions", f"{names[0]}.jsonl")
    with open(copied, "rb") as file:
        kinds = [json.loads(line)["kind"] for line in file]
    same("on disk while the command runs", [*first, "model_response", "tool_start"], kinds)
    same("on disk at the second request", [*kinds, "tool_result"], seen[1])


def _resume(make: Make, folder: str) -> None:
    room = Room(make, folder, "y")
    with room.agent(ScriptedModel([runs("c1", "echo x >> once"), ModelTurn("ok")])) as agent:
        session_id = agent.session_id
        agent.turn("first")
    model = ScriptedModel([ModelTurn("You said: first.")])
    with room.agent(model, session_id) as agent:
        same("the session's id", session_id, agent.session_id)
        same("the answer", "You said: first.", agent.turn("second"))
    roles = [m.role for m in model.requests[0] if m.role != "system"]
    wanted = ["user", "assistant", "tool", "assistant", "user"]
    same("after a restart the roles of the first request", wanted, roles)
    same("lines that the command wrote", 1, (room.work / "once").read_text().count("x"))


def _after_crash(make: Make, folder: str) -> None:
    room = Room(make, folder)
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
        same("requests before anybody said anything", 0, len(model.requests))
        if not any("interrupted" in text.lower() for text in room.shown):
            raise mistake("a notice about the interrupted turn", quote(room.shown), DEEP)
        same("the turn after it", "ok", agent.turn("go on"))
    same("the command has run again", False, (room.work / "again").exists())
    same("the session closed and continued", "turn_end", room.kinds("wreck")[5])


def _one_at_a_time(make: Make, folder: str) -> None:
    room = Room(make, folder)
    with room.agent(ScriptedModel([])) as agent:
        try:
            with room.agent(ScriptedModel([]), agent.session_id):
                saw = "it was opened twice"
        except SessionError:
            return
    raise mistake("a SessionError for a session that is in use", saw, DEEP)


def _ctrl_c(make: Make, folder: str) -> None:
    room = Room(make, folder, KeyboardInterrupt())
    model = ScriptedModel([runs("c1", "echo x > ran"), ModelTurn("Here I am.")])
    with room.agent(model) as agent:
        same("Ctrl+C at the question: the answer", "", agent.turn("go"))
        same("the command has run", False, (room.work / "ran").exists())
        same("requests", 1, len(model.requests))
        same("the next turn", "Here I am.", agent.turn("still there?"))


def _trace(make: Make, folder: str) -> None:
    room = Room(make, folder, "y", "n")
    calls = runs("c1", "echo a").tool_calls + runs("c2", "echo b").tool_calls
    with room.agent(ScriptedModel([ModelTurn(tool_calls=calls), ModelTurn("ok")])) as agent:
        agent.turn("go")
    agent.close()
    types = [event.type for event in agent.events]
    same("the first and the last event", ["session.start", "session.stop"], [types[0], types[-1]])
    same("one session.stop, also when closed twice", 1, types.count("session.stop"))
    same("numbers without gaps", list(range(len(types))), [e.sequence for e in agent.events])
    same("a result for each call", types.count("tool.call"), types.count("tool.result"))
    same("a start for the call that was allowed", 1, types.count("tool.start"))
    started = agent.events[0].payload["session_id"]
    same("the session's id in the trace", agent.session_id, started)
