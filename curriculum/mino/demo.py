"""The model of `mino --demo`: a script behind a real HTTP endpoint, read by the real adapter.

It asks for the command that the user names after "run" or between backticks, and then says what
came of it. It knows nothing else, and says so. Nothing leaves this computer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import Retry
from curriculum.core.seams import CancelToken
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.responses import ResponsesModel
from curriculum.providers.scripted_answers import answer_events
from curriculum.providers.scripted_endpoint import ScriptedEndpoint

if TYPE_CHECKING:
    from curriculum.core.model import Descriptors

PAUSE_SECONDS = 0.03  # between pieces, so that one can see them arrive
PATH = "/v1/responses"
_QUOTED = re.compile(r"`([^`]+)`")
_NAMED = re.compile(r"\brun (.+?)(?:,|;| and | then | to |[.?!]?$)", re.IGNORECASE)
_REASON = re.compile(r"^policy .*? refused this call \((.+)\);")
HELLO = (
    "I am a script, not a model: there is no key and no network here. "
    "Say for example: Run uname -s and tell me what it says."
)


class DemoModel:
    """Answers through an endpoint on loopback that lives for one request."""

    def __init__(self, cancel: CancelToken) -> None:
        self._cancel = cancel

    def stream(
        self, messages: Sequence[Message], tools: Descriptors
    ) -> Iterator[str | Retry | ModelTurn]:
        with ScriptedEndpoint({"exchanges": [exchange(messages)]}) as server:
            endpoint = Endpoint(server.url, "demo")
            yield from ResponsesModel(endpoint, "demo", cancel=self._cancel).stream(messages, tools)


def exchange(messages: Sequence[Message]) -> dict[str, Any]:
    """The answer to this conversation, as an exchange of a scenario."""
    steps: list[dict[str, Any]] = []
    for event in answer_events(PATH, answer_to(messages)):
        if event["type"] == "response.output_text.delta":
            steps.append({"stall": PAUSE_SECONDS})
        steps.append({"event": event})
    return {"send": steps}


# region: answer
def answer_to(messages: Sequence[Message]) -> Mapping[str, Any]:
    """What the script says: a call for what was asked, or words about what came of it."""
    last = messages[-1]
    if last.role == "tool":
        return {"text": words_about(json.loads(last.content))}
    named = _QUOTED.search(last.content) or _NAMED.search(last.content)
    if not named:
        return {"text": HELLO}
    command = named[1].strip()
    number = sum(len(message.tool_calls) for message in messages) + 1
    call = {"call_id": f"demo-{number}", "name": "bash", "arguments": {"command": command}}
    return {"calls": [call]}


# endregion


def words_about(result: Mapping[str, Any]) -> str:
    """What a result says, in words."""
    status, output = result["status"], result["output"].strip()
    if status == "denied":
        reason = _REASON.search(output)
        if reason:  # nobody refused: no rule allows it, or no answer came
            return f"I could not check, as {reason[1]}. Nothing was run."
        return "You refused the command, so I could not check. Nothing was run."
    if status == "completed":
        return f"The command printed: {output}" if output else "The command printed nothing."
    code = f" with exit code {result['exit_code']}" if "exit_code" in result else ""
    why = f": {output}" if output else ""
    return f"The command did not succeed ({status}{code}), so I do not know{why}"
