"""What the tool conformance kit needs to know of a tool, and how one call is run for real.

`ToolUnderTest` is the harness that an author writes around a tool: the tool in a small world, a few
calls by what comes of them, and what the world looks like.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal, Protocol

from curriculum.core.approval import ApprovalRequest, Decision
from curriculum.core.loop import AgentRunner, RunResult
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import Tool, ToolBox
from curriculum.grading.mistakes import mistake, place

__unittest = True

STEPS = 's03, "Step by step"'


class ToolUnderTest(Protocol):
    """The harness around one tool."""

    @property
    def lacks(self) -> Mapping[str, str]:
        """Names of checks that do not apply to this tool, each with the reason."""

    def build(self) -> Tool:
        """The tool, in a world that is as it was at first."""

    def world(self) -> object:
        """All that the tool could change, to be compared with ==."""

    def good(self) -> str:
        """Raw arguments of a call that completes; if the tool acts, it changes the world."""

    def failing(self) -> str:
        """Raw arguments that are valid, of a call that fails when it runs."""

    def bad(self) -> Mapping[str, str]:
        """Raw arguments to refuse beyond those that are bad for any tool, by what is wrong."""

    def flooding(self) -> tuple[str, str, int]:
        """Raw arguments with too much output, that whole output, and the limit in bytes."""


class Answers:
    """An approver that always gives one answer and keeps the questions."""

    def __init__(self, decision: Literal["allow", "deny"]) -> None:
        self.requests: list[ApprovalRequest] = []
        self._decision = decision

    def decide(self, request: ApprovalRequest) -> Decision:
        self.requests.append(request)
        return Decision(self._decision, "user", "tester")


def run_call(
    tool: Tool, arguments: str, approver: Answers, name: str = "", call_id: str = "call-1"
) -> RunResult:
    """One call behind a real runner: the model asks for it, then reads the result and stops."""
    call = ToolCall(call_id, name or tool.definition.name, arguments)
    model = ScriptedModel([ModelTurn(tool_calls=(call,)), ModelTurn("done")])
    return AgentRunner(model, ToolBox([tool]), approver=approver).run("go")


def result_of(run: RunResult, call_id: str = "call-1") -> Mapping[str, object]:
    """Payload of the one tool.result of the call. Raises AssertionError if the run broke."""
    results = [e.payload for e in run.events if e.type == "tool.result"]
    results = [payload for payload in results if payload["call_id"] == call_id]
    if run.stop_reason != "completed" or len(results) != 1:
        at = place(run.error) if run.error else ""
        saw = f"the run stopped as {run.stop_reason!r}: {run.error}{at}"
        raise mistake("one result, and a run that goes on to its end", saw, STEPS)
    return results[0]


def bad_arguments(good: str, thorough: bool = True) -> dict[str, str]:
    """Raw arguments that no strict tool accepts, by what is wrong, made from good ones."""
    fields = json.loads(good)
    name = next(iter(fields))
    cases = {
        "no JSON": "to be or not to be",
        "nothing": "",
        "half an object": good[:-1],
        "text after the object": good + " {}",
        "an array": "[]",
        "null": "null",
        "a string": '"text"',
        "an unknown field": json.dumps({**fields, "surprise": 1}),
        "a duplicate field": f'{{{json.dumps(name)}: "first", {good.strip()[1:]}',
    }
    for field, content in fields.items():
        rest = {key: value for key, value in fields.items() if key != field}
        cases[f"no {field}"] = json.dumps(rest)
        if isinstance(content, str):
            for kind, other in {"a number": 7, "null": None, "true": True, "a list": ["x"]}.items():
                cases[f"{kind} as {field}"] = json.dumps({**fields, field: other})
            if thorough:
                cases[f"a lone surrogate in {field}"] = f'{{"{field}": "\\ud83d"}}'
    if thorough:
        cases["NaN"] = f'{{"{name}": NaN}}'
        cases["deep nesting"] = f'{{"{name}": ' + "[" * 100_000
        cases["a huge number"] = f'{{"{name}": {"9" * 10_000}}}'
    return cases
