"""s06 demo: a process is killed in the middle of a tool; both replay rules open what it left.

The child process is real, and so is the SIGKILL. Its letter is sent before the kill, but no result
is on disk: nobody who reads the file can know. Nothing is sent again.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile

from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import Prepared, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import GoldenClock, Recorder
from curriculum.lessons.show import show
from curriculum.sessions.observe import show_acknowledgement, show_recovery
from curriculum.sessions.store import SessionStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from curriculum.core.tools import RunningCall

SESSION = "session-1"
PROMPT = "Send the invitation to Ada and to Grace."
LOOKED = "I asked Ada: she has hers. Send the other one."


# region: send
class Send:
    """A tool that sends a letter: a line in the outbox, which is the world of this demo."""

    definition = ToolDefinition(
        "send",
        "Sends the invitation to one person.",
        {
            "type": "object",
            "properties": {"to": {"type": "string"}},
            "required": ["to"],
            "additionalProperties": False,
        },
    )

    def __init__(self, outbox: str, sent: Callable[[], None] = lambda: None) -> None:
        self._outbox, self._sent = outbox, sent

    def prepare(self, arguments: str) -> Prepared:
        to = json.loads(arguments)["to"]  # s03 shows how strict a real tool has to be here
        return Prepared({"to": to}, to)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        with open(self._outbox, "a") as outbox:
            outbox.write(f"{prepared.action}\n")
        self._sent()
        return ToolResult("completed", "sent")


# endregion


def letter(call_id: str, to: str) -> ToolCall:
    """A proposal to send a letter."""
    return ToolCall(call_id, "send", json.dumps({"to": to}))


# region: killed
def run_and_be_killed(home: str, outbox: str) -> None:
    """Let a child process run the first turn, and kill it when its first letter is sent."""
    sent, tell = os.pipe()
    wait, hold = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(hold)  # should the parent go away, the child does not wait for ever

            def stay() -> None:
                os.write(tell, b"!")
                os.read(wait, 1)

            first_turn(home, outbox, stay)
        finally:
            os._exit(1)  # not reached: a process that is killed cleans nothing up
    os.close(tell)
    told = os.read(sent, 1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    for end in (sent, wait, hold):
        os.close(end)
    if not told:
        raise RuntimeError("the child process came to no letter")


def first_turn(home: str, outbox: str, sent: Callable[[], None]) -> None:
    """A turn with two calls. `sent` is called when a letter is out, before that is on record."""
    calls = (letter("call-1", "Ada"), letter("call-2", "Grace"))
    model = ScriptedModel([ModelTurn("Two letters.", tool_calls=calls), ModelTurn("Both sent.")])
    tools = ToolBox([Send(outbox, sent)], granted=["send"])
    with SessionStore.create(home, SESSION, clock=GoldenClock()) as store:
        AgentRunner(model, tools, journal=store, recorder=Recorder.golden()).turn(PROMPT)


# endregion


def describe(home: str, outbox: str) -> list[str]:
    """Two lines: what was sent, and what is on disk."""
    with open(outbox) as file:
        sent = file.read().split()
    with open(os.path.join(home, "sessions", f"{SESSION}.jsonl"), "rb") as file:
        kinds = [json.loads(line)["kind"] for line in file]
    return [f"sent: {' '.join(sent)}", f"on disk: {' '.join(kinds)}"]


def replayed(store: SessionStore) -> str:
    """A line: what of it the model would be shown."""
    roles = [message.role for message in store.replay.messages]
    return f"replayed: {' '.join(roles) or 'nothing'}"


# region: rules
def look_with_completed_only(home: str, outbox: str) -> list[str]:
    """Rule one: a turn that did not complete stays in the file; the user is told, the model not."""
    with SessionStore.open(home, SESSION, rule="completed-only", clock=GoldenClock()) as store:
        return [*describe(home, outbox), replayed(store), store.replay.notice]


def go_on_with_evidence(home: str, outbox: str, told: list[str]) -> AgentRunner:
    """Rule two: the model reads what is known; the user acknowledges what is not; it goes on."""
    model = ScriptedModel(
        [
            ModelTurn("Only Grace is left.", tool_calls=(letter("call-3", "Grace"),)),
            ModelTurn("Ada and Grace each have one invitation.", stop=True),
        ]
    )
    recorder = Recorder.golden()
    recorder.ids.next("turn")  # turn-1 is in the file
    with SessionStore.open(home, SESSION, rule="with-evidence", clock=GoldenClock()) as store:
        told += [*describe(home, outbox), replayed(store)]
        runner = AgentRunner(
            model,
            ToolBox([Send(outbox)], granted=["send"]),
            history=store.replay.messages,
            journal=store,
            recorder=recorder,
        )
        runner.start(store.session_id, resumed_from=store.session_id)
        show_recovery(recorder, store)
        for outcome in store.unacknowledged:
            told.append(f"acknowledged: nobody knows what came of {outcome.call.call_id}")
            store.acknowledge(outcome, by="user")
            show_acknowledgement(recorder, outcome, by="user")
        result = runner.run(LOOKED)
    told += [*describe(home, outbox), ""]
    show(result, before=told)
    return runner


# endregion


# region: main
def main() -> AgentRunner:
    """Kill, open under both rules, go on; returns the runner that went on. Leaves nothing."""
    with tempfile.TemporaryDirectory() as folder:
        home, copy, outbox = (os.path.join(folder, name) for name in ("home", "copy", "outbox"))
        run_and_be_killed(home, outbox)
        told = ["-- killed", *describe(home, outbox)]
        shutil.copytree(home, copy)  # so that each rule meets the same wreck
        told += ["", "-- rule completed-only", *look_with_completed_only(copy, outbox)]
        told += ["", "-- rule with-evidence"]
        return go_on_with_evidence(home, outbox, told)


# endregion

if __name__ == "__main__":
    main()
