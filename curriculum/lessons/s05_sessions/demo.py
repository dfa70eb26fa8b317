"""s05 demo: before each step, what is on disk; then the trace, with a journal.append a record.

The session lies in a temporary directory that is removed at the end. Named as an argument, a
directory is used instead, and kept, so that the file can be looked at.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

from curriculum.core.approval import HumanApprover
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import ToolBox
from curriculum.core.trace import GoldenClock, Recorder
from curriculum.lessons.show import show
from curriculum.sessions.errors import SessionError
from curriculum.sessions.store import SessionStore
from curriculum.tools.bash import Bash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from curriculum.core.approval import ApprovalRequest
    from curriculum.core.messages import Message
    from curriculum.core.model import Descriptors
    from curriculum.core.tools import Prepared, RunningCall, ToolDefinition, ToolResult

PROMPT = "How many words are in 'to be or not to be'?"
COMMAND = '{"command":"echo to be or not to be | wc -w"}'


# region: look
class Onlooker:
    """Stands at each seam and notes what is on disk at that moment: it opens the file anew."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.seen: list[str] = []

    def look(self, moment: str) -> None:
        """Note the kinds of the records in the file."""
        with open(self._path, "rb") as file:
            kinds = [json.loads(line)["kind"] for line in file]
        self.seen.append(f"{moment:<21} on disk: {' '.join(kinds)}")


# endregion


class WatchedModel:
    """A scripted model; before each answer the onlooker looks."""

    def __init__(self, model: ScriptedModel, onlooker: Onlooker) -> None:
        self._model, self._onlooker = model, onlooker
        self.requests = model.requests

    def respond(self, messages: Sequence[Message], tools: Descriptors) -> ModelTurn:
        self._onlooker.look(f"before request {len(self.requests) + 1}")
        return self._model.respond(messages, tools)


class WatchedBash:
    """Bash; before it runs the onlooker looks."""

    def __init__(self, bash: Bash, onlooker: Onlooker) -> None:
        self._bash, self._onlooker = bash, onlooker

    @property
    def definition(self) -> ToolDefinition:
        return self._bash.definition

    def prepare(self, arguments: str) -> Prepared:
        return self._bash.prepare(arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        self._onlooker.look("before the command")
        return self._bash.execute(prepared, call)


# region: main
def main(home: str = "") -> AgentRunner:
    """Run the demo and return its runner; its session is in `home`, or nowhere any more."""
    if home:
        return run(home)
    with tempfile.TemporaryDirectory() as folder:
        # A person is told; what programs read is the same each time.
        if sys.stderr and sys.stderr.isatty():
            print(f"the session is in {folder} until the demo ends", file=sys.stderr)
        return run(folder)


def run(home: str) -> AgentRunner:
    """One turn over a new session in `home`: a store is a Journal, so it plugs into that seam."""
    with SessionStore.create(home, "session-1", clock=GoldenClock()) as store:
        onlooker = Onlooker(store.path)

        def ask(request: ApprovalRequest) -> str:
            onlooker.look("before the approval")
            return "y"

        model = ScriptedModel(
            [
                ModelTurn("I will count them.", tool_calls=(ToolCall("call-1", "bash", COMMAND),)),
                ModelTurn("There are 6 words.", stop=True),
            ]
        )
        bash = Bash(directory="/", environment={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
        runner = AgentRunner(
            WatchedModel(model, onlooker),
            ToolBox([WatchedBash(bash, onlooker)]),
            approver=HumanApprover(ask),
            journal=store,
            recorder=Recorder.golden(),
        )
        runner.start(store.session_id)
        result = runner.run(PROMPT)
        onlooker.look("at the end")
    show(result, before=onlooker.seen)
    return runner


# endregion

if __name__ == "__main__":
    try:
        main(*sys.argv[1:2])
    except SessionError as fault:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {fault}")
