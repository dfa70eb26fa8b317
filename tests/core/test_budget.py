"""What a run may cost: set aside before a step, settled after it, and no step that does not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.core.budget import AllOf, Limit, WallTime
from curriculum.core.errors import BudgetError, ContextOverflowError, TransientModelError
from curriculum.core.loop import RunResult
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
from curriculum.core.meters import Calls, Money, Prices, Tokens, Turns, most_tokens
from curriculum.core.seams import CancelToken
from curriculum.core.trace import Recorder
from curriculum.core.waiting import VirtualTime
from tests.core.parts import Answers, Probe, asks, call, ends_well, payloads, runner_of, types

SECOND = 1_000_000
PRICES = Prices(3_000_000, 15_000_000)  # 3 and 15 dollars per million tokens
GO = (Message("user", "go"),)


def used(input_tokens: int, output_tokens: int, *calls: ToolCall) -> ModelTurn:
    return ModelTurn("x", calls, usage=Usage(input_tokens, output_tokens))


def flat(tokens: int) -> Any:
    return lambda messages: tokens


def run(script: Sequence[object], budget: object, *tools: Probe, **seams: Any) -> RunResult:
    return ends_well(runner_of(script, *tools, budget=budget, **seams).run("go"))  # type: ignore[arg-type]


def spends(result: RunResult) -> list[Mapping[str, Any]]:
    return payloads(result, "budget.spend")


def refusal(result: RunResult) -> Mapping[str, Any]:
    assert result.stop_reason == "budget"
    assert isinstance(result.error, BudgetError)
    return payloads(result, "error")[0]


# Prices and estimates.


@pytest.mark.parametrize(
    ("tokens", "cost"),
    [
        ((0, 0), 0),
        ((1, 0), 3),
        ((1_000_000, 0), 3_000_000),
        ((1_000_000, 1_000_000), 18_000_000),
    ],
)
def test_a_price_is_in_micro_dollars_per_million_tokens(tokens: tuple[int, int], cost: int) -> None:
    assert PRICES.cost(*tokens) == cost


def test_a_cost_is_rounded_up_once() -> None:
    assert Prices(1, 1).cost(1, 0) == 1
    assert Prices(1, 1).cost(500_000, 500_000) == 1
    assert Prices(1, 1).cost(500_000, 500_001) == 2
    assert Prices(150_000, 600_000).cost(7, 3) == 3  # 2.85 micro-dollars


@given(a=st.integers(0, 10**12), b=st.integers(0, 10**12))
def test_a_cost_is_exact_for_any_numbers(a: int, b: int) -> None:
    cost = PRICES.cost(a, b)
    assert (cost - 1) * 10**6 < a * 3_000_000 + b * 15_000_000 <= cost * 10**6


def test_the_estimate_counts_bytes_calls_and_a_frame_for_each_message() -> None:
    assert most_tokens([]) == 0
    assert most_tokens([Message("user", "\u4e16\u754c")]) == 6 + 16
    message = Message("assistant", "", (ToolCall("c", "bash", "{}"),))
    assert most_tokens([message]) == 6 + 16
    assert most_tokens([Message("user", "\ud800")]) == 1 + 16


# One resource.


def test_turns_are_counted_and_reported_before_and_after_each_request() -> None:
    result = run([asks(call(0)), ModelTurn("x")], Limit(Turns(), 2), Probe())
    assert result.stop_reason == "completed"
    assert [(p["spent"], p.get("reserved"), p["remaining"]) for p in spends(result)] == [
        (0, 1, 1),
        (1, None, 1),
        (1, 1, 0),
        (2, None, 0),
    ]
    assert {(p["resource"], p["unit"], p["limit"]) for p in spends(result)} == {
        ("turns", "turns", 2)
    }


def test_the_reservation_comes_before_the_request_and_the_settlement_after_the_response() -> None:
    result = run([ModelTurn("x")], Limit(Turns(), 2))
    assert types(result)[2:6] == [
        "budget.spend",
        "model.request",
        "model.response",
        "budget.spend",
    ]


def test_a_call_without_a_request_left_to_read_its_result_is_not_begun() -> None:
    probe = Probe()
    result = run([asks(call(0))], Limit(Turns(), 1), probe)
    error = refusal(result)
    assert (error["resource"], error["limit"], error["spent"]) == ("turns", 1, 1)
    message = "turns: up to 1 needed for the request after the call, 0 left of 1 turns"
    assert (error["needed"], error["message"]) == (1, message)
    assert probe.ran == []


def test_no_turns_at_all_means_no_request() -> None:
    result = run([ModelTurn("x")], Limit(Turns(), 0))
    assert refusal(result)["message"] == "turns: up to 1 needed for the request, 0 left of 0 turns"
    assert types(result).count("model.request") == 0


def test_calls_are_counted_by_what_starts() -> None:
    probe = Probe()
    script = [asks(call(0), call(1, arguments="bad"), call(2)), asks(call(3)), ModelTurn("x")]
    result = run(script, Limit(Calls(), 3), probe)
    assert result.stop_reason == "completed"
    assert len(probe.ran) == spends(result)[-1]["spent"] == 3


def test_the_call_that_does_not_fit_and_all_after_it_are_not_executed() -> None:
    probe = Probe()
    result = run([asks(call(0), call(1), call(2))], Limit(Calls(), 1), probe)
    assert refusal(result)["resource"] == "calls"
    statuses = [p["status"] for p in payloads(result, "tool.result")]
    assert statuses == ["completed", "not_executed", "not_executed"]


def test_without_calls_left_the_model_may_still_answer() -> None:
    result = run([asks(call(0)), ModelTurn("in words")], Limit(Calls(), 1), Probe())
    assert result.final_text == "in words"


def test_a_denied_call_costs_nothing() -> None:
    budget = Limit(Calls(), 1)
    script = [asks(call(0), call(1)), ModelTurn("x")]
    result = run(script, budget, Probe(), granted=False, approver=Answers("deny"))
    assert (result.stop_reason, spends(result)) == ("completed", [])


def test_the_usage_of_the_provider_replaces_what_was_set_aside() -> None:
    result = run([used(30, 12)], Limit(Tokens(100, flat(50)), 1000))
    assert [(p["spent"], p.get("reserved", 0)) for p in spends(result)] == [(0, 150), (42, 0)]


def test_without_usage_all_that_was_set_aside_is_spent() -> None:
    result = run([ModelTurn("x")], Limit(Tokens(100, flat(50)), 1000))
    assert spends(result)[-1]["spent"] == 150


def test_what_frames_a_request_is_set_aside_too() -> None:
    result = run([used(1, 1)], Limit(Tokens(100, flat(50), framing=7), 1000))
    assert spends(result)[0]["reserved"] == 157


def test_a_request_that_might_not_fit_is_not_made() -> None:
    result = run([used(1, 1)], Limit(Tokens(100, flat(50)), 149))
    error = refusal(result)
    assert error["message"] == "tokens: up to 150 needed for the request, 149 left of 149 tokens"
    assert types(result).count("model.request") == 0
    assert run([used(1, 1)], Limit(Tokens(100, flat(50)), 150)).stop_reason == "completed"


def test_money_is_settled_in_micro_dollars() -> None:
    meter = Money(PRICES, 100, flat(1000))
    result = run([used(1000, 10)], Limit(meter, 10_000))
    assert [(p["unit"], p["spent"], p.get("reserved", 0)) for p in spends(result)] == [
        ("micro-dollars", 0, 4500),
        ("micro-dollars", 3150, 0),
    ]
    assert refusal(run([used(1, 1)], Limit(meter, 4499)))["needed"] == 4500
    assert Money(PRICES, 100, flat(1000), framing=10).most(GO) == 4530


def test_an_answer_dearer_than_its_bound_is_the_last() -> None:
    probe = Probe()
    result = run([used(500, 100, call(0))], Limit(Tokens(10, flat(10)), 100), probe)
    error = refusal(result)
    assert (error["spent"], error["remaining"]) == (600, -500)
    assert error["message"] == (
        "tokens: up to 20 needed for the request after the call, 0 left of 100 tokens"
    )
    assert probe.ran == []


def test_a_failed_request_costs_what_was_set_aside() -> None:
    class Half:
        def fit(self, messages: Sequence[Message], overflow: object) -> object:
            return messages, None

    script = [ContextOverflowError("too long"), used(1, 1)]
    result = run(script, Limit(Tokens(100, flat(50)), 1000), context=Half())
    assert [p["spent"] for p in spends(result)] == [0, 150, 152]


def test_a_failed_turn_is_paid_by_the_session() -> None:
    runner = runner_of([TransientModelError("x"), used(1, 1)], budget=Limit(Turns(), 2))
    runner.turn("one")
    result = ends_well_in_two(runner.stop(runner.turn("two")))
    assert spends(result)[-1]["spent"] == 2


def ends_well_in_two(result: RunResult) -> RunResult:
    assert result.stop_reason == "completed"
    assert types(result).count("error") == 1
    return result


def test_a_call_with_a_bug_is_paid() -> None:
    def bug(running: object) -> None:
        raise KeyError("bug")

    budget = Limit(Calls(), 2)
    runner = runner_of(
        [asks(call(0)), asks(call(1)), ModelTurn("x")], Probe(act=bug), budget=budget
    )
    runner.turn("one")
    runner.turn("two")
    assert budget.check("request", GO) is None
    with pytest.raises(BudgetError, match="calls: up to 1 needed for the call, 0 left of 2 calls"):
        budget.check("call", GO)


@pytest.mark.parametrize("limit", [-1, -(10**9)])
def test_a_limit_below_zero_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match=r"^the limit of turns must be at least 0$"):
        Limit(Turns(), limit)
    for bounds in ((limit, 0), (5, limit)):
        with pytest.raises(ValueError, match=r"^limit_us and step_us must be at least 0$"):
            WallTime(VirtualTime(), *bounds)


def test_a_call_is_begun_only_if_the_request_after_it_may_still_be_made() -> None:
    probe = Probe()
    result = run([used(40, 10, call(0))], Limit(Tokens(50, flat(50)), 149), probe)
    error = refusal(result)
    assert (error["needed"], error["remaining"], probe.ran) == (100, 99, [])
    probe = Probe()
    result = run([used(40, 10, call(0)), used(1, 1)], Limit(Tokens(50, flat(50)), 150), probe)
    assert (result.stop_reason, len(probe.ran)) == ("completed", 1)


def test_what_is_free_needs_nothing_to_be_left() -> None:
    free = Money(Prices(0, 0), 100)
    result = run([used(5, 5, call(0)), used(5, 5)], Limit(free, 0), Probe())
    assert (result.stop_reason, spends(result)[-1]["spent"]) == ("completed", 0)


# Time.


def test_time_is_spent_by_whatever_passes_it() -> None:
    time = VirtualTime()
    probe = Probe(act=lambda running: time.pass_us(3 * SECOND))
    budget = WallTime(time, 5 * SECOND)
    result = run([asks(call(0)), asks(call(1)), asks(call(2))], budget, probe)
    error = refusal(result)
    assert (error["resource"], error["unit"], error["spent"]) == ("wall_time", "us", 6 * SECOND)
    assert error["message"] == "wall_time: up to 1 needed for the request, 0 left of 5000000 us"
    assert len(probe.ran) == 2


def test_time_begins_with_the_first_step() -> None:
    time = VirtualTime()
    budget = WallTime(time, SECOND)
    time.pass_us(60 * SECOND)
    assert run([ModelTurn("x")], budget).stop_reason == "completed"


def test_a_step_that_may_take_longer_than_is_left_is_not_begun() -> None:
    time = VirtualTime()
    probe = Probe(act=lambda running: time.pass_us(3 * SECOND))
    result = run([asks(call(0))], WallTime(time, 5 * SECOND, step_us=4 * SECOND), probe)
    message = refusal(result)["message"]
    assert message == "wall_time: up to 4000000 needed for the request, 2000000 left of 5000000 us"


def test_time_is_not_set_aside_unless_a_step_has_a_bound() -> None:
    budget = WallTime(VirtualTime(), SECOND)
    assert "reserved" not in budget.reserve("request", GO)
    assert "reserved" not in budget.settle("request", None)
    assert WallTime(VirtualTime(), SECOND, 5).reserve("request", GO)["reserved"] == 5


def test_a_step_that_takes_exactly_what_is_left_is_begun() -> None:
    assert WallTime(VirtualTime(), SECOND, SECOND).check("call", GO) == SECOND
    assert WallTime(VirtualTime(), 1).check("call", GO) == 0
    assert Limit(Turns(), 1).check("request", GO) == 1


def test_a_step_of_another_kind_settles_nothing() -> None:
    budget = Limit(Tokens(100, flat(50)), 1000)
    assert budget.settle("request", Usage(1, 1)) is None
    budget.reserve("request", GO)
    assert budget.settle("call", None) is None
    report = budget.settle("request", Usage(1, 1))
    assert report is not None
    assert report["spent"] == 2


# Several.


def test_several_budgets_are_reported_each_by_the_policy() -> None:
    recorder = Recorder.golden()
    budget = AllOf([Limit(Turns(), 5), Limit(Tokens(10, flat(5)), 100)], recorder)
    result = run([used(5, 5)], budget, recorder=recorder)
    events = [event for event in result.events if event.type == "budget.spend"]
    assert [event.payload["resource"] for event in events] == ["turns", "tokens"] * 2
    assert {(event.actor["kind"], event.actor["id"]) for event in events} == {("policy", "budget")}


def test_where_one_refuses_none_sets_anything_aside() -> None:
    recorder = Recorder.golden()
    turns = Limit(Turns(), 5)
    budget = AllOf([turns, Limit(Tokens(10, flat(5)), 14)], recorder)
    result = run([used(5, 5)], budget, recorder=recorder)
    assert (refusal(result)["resource"], spends(result)) == ("tokens", [])
    report = turns.reserve("request", GO)
    assert report is not None
    assert (report["spent"], report["reserved"]) == (0, 1)


def test_an_estimate_is_made_once_a_step() -> None:
    asked = []

    def estimate(messages: Sequence[Message]) -> int:
        asked.append(len(messages))
        return 1

    recorder = Recorder.golden()
    run([ModelTurn("x")], AllOf([Limit(Tokens(1, estimate), 9)], recorder), recorder=recorder)
    assert asked == [1]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["answer", "call", "call", "calls", "fault", "overflow"]),
        st.integers(0, 40),
        st.integers(0, 40),
        st.booleans(),
    ),
    max_size=8,
)


class Together:
    """All calls of an answer in one group."""

    def groups(self, calls: Sequence[ToolCall], tools: object) -> list[Sequence[ToolCall]]:
        return [calls] if calls else []

    def run(self, work: Sequence[Any]) -> list[Any]:
        return [run_one() for run_one in work]


@given(
    steps=STEPS,
    limits=st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 300)),
    money=st.integers(0, 3000),
    seconds=st.integers(0, 10),
    honest=st.booleans(),
    grouped=st.booleans(),
    cancel_at=st.one_of(st.none(), st.integers(1, 6)),
)
def test_no_limit_is_passed_by_more_than_the_one_reserved_step(
    steps: list[tuple[str, int, int, bool]],
    limits: tuple[int, int, int],
    money: int,
    seconds: int,
    honest: bool,
    grouped: bool,
    cancel_at: int | None,
) -> None:
    """Honest: no answer is dearer than its bound, and then no limit is passed at all."""
    time, recorder, cancel = VirtualTime(), Recorder.golden(), CancelToken()
    numbers = iter(range(10**6))
    script: list[ModelTurn | Exception] = []
    dearest = 0
    for kind, inputs, outputs, told in steps:
        size = (min(inputs, 20), min(outputs, 20)) if honest else (inputs, outputs)
        dearest = max(dearest, sum(size) if told else 40)
        if kind == "fault":
            script.append(TransientModelError("x"))
        elif kind == "overflow":
            script.append(ContextOverflowError("x"))
        else:
            count = {"call": 1, "calls": 3}.get(kind, 0)
            calls = tuple(call(next(numbers)) for _ in range(count))
            script.append(ModelTurn("x", calls, usage=Usage(*size) if told else None))
    script += [ModelTurn("end")] * 3

    def act(running: object) -> None:
        time.pass_us(SECOND)
        if len(probe.ran) == cancel_at:
            cancel.cancel("user")

    class SameAgain:
        def fit(self, messages: Sequence[Message], overflow: object) -> object:
            return messages, None

    turns, calls_limit, tokens = limits
    parts = [
        Limit(Turns(), turns),
        Limit(Calls(), calls_limit),
        Limit(Tokens(20, flat(20)), tokens),
        Limit(Money(PRICES, 20, flat(20)), money),
        WallTime(time, seconds * SECOND),
    ]
    probe = Probe(act=act)
    seams: dict[str, Any] = {"scheduler": Together()} if grouped else {}
    runner = runner_of(
        script,
        probe,
        budget=AllOf(parts, recorder),
        recorder=recorder,
        cancel=cancel,
        context=SameAgain(),
        max_turns=20,
        max_tool_calls=30,
        **seams,
    )
    result = ends_well(runner.run("go"))

    started = [p["call_id"] for p in payloads(result, "tool.start")]
    assert len(started) == len(set(started)) == len(probe.ran) <= calls_limit
    assert types(result).count("model.request") <= turns
    last = {p["resource"]: p for p in spends(result)}
    for resource in ("turns", "calls"):
        assert last.get(resource, {"remaining": 0})["remaining"] >= 0
    for resource, step in (("tokens", dearest), ("money", PRICES.cost(0, dearest))):
        if resource in last:
            over = last[resource]["spent"] - last[resource]["limit"]
            assert over <= (0 if honest else step)
    for report in spends(result):
        reserved = report.get("reserved", 0)
        assert report["remaining"] == report["limit"] - report["spent"] - reserved
        assert not reserved or report["remaining"] >= 0, "nothing is set aside that is not there"
