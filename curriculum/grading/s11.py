"""Graders of s11 A and B: a bill read from traces, and a meter with two prices."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from curriculum.core.budget import Limit
from curriculum.core.errors import ModelError, TransientModelError
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
from curriculum.core.meters import Meter, Prices
from curriculum.core.model import ScriptedModel
from curriculum.core.retry import RetryingModel
from curriculum.core.seams import CancelToken
from curriculum.core.trace import Event, Recorder
from curriculum.core.waiting import VirtualTime
from curriculum.grading.mistakes import attempt, mistake, quote

__unittest = True

OBSERVE = 's11, "Run it and observe it"'
STEPS = 's11, "Step by step"'
INVARIANTS = 's11, "Invariants"'

Bill = Callable[[Sequence[Event], Prices], tuple[Sequence[int | None], int]]


def exact(prices: Prices, input_tokens: int, output_tokens: int) -> int:
    """The cost in micro-dollars, rounded up, told apart from the code under test."""
    whole = input_tokens * prices.input_per_million + output_tokens * prices.output_per_million
    micros, rest = divmod(whole, 1_000_000)
    return micros + (rest > 0)


def grade_bill_of(bill_of: Bill) -> None:
    """A. Runs with every kind of response, at prices small and large, and all beginnings."""
    for seed in range(4):
        rng = random.Random(seed)
        events = _billed_run(rng, large=seed == 3)
        events = [*events, *_failed_and_billed()]
        for prices in (Prices(3_000_000, 15_000_000), Prices(150_000, 600_001), Prices(1, 0)):
            for size in range(1, len(events) + 1):
                _check_bill(bill_of, events[:size], prices)


def _billed_run(rng: random.Random, large: bool) -> Sequence[Event]:
    most = 8 * 10**15 if large else 2000
    answers: list[ModelTurn | Exception] = []
    for number in range(4):
        usage = Usage(rng.randrange(1, most), rng.randrange(1, most)) if number else Usage(0, 0)
        told = None if number == rng.randrange(4) else usage
        answers += [TransientModelError("busy")] * rng.randrange(2)
        answers.append(ModelTurn(tool_calls=(ToolCall(f"c{number}", "fiction"),), usage=told))
    done = ModelTurn("done", usage=Usage(7, 3))
    answers.append(done if rng.random() < 0.5 else ModelError("refused"))
    cancel = CancelToken()
    model = RetryingModel(ScriptedModel(answers), VirtualTime(), cancel)
    return AgentRunner(model, cancel=cancel).run("go").events


def _failed_and_billed() -> Sequence[Event]:
    """A provider may count the tokens of a response that was of no use."""
    recorder = Recorder.golden()
    for status in ("failed", "cancelled", "incomplete"):
        payload = {"status": status, "usage": {"input_tokens": 5, "output_tokens": 1}}
        recorder.emit("model.response", actor_kind="model", actor_id="m", payload=payload)
    return recorder.events


def _check_bill(bill_of: Bill, events: Sequence[Event], prices: Prices) -> None:
    wanted: list[int | None] = []
    for event in events:
        if event.type == "model.response":
            usage = event.payload.get("usage")
            cost = None
            if isinstance(usage, dict):
                cost = exact(prices, usage["input_tokens"], usage["output_tokens"])
            wanted.append(cost)
    total = sum(cost or 0 for cost in wanted)
    with attempt("bill_of", OBSERVE):
        got = bill_of(events, prices)
    if not (isinstance(got, tuple) and len(got) == 2 and isinstance(got[0], (list, tuple))):
        raise mistake("a list of costs, and their sum", quote(got), OBSERVE)
    costs, mine = list(got[0]), got[1]
    told = f"at {prices.input_per_million} and {prices.output_per_million} per million"
    if len(costs) != len(wanted):
        expected = f"one cost for each of {len(wanted)} responses"
        raise mistake(expected, f"you have {len(costs)}: {quote(costs)}", OBSERVE)
    for number, (one, other) in enumerate(zip(wanted, costs, strict=True), 1):
        if one != other or type(one) is not type(other):
            saw = f"you say {other!r}"
            if isinstance(one, int) and isinstance(other, int) and other == one - 1:
                saw += ": rounded down"
            raise mistake(f"for response {number}, {told}: {one}", saw, OBSERVE)
    if mine != total or type(mine) is not int:
        raise mistake(f"{told} a sum of {total}", f"you say {mine!r}", OBSERVE)


Estimate = Callable[[Sequence[Message]], int]
MakeMeter = Callable[[Prices, Prices, int, int, Estimate], Meter]

SHORT, LONG = Prices(1_250_001, 10_300_500), Prices(2_500_000, 15_500_001)


def grade_tiered_money(make: MakeMeter) -> None:
    """B. Both sides of the threshold, then real runs against a Limit."""
    rng = random.Random(6)
    with attempt("TieredMoney", STEPS):
        _check_words(make(SHORT, LONG, 100, 10, lambda messages: 1))
        for threshold in (0, 1, 100, 200_000):
            for size in (0, 1, threshold - 1, threshold, threshold + 1, 3 * threshold + 7):
                if size >= 0:
                    _check_prices(make, rng, threshold, size)
        _check_large(make)
        for _ in range(30):
            _check_limit(make, rng)


def _check_words(meter: Meter) -> None:
    words = (meter.resource, meter.unit, meter.step)
    if words != ("money", "micro-dollars", "request"):
        raise mistake("the resource, unit and step of Money", quote(words), STEPS)
    if meter.cost(None, 1234) != 1234:
        expected = "without usage the reserved 1234"
        raise mistake(expected, f"cost(None, 1234) is {meter.cost(None, 1234)!r}", STEPS)


def _check_prices(make: MakeMeter, rng: random.Random, threshold: int, size: int) -> None:
    output = rng.randrange(500)
    meter = make(SHORT, LONG, threshold, output, lambda messages: size * len(messages))
    prices = LONG if size > threshold else SHORT
    wanted = exact(prices, size, output)
    told = f"{size} input and {output} output tokens, with the threshold {threshold}"
    # What was set aside says nothing about what a told usage costs, be it less, as much or more.
    usage, message = Usage(size, output), Message("user", "go")
    for reserved in (5, max(wanted - 1, 0), wanted, wanted + 100):
        for name, got, where in (
            ("cost", meter.cost(usage, reserved), f" where {reserved} were reserved"),
            ("most", meter.most((message,)), ""),
        ):
            if got != wanted or type(got) is not int:
                raise mistake(f"{name} of {told}: {wanted}", f"it is {got!r}{where}", STEPS)
    for _ in range(20):
        usage = Usage(rng.randrange(size + 1), rng.randrange(output + 1))
        if (cost := meter.cost(usage, 0)) > wanted:
            expected = f"no honest usage to cost more than most, {wanted}"
            raise mistake(expected, f"{usage} costs {cost}", INVARIANTS)


def _check_large(make: MakeMeter) -> None:
    """Amounts that a float rounds: 10**17 + 1 millionths."""
    prices, size = Prices(1_000_000, 1), 10**11
    for threshold in (100, 10**12):
        meter = make(prices, prices, threshold, 1, lambda messages: size)
        got = {"cost": meter.cost(Usage(size, 1), 5), "most": meter.most(())}
        for name, mine in got.items():
            if mine != size + 1 or type(mine) is not int:
                told = f"{name} of {size} input tokens and one output token, at 1000000 and 1"
                expected = f"{told}: {size + 1}, in whole numbers all the way"
                raise mistake(expected, f"it is {mine!r}", STEPS)


def _check_limit(make: MakeMeter, rng: random.Random) -> None:
    """Behind a runner: what is spent never passes the limit, and what fits is asked."""
    threshold, output, limit = 100, 50, rng.randrange(1, 4000)
    turns: list[ModelTurn | Exception] = []
    spent, wanted = 0, 0
    for number in range(8):
        size = 60 * (number + 1)  # what the estimate says of 2 * number + 1 messages
        bound = exact(LONG if size > threshold else SHORT, size, output)
        usage = Usage(rng.randrange(size + 1), rng.randrange(output + 1))
        turns.append(ModelTurn(tool_calls=(ToolCall(f"c{number}", "fiction"),), usage=usage))
        if spent + bound <= limit and wanted == number:
            prices = LONG if usage.input_tokens > threshold else SHORT
            spent += exact(prices, usage.input_tokens, usage.output_tokens)
            wanted += 1
    meter = make(SHORT, LONG, threshold, output, lambda messages: 30 * (len(messages) + 1))
    result = AgentRunner(ScriptedModel(turns), budget=Limit(meter, limit)).run("go")
    asked = sum(event.type == "model.request" for event in result.events)
    if asked != wanted:
        expected = f"with a limit of {limit} micro-dollars {wanted} requests"
        raise mistake(expected, f"{asked} were made ({result.error})", INVARIANTS)
    reports = [e.payload for e in result.events if e.type == "budget.spend"]
    if reports and reports[-1]["spent"] != spent:
        raise mistake(f"{spent} micro-dollars spent", f"{reports[-1]['spent']}", INVARIANTS)
