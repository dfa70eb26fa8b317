"""pydantic-ai: Agent.run_sync with its FunctionModel."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import UsageLimits

VERSION = version("pydantic-ai-slim")


def make(turns: int) -> Callable[[], int]:
    left, calls = turns, 0

    def answer(messages: Any, info: Any) -> ModelResponse:
        nonlocal left
        left -= 1
        if left:
            call = ToolCallPart("echo", {}, tool_call_id=f"call-{left}")
            return ModelResponse(parts=[TextPart("next"), call])
        return ModelResponse(parts=[TextPart("done")])

    agent = Agent(FunctionModel(answer))

    @agent.tool_plain
    def echo() -> str:
        """Echo."""
        nonlocal calls
        calls += 1
        return "echoed"

    def run() -> int:
        result = agent.run_sync("go", usage_limits=UsageLimits(request_limit=None))
        assert result.output == "done"
        return calls

    return run
