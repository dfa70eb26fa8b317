"""smolagents: a ToolCallingAgent with a model of our own; its output is off.

It ends by a call of its tool `final_answer`, which takes the place of the last answer in words.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from smolagents import LogLevel, Tool, ToolCallingAgent
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
    Model,
)

VERSION = version("smolagents")


class Scripted(Model):
    def __init__(self, turns: int) -> None:
        super().__init__()
        self.left = turns

    def generate(self, messages: Any, **kwargs: Any) -> ChatMessage:
        self.left -= 1
        name, arguments = ("echo", {}) if self.left else ("final_answer", {"answer": "done"})
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        call = ChatMessageToolCall(function=function, id=f"call-{self.left}", type="function")
        return ChatMessage(role=MessageRole.ASSISTANT, content="next", tool_calls=[call])


class Echo(Tool):
    name = "echo"
    description = "Echo."
    inputs: dict[str, Any] = {}  # noqa: RUF012
    output_type = "string"
    calls = 0

    def forward(self) -> str:
        self.calls += 1
        return "echoed"


def make(turns: int) -> Callable[[], int]:
    echo = Echo()
    agent = ToolCallingAgent(
        tools=[echo], model=Scripted(turns), max_steps=turns, verbosity_level=LogLevel.OFF
    )

    def run() -> int:
        assert agent.run("go") == "done"
        return echo.calls

    return run
