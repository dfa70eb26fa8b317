"""The bounds of a turn (seed): 8 requests, 16 calls, no batch without room for a next request."""

from __future__ import annotations

import pytest

from curriculum.core.loop import AgentConfig, AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from tests.core.parts import (
    Probe,
    asks,
    call,
    ends_well,
    payloads,
    runner_of,
    statuses,
    types,
)


def test_a_fictional_call_with_one_turn_ends_in_error_then_stop() -> None:
    model = ScriptedModel([ModelTurn(tool_calls=(ToolCall("c1", "fiction"),))])
    result = AgentRunner(model, config=AgentConfig(max_turns=1)).run("go")
    assert result.stop_reason == "max-turns"
    assert types(result)[-2:] == ["error", "session.stop"]
    assert result.events[-2].payload["max_turns"] == 1


def test_the_defaults_are_eight_requests_and_sixteen_calls() -> None:
    assert (AgentConfig().max_turns, AgentConfig().max_tool_calls) == (8, 16)


@pytest.mark.parametrize("limit", [1, 2, 8])
def test_the_last_response_that_still_asks_is_not_acted_on(limit: int) -> None:
    probe = Probe()
    script = [asks(call(number)) for number in range(limit + 3)]
    result = ends_well(runner_of(script, probe, max_turns=limit).run("go"))
    assert result.stop_reason == "max-turns"
    assert len(probe.ran) == limit - 1
    assert statuses(result)[f"call-{limit - 1}"] == "not_executed"
    assert types(result).count("model.request") == limit


def test_a_last_response_without_calls_completes() -> None:
    result = ends_well(
        runner_of([asks(call(0)), ModelTurn("done")], Probe(), max_turns=2).run("go")
    )
    assert (result.stop_reason, result.final_text) == ("completed", "done")


@pytest.mark.parametrize(("first", "second", "runs"), [(16, 1, 16), (10, 7, 10), (17, 0, 0)])
def test_a_batch_that_does_not_fit_runs_nothing_of_itself(
    first: int, second: int, runs: int
) -> None:
    probe = Probe()
    batches = [
        asks(*[call(number) for number in range(first)]),
        asks(*[call(number) for number in range(first, first + second)]),
    ]
    result = ends_well(runner_of(batches, probe).run("go"))
    assert result.stop_reason == "max-tool-calls"
    assert len(probe.ran) == runs
    assert list(statuses(result).values()).count("not_executed") == first + second - runs
    assert payloads(result, "error")[0]["max_tool_calls"] == 16


def test_exactly_as_many_calls_as_allowed_run() -> None:
    probe = Probe()
    script = [asks(*[call(number) for number in range(16)]), ModelTurn("done")]
    assert ends_well(runner_of(script, probe).run("go")).stop_reason == "completed"
    assert len(probe.ran) == 16


def test_unknown_tools_count_towards_the_calls() -> None:
    script = [asks(*[call(number, "shell") for number in range(2)])]
    result = ends_well(runner_of(script, max_tool_calls=1).run("go"))
    assert result.stop_reason == "max-tool-calls"


def test_a_limit_counts_within_one_turn_of_a_conversation() -> None:
    probe = Probe()
    script = [asks(call(0)), ModelTurn("one"), asks(call(1)), ModelTurn("two")]
    runner = runner_of(script, probe, max_turns=2, max_tool_calls=1)
    assert runner.turn("first").stop_reason == "completed"
    assert ends_well(runner.run("second")).stop_reason == "completed"


def test_stop_true_with_calls_still_acts_and_stop_false_without_calls_ends() -> None:
    probe = Probe()
    turn = ModelTurn("", (call(0),), stop=True)
    result = ends_well(runner_of([turn, ModelTurn("done", stop=False)], probe).run("go"))
    assert probe.ran == ["{}"]
    assert result.final_text == "done"


@pytest.mark.parametrize("config", [AgentConfig(0), AgentConfig(-1), AgentConfig(1, -1)])
def test_impossible_limits_are_refused(config: AgentConfig) -> None:
    with pytest.raises(ValueError, match="max_turns must be at least 1"):
        AgentRunner(ScriptedModel([]), config=config)


@pytest.mark.parametrize("empty", ["agent_id", "model_id", "harness"])
def test_a_session_has_names(empty: str) -> None:
    with pytest.raises(ValueError, match="must not be empty"):
        AgentRunner(ScriptedModel([]), config=AgentConfig(**{empty: ""}))  # type: ignore[arg-type]


def test_a_stopped_session_takes_no_more_turns() -> None:
    runner = runner_of([ModelTurn("done"), ModelTurn("more")])
    result = runner.run("go")
    for again in (lambda: runner.turn("x"), lambda: runner.run("x"), lambda: runner.stop(result)):
        with pytest.raises(RuntimeError, match="make a new AgentRunner"):
            again()
    assert len(runner.recorder.events) == len(result.events)
