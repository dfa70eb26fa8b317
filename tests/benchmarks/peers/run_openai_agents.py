"""openai-agents: Runner.run_sync with a model of our own; its tracing is off."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "1")

from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

VERSION = version("openai-agents")
set_tracing_disabled(True)


class Scripted(Model):
    def __init__(self, turns: int) -> None:
        self.left = turns

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        self.left -= 1
        if self.left:
            call = ResponseFunctionToolCall(
                arguments="{}", call_id=f"call-{self.left}", name="echo", type="function_call"
            )
            return ModelResponse(output=[call], usage=Usage(), response_id=None)
        text = ResponseOutputText(text="done", type="output_text", annotations=[])
        message = ResponseOutputMessage(
            id="m", content=[text], role="assistant", status="completed", type="message"
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def make(turns: int) -> Callable[[], int]:
    calls = 0

    @function_tool
    def echo() -> str:
        """Echo."""
        nonlocal calls
        calls += 1
        return "echoed"

    agent = Agent(name="agent", model=Scripted(turns), tools=[echo])

    def run() -> int:
        result = Runner.run_sync(agent, "go", max_turns=turns)
        assert result.final_output == "done"
        return calls

    return run
