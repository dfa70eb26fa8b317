"""mini-swe-agent: its DefaultAgent with a model and an environment of our own.

Its own test model renders its whole script in every step, which would be held against the agent.
It ends by a submission, which takes the place of the last answer in words.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

os.environ["MSWEA_SILENT_STARTUP"] = "1"
os.environ["MSWEA_GLOBAL_CONFIG_DIR"] = tempfile.mkdtemp(prefix="mini-swe-agent-")

from minisweagent import __version__ as VERSION
from minisweagent.agents.default import DefaultAgent
from minisweagent.exceptions import Submitted
from minisweagent.models.utils.actions_toolcall import format_toolcall_observation_messages

__all__ = ["VERSION", "make"]
TEMPLATE = "<returncode>{{output.returncode}}</returncode>\n<output>\n{{output.output}}</output>"


class Plain:
    config = None

    def get_template_vars(self, **kwargs: Any) -> dict[str, Any]:
        return {}

    def serialize(self) -> dict[str, Any]:
        return {}


class Scripted(Plain):
    def __init__(self, turns: int) -> None:
        self.left = turns

    def query(self, messages: Any, **kwargs: Any) -> dict[str, Any]:
        self.left -= 1
        command, call_id = ("echo" if self.left else "submit"), f"call-{self.left}"
        function = {"name": "bash", "arguments": f'{{"command": "{command}"}}'}
        return {
            "role": "assistant",
            "content": "next",
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
            "extra": {"actions": [{"command": command, "tool_call_id": call_id}], "cost": 0.0},
        }

    def format_message(self, **kwargs: Any) -> dict[str, Any]:
        return kwargs

    def format_observation_messages(
        self, message: Any, outputs: Any, template_vars: Any = None
    ) -> list[dict[str, Any]]:
        return format_toolcall_observation_messages(
            actions=message["extra"]["actions"],
            outputs=outputs,
            observation_template=TEMPLATE,
            template_vars=template_vars,
            multimodal_regex="",
        )


class Echo(Plain):
    def __init__(self) -> None:
        self.calls = 0

    def execute(self, action: dict[str, Any], cwd: str = "") -> dict[str, Any]:
        if action["command"] == "submit":
            extra = {"exit_status": "Submitted", "submission": "done"}
            raise Submitted({"role": "exit", "content": "done", "extra": extra})
        self.calls += 1
        return {"output": "echoed", "returncode": 0, "exception_info": ""}


def make(turns: int) -> Callable[[], int]:
    echo = Echo()
    agent = DefaultAgent(
        Scripted(turns), echo, system_template="s", instance_template="{{task}}", cost_limit=0
    )

    def run() -> int:
        assert agent.run("go")["submission"] == "done"
        return echo.calls

    return run
