"""This project: every event of the run is recorded and kept."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from curriculum import __version__ as VERSION
from curriculum.core.loop import AgentConfig, AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult

__all__ = ["VERSION", "make"]


class Echo:
    definition = ToolDefinition("echo", "Echo.", {"type": "object"})

    def __init__(self) -> None:
        self.calls = 0

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({"arguments": arguments}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        self.calls += 1
        return ToolResult("completed", "echoed")


def make(turns: int) -> Callable[[], int]:
    script = [ModelTurn("next", (ToolCall(f"call-{n}", "echo"),)) for n in range(turns - 1)]
    model, echo = ScriptedModel([*script, ModelTurn("done")]), Echo()
    runner = AgentRunner(model, ToolBox([echo], ["echo"]), AgentConfig(turns, turns))

    def run() -> int:
        assert runner.run("go").stop_reason == "completed"
        return echo.calls

    return run
