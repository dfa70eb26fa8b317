"""s12 demo: a whole agent: a rate limit, an approved command, a refused one, a forbidden one.

The provider is a script behind real HTTP on loopback; the person is a list of lines. All else is
what a program would use, and the session lies in a temporary directory that is removed.
"""

from __future__ import annotations

import json
import sys
import tempfile

from curriculum.core.loop import AgentRunner
from curriculum.core.seams import CancelToken
from curriculum.core.trace import GoldenClock, Ids, Recorder
from curriculum.core.values import replace
from curriculum.core.waiting import EachEvent, VirtualTime
from curriculum.lessons.needs import without_httpx
from curriculum.lessons.show import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from curriculum.core.approval import ApprovalRequest

COUNT = "How many words has 'to be or not to be'?"
CLEAN = "Delete my notes, please, whatever it takes."


# region: scenario
def bash_call(call_id: str, command: str) -> dict[str, object]:
    """A proposal to run a command."""
    return {"call_id": call_id, "name": "bash", "arguments": {"command": command}}


SCENARIO = {
    "exchanges": [
        {
            "status": 429,
            "headers": {"retry-after": "2", "content-type": "application/json"},
            "send": [{"raw": '{"error": {"code": "rate_limit_exceeded", "message": "slow down"}}'}],
        },
        {
            "answer": {
                "reasoning": "c2VhbGVk",
                "calls": [bash_call("call-1", "echo to be or not to be | wc -w")],
            }
        },
        {"answer": {"pieces": ["There are ", "6 words."]}},
        {
            "answer": {
                "calls": [
                    bash_call("call-2", "rm -r notes"),
                    bash_call("call-3", "sudo rm -r notes"),
                ]
            }
        },
        {"answer": {"text": "You refused, so nothing was deleted."}},
    ]
}
LINES = ["y", ""]  # what the person types: yes to the first question, Enter at the second
# endregion


# region: main
def main() -> AgentRunner:
    """Run the demo and return its runner."""
    from curriculum.lessons.s12_mino.agent import Screen, assemble
    from curriculum.providers.endpoint import Endpoint
    from curriculum.providers.responses import ResponsesModel
    from curriculum.providers.scripted_endpoint import ScriptedEndpoint
    from curriculum.sessions.store import SessionStore
    from curriculum.tools.bash import Bash

    seen: list[str] = []
    screen, typed = Screen(seen.append), iter(LINES)

    def ask(request: ApprovalRequest) -> str | None:
        screen.question(request)
        return next(typed, None)

    time, cancel = VirtualTime(), CancelToken()
    recorder = Recorder(EachEvent(time), Ids(), "scripted", screen.observe)
    bash = Bash(directory="/", environment={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
    with (
        tempfile.TemporaryDirectory() as home,
        SessionStore.create(home, "session-1", clock=GoldenClock()) as store,
        ScriptedEndpoint(SCENARIO) as provider,
    ):
        model = ResponsesModel(Endpoint(provider.url, "demo-key"), "scripted", cancel=cancel)
        runner = assemble(model, store, ask, time, recorder, cancel, bash)
        runner.turn(COUNT)
        result = runner.stop(runner.turn(CLEAN))
        with open(store.path, "rb") as file:
            kinds = [json.loads(line)["kind"] for line in file]
    show(replace(result, final_text=""), [*seen, f"On disk: {' '.join(kinds)}"])
    return runner


# endregion

if __name__ == "__main__":
    if missing := without_httpx():
        sys.exit(f"demo: {missing}")
    main()
