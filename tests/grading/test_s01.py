"""The graders of s01 A and B are graded: the reference passes, wrong solutions are told why."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Sequence
from itertools import takewhile

import pytest

from curriculum.core.loop import AgentConfig, AgentRunner, RunResult
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.values import replace
from curriculum.grading.s01 import (
    grade_adapter,
    grade_cancellation,
    grade_first_request,
    grade_run_out_of_turns,
)
from curriculum.lessons.s01_agent_loop import demo, solutions
from curriculum.tests.under_test import VendorUnderTest


def test_the_reference_passes() -> None:
    grade_first_request(solutions.first_request)
    grade_run_out_of_turns(solutions.run_out_of_turns)
    assert solutions.CANCELLATION is not None
    grade_cancellation(solutions.CANCELLATION)
    grade_adapter(VendorUnderTest(solutions.adapter), VendorUnderTest.usage)


def test_first_request_of_the_demo_is_its_prompt() -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        runner = demo.main()
    assert solutions.first_request(runner) == (Message("user", demo.PROMPT),)


def requests(runner: AgentRunner) -> list[Sequence[Message]]:
    assert isinstance(runner.model, ScriptedModel)
    return runner.model.requests


def half_done(runner: AgentRunner) -> Sequence[Message]:
    assert requests(runner)
    raise NotImplementedError


WRONG_FIRST_REQUESTS: dict[str, tuple[Callable[[AgentRunner], object], str]] = {
    "the last request": (lambda runner: requests(runner)[-1], "what the last request showed"),
    "hard-coded": (lambda runner: (Message("user", demo.PROMPT),), "the prompt of this run was"),
    "up to the first answer": (
        lambda runner: list(takewhile(lambda m: m.role != "assistant", requests(runner)[0])),
        "the prompt of this run was",
    ),
    "texts, not messages": (
        lambda runner: [message.content for message in requests(runner)[0]],
        "not the Message values",
    ),
    "all requests": (requests, "not the Message values of one request"),
    "the second message": (lambda runner: requests(runner)[0][1:], "the prompt of this run was"),
    "printed": (lambda runner: print(requests(runner)[0]), "printing is not returning"),
    "nothing": (lambda runner: None, "first_request returned None\n"),
    "with the answer": (
        lambda runner: (*requests(runner)[0], Message("assistant", "done")),
        "the answer was not there yet",
    ),
    "without the system prompt": (
        lambda runner: [m for m in requests(runner)[0] if m.role != "system"],
        "system: 'Be brief.'",
    ),
    "crashes": (lambda runner: requests(runner)[7], r"IndexError.*test_s01.py, line \d+"),
    "half done": (half_done, r"half done: NotImplementedError \(test_s01.py, line \d+\)"),
}


@pytest.mark.parametrize("name", WRONG_FIRST_REQUESTS)
def test_a_wrong_first_request_is_told_why(name: str) -> None:
    wrong, message = WRONG_FIRST_REQUESTS[name]
    with pytest.raises(AssertionError, match=message):
        grade_first_request(wrong)  # type: ignore[arg-type]


def run_with(
    calls: Sequence[str], prompt: str, max_turns: int, max_tool_calls: int = 99
) -> RunResult:
    turns = [ModelTurn(tool_calls=(ToolCall(call_id, "fiction"),)) for call_id in calls]
    config = AgentConfig(max_turns=max_turns, max_tool_calls=max_tool_calls)
    return AgentRunner(ScriptedModel(turns), config=config).run(prompt)


def ids(count: int) -> list[str]:
    return [f"c{number}" for number in range(count)]


def forged(prompt: str, limit: int) -> RunResult:
    return RunResult("max-turns", (), ())


def edited(prompt: str, limit: int) -> RunResult:
    real = run_with(ids(limit - 1), prompt, limit)
    return RunResult("max-turns", real.messages, real.events)


class Fiction:
    """A tool where none should be."""

    definition = ToolDefinition("fiction", "Not so fictional.", {"type": "object"})

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({}, None)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        return ToolResult("completed")


def real_tool(prompt: str, limit: int) -> RunResult:
    turns = [ModelTurn(tool_calls=(ToolCall(call_id, "fiction"),)) for call_id in ids(limit)]
    config = AgentConfig(max_turns=limit, max_tool_calls=99)
    tools = ToolBox([Fiction()], granted=["fiction"])
    return AgentRunner(ScriptedModel(turns), tools, config).run(prompt)


def appended_twice(prompt: str, limit: int) -> RunResult:
    real = run_with(ids(limit), prompt, limit)
    return RunResult(real.stop_reason, real.messages * 2, real.events)


def without(type: str, count: bool) -> Callable[[str, int], RunResult]:
    """A real run with events taken out; unless `count`, session.stop is made to fit."""

    def run(prompt: str, limit: int) -> RunResult:
        real = run_with(ids(limit), prompt, limit)
        events = [event for event in real.events if event.type != type]
        if not count:
            payload = {**events[-1].payload, "event_count": len(events)}
            events[-1] = replace(events[-1], payload=payload)
        return RunResult(real.stop_reason, real.messages, tuple(events))

    return run


WRONG_RUNS: dict[str, tuple[Callable[[str, int], object], str]] = {
    "one turn too few": (
        lambda prompt, limit: run_with(ids(limit - 1), prompt, limit),
        "stopped as 'failed' because of: the script has only 0 turns",
    ),
    "ignores the limit": (
        lambda prompt, limit: run_with(["c"], prompt, 1),
        "an error of kind max-turns with max_turns=2",
    ),
    "room for 20 calls and no more": (
        lambda prompt, limit: run_with(ids(min(limit, 20)), prompt, limit),
        "the script has only 20 turns",
    ),
    "off by one": (
        lambda prompt, limit: run_with(ids(limit + 1), prompt, limit + 1),
        "max_turns=1\n.*'max_turns': 2",
    ),
    "one call id for all": (
        lambda prompt, limit: run_with(["c"] * limit, prompt, limit),
        "because of: the call_id 'c' was used before",
    ),
    "no tool call": (
        lambda prompt, limit: AgentRunner(ScriptedModel([ModelTurn("done")])).run(prompt),
        "stopped as 'completed'",
    ),
    "calls run out first": (
        lambda prompt, limit: run_with(ids(limit), prompt, limit, max_tool_calls=16),
        "stopped as 'max-tool-calls' because of: more than 16 tool calls.*max_tool_calls: raise it"
        " too\n.*step 3",
    ),
    "hard-coded prompt": (
        lambda prompt, limit: run_with(ids(limit), "go", limit),
        "one user message 'Task .*\n.*'go'",
    ),
    "the runner, not its result": (
        lambda prompt, limit: AgentRunner(ScriptedModel([])),
        "the RunResult that `run` returned",
    ),
    "a tool that is not fictional": (real_tool, "the trace has a tool.start"),
    "assistant appended twice": (appended_twice, "1 assistant messages, one an answer\n.*hold 2"),
    "events left out": (
        without("model.response", count=True),
        "a session.stop for max-turns",
    ),
    "requests left out": (
        without("model.request", count=False),
        "1 model requests\n.*the trace shows 0",
    ),
    "forged reason": (forged, "error and session.stop as last events"),
    "reason edited": (edited, "an error of kind max-turns"),
}


@pytest.mark.parametrize("name", WRONG_RUNS)
def test_a_wrong_run_out_of_turns_is_told_why(name: str) -> None:
    wrong, message = WRONG_RUNS[name]
    with pytest.raises(AssertionError, match=message):
        grade_run_out_of_turns(wrong)  # type: ignore[arg-type]
