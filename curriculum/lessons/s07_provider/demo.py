"""s07 demo: the real adapter, real HTTP, a scripted provider; two answers count, one is cut off."""

from __future__ import annotations

import sys

from curriculum.core.loop import AgentRunner
from curriculum.core.tools import ToolBox
from curriculum.core.trace import Recorder
from curriculum.core.values import replace
from curriculum.lessons.needs import without_httpx
from curriculum.lessons.show import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from curriculum.providers.scripted_handler import Request

COUNT = "How many words has 'to be or not to be'?"
MORE = "And 'that is the question'?"
KEY = "demo-key"


# region: scenario
def call(call_id: str, text: str) -> dict[str, object]:
    """A proposal to count the words of a text."""
    command = {"command": f"echo {text} | wc -w"}
    return {"call_id": call_id, "name": "bash", "arguments": command}


CUT_ITEM = {
    "type": "function_call",
    "id": "fc_9",
    "status": "completed",
    "call_id": "call-2",
    "name": "bash",
    "arguments": '{"command":"echo that is the question | wc -w"}',
}
SCENARIO = {
    "exchanges": [
        # A sealed thought and a call.
        {"answer": {"reasoning": "c2VhbGVk", "calls": [call("call-1", "to be or not to be")]}},
        # Text, sent a few bytes at a time: no piece of it comes in one piece.
        {"answer": {"pieces": ["There are ", "6 words."]}, "bytes_at_once": 7},
        # A call that is done, in an answer that is not: the stream ends before it is completed.
        {
            "send": [
                {"event": {"type": "response.output_text.delta", "delta": "Let me count."}},
                {"event": {"type": "response.output_item.done", "item": CUT_ITEM}},
            ]
        },
    ]
}
# endregion


def describe(number: int, request: Request) -> str:
    """A line: what the items of a request are, as the provider got them."""
    kinds = [
        item["role"] if item["type"] == "message" else item["type"]
        for item in request.json()["input"]
    ]
    return f"request {number}: {' '.join(kinds)}"


# region: main
def main() -> AgentRunner:
    """Run the demo and return its runner. It opens a port on loopback, and nothing else."""
    from curriculum.providers.endpoint import Endpoint
    from curriculum.providers.responses import ResponsesModel
    from curriculum.providers.scripted_endpoint import ScriptedEndpoint
    from curriculum.tools.bash import Bash

    with ScriptedEndpoint(SCENARIO) as provider:
        bash = Bash(directory="/", environment={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
        runner = AgentRunner(
            ResponsesModel(Endpoint(provider.url, KEY), "scripted"),
            ToolBox([bash], granted=["bash"]),
            recorder=Recorder.golden(),
        )
        first = runner.turn(COUNT)
        second = runner.stop(runner.turn(MORE))
    told = [describe(number, request) for number, request in enumerate(provider.requests, 1)]
    show(replace(second, final_text=f"No answer: {second.error}."), [*told, first.final_text])
    return runner


# endregion

if __name__ == "__main__":
    if missing := without_httpx():
        sys.exit(f"demo: {missing}")
    main()
