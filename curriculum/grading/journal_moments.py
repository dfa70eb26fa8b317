"""A real run over a journal, stopped dead at the moment before one of its steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curriculum.core.approval import ApprovalRequest, Decision
from curriculum.core.journal import Journal
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import Recorder
from curriculum.grading.killed_process import die

MOMENTS: Mapping[str, tuple[str, ...]] = {
    "before the first request": ("user_input",),
    "before the question": ("user_input", "model_response"),
    "before the tool acts": ("user_input", "model_response", "tool_start"),
    "before the next request": ("user_input", "model_response", "tool_start", "tool_result"),
    "after the turn": (
        *("user_input", "model_response", "tool_start", "tool_result"),
        *("model_response", "turn_end"),
    ),
}
"""What has to be on disk at each moment."""


class Moments:
    """Model, approver and tool in one; each step first asks whether this is the last moment."""

    definition = ToolDefinition("echo", "Gives back its arguments.", {"type": "object"})

    def __init__(self, last: str) -> None:
        self._last = last
        call = ToolCall("call-1", "echo", '{"text": "hi"}')
        self._model = ScriptedModel([ModelTurn(tool_calls=(call,)), ModelTurn("done")])

    def reach(self, moment: str) -> None:
        """End this process if the moment is the last one."""
        if moment == self._last:
            die()

    def respond(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> ModelTurn:
        is_first = not self._model.requests
        self.reach("before the first request" if is_first else "before the next request")
        return self._model.respond(messages, tools)

    def decide(self, request: ApprovalRequest) -> Decision:
        self.reach("before the question")
        return Decision("allow", "user", "user")

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({"arguments": arguments}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        self.reach("before the tool acts")
        return ToolResult("completed", str(prepared.action))


def run_until(moment: str, journal: Journal) -> None:
    """One turn with one call; this process does not live beyond the moment."""
    moments = Moments(moment)
    runner = AgentRunner(
        moments,
        ToolBox([moments]),
        approver=moments,
        journal=journal,
        recorder=Recorder.golden(),
    )
    result = runner.turn("echo")
    if result.error:
        raise result.error
    moments.reach("after the turn")
