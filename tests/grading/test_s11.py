"""The graders of s11 are graded: the reference passes, and each wrong solution is told why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from curriculum.core.errors import BudgetError
from curriculum.core.messages import Message, Usage
from curriculum.core.meters import Meter, Prices
from curriculum.core.trace import Event
from curriculum.grading.purse import grade_purse
from curriculum.grading.s11 import grade_bill_of, grade_tiered_money
from curriculum.grading.what_it_costs import SCRIPTS, grade_what_it_costs, observe_cost
from curriculum.lessons.s11_cost import solutions


def test_the_reference_passes() -> None:
    grade_bill_of(solutions.bill_of)
    grade_tiered_money(solutions.TieredMoney)
    assert solutions.WHAT_IT_COSTS is not None
    grade_what_it_costs(solutions.WHAT_IT_COSTS)
    grade_purse(solutions.Purse)


# A. bill_of


def usages(events: Sequence[Event]) -> list[Mapping[str, int] | None]:
    found = [e.payload.get("usage") for e in events if e.type == "model.response"]
    return [usage if isinstance(usage, Mapping) else None for usage in found]


def priced(usage: Mapping[str, int], prices: Prices) -> int:
    whole = usage["input_tokens"] * prices.input_per_million
    return whole + usage["output_tokens"] * prices.output_per_million


def rounded_down(events: Sequence[Event], prices: Prices) -> object:
    costs = [u and priced(u, prices) // 10**6 for u in usages(events)]
    return costs, sum(cost or 0 for cost in costs)


def by_float(events: Sequence[Event], prices: Prices) -> object:
    costs = [None if u is None else -int(-(priced(u, prices) / 1e6) // 1) for u in usages(events)]
    return costs, sum(cost or 0 for cost in costs)


def each_part_rounded(events: Sequence[Event], prices: Prices) -> object:
    costs = [
        u and prices.cost(u["input_tokens"], 0) + prices.cost(0, u["output_tokens"])
        for u in usages(events)
    ]
    return costs, sum(cost or 0 for cost in costs)


def sum_rounded(events: Sequence[Event], prices: Prices) -> object:
    costs, _ = solutions.bill_of(events, prices)
    return costs, -(-sum(priced(u, prices) for u in usages(events) if u) // 10**6)


def unknown_left_out(events: Sequence[Event], prices: Prices) -> object:
    costs, total = solutions.bill_of(events, prices)
    return [cost for cost in costs if cost is not None], total


def unknown_is_free(events: Sequence[Event], prices: Prices) -> object:
    costs, total = solutions.bill_of(events, prices)
    return [cost or 0 for cost in costs], total


def swapped(events: Sequence[Event], prices: Prices) -> object:
    return solutions.bill_of(events, Prices(prices.output_per_million, prices.input_per_million))


def usage_required(events: Sequence[Event], prices: Prices) -> object:
    for event in events:
        if event.type == "model.response":
            event.payload["usage"]
    return solutions.bill_of(events, prices)


def in_dollars(events: Sequence[Event], prices: Prices) -> object:
    costs, total = solutions.bill_of(events, prices)
    return [cost and cost / 1e6 for cost in costs], total / 1e6


WRONG_BILLS: dict[str, tuple[Callable[[Sequence[Event], Prices], object], str]] = {
    "rounded down": (rounded_down, "rounded down"),
    "by way of a float": (by_float, "for response"),
    "input and output rounded apart": (each_part_rounded, "for response"),
    "the sum rounded once": (sum_rounded, "a sum of"),
    "unknown left out": (unknown_left_out, "one cost for each of"),
    "unknown is free": (unknown_is_free, "for response .*None\n.*you say 0"),
    "prices swapped": (swapped, "for response"),
    "usage taken for granted": (usage_required, "KeyError"),
    "dollars": (in_dollars, r"you say 0\.\d+"),
    "the sum alone": (
        lambda events, prices: solutions.bill_of(events, prices)[1],
        "a list of costs",
    ),
    "hard-coded": (lambda events, prices: ([2280, 10260], 12540), "one cost for each of 0"),
}


@pytest.mark.parametrize("name", WRONG_BILLS)
def test_wrong_bills_are_told_why(name: str) -> None:
    wrong, message = WRONG_BILLS[name]
    with pytest.raises(AssertionError, match=message):
        grade_bill_of(wrong)  # type: ignore[arg-type]


# B. TieredMoney


class Tiered(solutions.TieredMoney):
    """The reference, for others to get one thing wrong."""


class AtTheThreshold(Tiered):
    """Takes `more than` for `at least`."""

    def _price(self, input_tokens: int, output_tokens: int) -> int:
        prices = self._long if input_tokens >= self._threshold else self._short
        return prices.cost(input_tokens, output_tokens)


class OnlyTheRest(Tiered):
    """Prices only the tokens above the threshold as long, as income tax does."""

    def _price(self, input_tokens: int, output_tokens: int) -> int:
        above = max(0, input_tokens - self._threshold)
        return self._short.cost(input_tokens - above, output_tokens) + self._long.cost(above, 0)


class ByTheTotal(Tiered):
    """Counts the output towards the threshold."""

    def _price(self, input_tokens: int, output_tokens: int) -> int:
        total = input_tokens + output_tokens
        prices = self._long if total > self._threshold else self._short
        return prices.cost(input_tokens, output_tokens)


class OutputAlwaysShort(Tiered):
    """Prices the output of a long request like any other."""

    def _price(self, input_tokens: int, output_tokens: int) -> int:
        prices = self._long if input_tokens > self._threshold else self._short
        return prices.cost(input_tokens, 0) + self._short.cost(0, output_tokens)


class RoundsTwice(Tiered):
    """Rounds input and output up by themselves."""

    def _price(self, input_tokens: int, output_tokens: int) -> int:
        prices = self._long if input_tokens > self._threshold else self._short
        return prices.cost(input_tokens, 0) + prices.cost(0, output_tokens)


class ShortBound(Tiered):
    """Sets aside the short price, whatever the estimate."""

    def most(self, messages: Sequence[Message]) -> int:
        return self._short.cost(self._estimate(messages), self._output_limit)


class LongBound(Tiered):
    """Safe, and refuses what would fit."""

    def most(self, messages: Sequence[Message]) -> int:
        return self._long.cost(self._estimate(messages), self._output_limit)


class NoOutput(Tiered):
    """Sets nothing aside for the answer."""

    def most(self, messages: Sequence[Message]) -> int:
        return self._price(self._estimate(messages), 0)


class UnknownIsFree(Tiered):
    """What the provider does not tell costs nothing."""

    def cost(self, usage: Usage | None, reserved: int) -> int:
        return super().cost(usage, reserved) if usage else 0


class Floats(Tiered):
    """Micro-dollars with a fraction."""

    def _price(self, input_tokens: int, output_tokens: int) -> int:
        prices = self._long if input_tokens > self._threshold else self._short
        whole = input_tokens * prices.input_per_million + output_tokens * prices.output_per_million
        return whole / 1_000_000  # type: ignore[return-value]


class Dollars(Tiered):
    """A unit of its own."""

    unit = "dollars"


class EachCall(Tiered):
    """Spends money on calls."""

    step = "call"


WRONG_METERS: dict[type[Tiered], str] = {
    AtTheThreshold: "(cost|most) of",
    OnlyTheRest: "(cost|most) of",
    ByTheTotal: "(cost|most) of",
    OutputAlwaysShort: "(cost|most) of",
    RoundsTwice: "(cost|most) of",
    ShortBound: "most of",
    LongBound: "most of",
    NoOutput: "most of",
    UnknownIsFree: r"cost\(None, 1234\) is 0",
    Floats: r"it is \d+\.\d",
    Dollars: "resource, unit and step",
    EachCall: "resource, unit and step",
}


@pytest.mark.parametrize("wrong", WRONG_METERS)
def test_wrong_meters_are_told_why(wrong: type[Tiered]) -> None:
    with pytest.raises(AssertionError, match=WRONG_METERS[wrong]):
        grade_tiered_money(wrong)


# C. WHAT_IT_COSTS


def changed(situation: str, fact: str, prediction: object) -> dict[str, dict[str, object]]:
    assert solutions.WHAT_IT_COSTS is not None
    table = {name: dict(row) for name, row in solutions.WHAT_IT_COSTS.items()}
    assert table[situation][fact] != prediction
    table[situation][fact] = prediction
    return table


WRONG_COSTS: dict[str, tuple[object, str]] = {
    "the reservation is the price": (
        changed("50 tokens", "spent", 150),
        "'50 tokens': you predict spent 150, the trace shows 50",
    ),
    "what is not told is free": (
        changed("no usage told", "spent", 0),
        "'no usage told': you predict spent 0, the trace shows 150",
    ),
    "an answer is taken back": (
        changed("dearer than its bound", "stop", "budget"),
        "you predict stop 'budget', the trace shows 'completed'",
    ),
    "the spent is cut at the limit": (
        changed("dearer than its bound", "spent", 400),
        "you predict spent 400, the trace shows 700",
    ),
    "the call runs, though nobody could read it": (
        changed("dearer, and asks for a call", "calls", 1),
        "you predict calls 1, the trace shows 0",
    ),
    "a denied call costs": (
        changed("a denied call", "calls", 1),
        "'a denied call': you predict calls 1, the trace shows 0",
    ),
    "an attempt costs": (
        changed("overloaded, then 50 tokens", "spent", 200),
        "you predict spent 200, the trace shows 50",
    ),
    "a refused request is free": (
        changed("too long, then 50 tokens", "spent", 50),
        "you predict spent 50, the trace shows 200",
    ),
    "a failure gives back": (
        changed("the model fails", "reserved", 0),
        "'the model fails': you predict reserved 0, the trace shows 150",
    ),
    "a refusal has a request": (
        changed("limit of 149", "requests", 1),
        "'limit of 149': you predict requests 1, the trace shows 0",
    ),
    "another word": (
        changed("limit of 149", "stop", "failed"),
        "you predict stop 'failed', the trace shows 'budget'",
    ),
    "one too many": (
        changed("calls for ever, no usage told", "requests", 3),
        "you predict requests 3, the trace shows 2",
    ),
    "no rows": ({}, "one row for each of"),
    "a column left out": ({situation: {} for situation in SCRIPTS}, "the columns requests"),
}


@pytest.mark.parametrize("name", WRONG_COSTS)
def test_wrong_costs_are_told_why(name: str) -> None:
    wrong, message = WRONG_COSTS[name]
    with pytest.raises(AssertionError, match=message):
        grade_what_it_costs(wrong)  # type: ignore[arg-type]


def test_a_situation_costs_the_same_every_time() -> None:
    for situation in SCRIPTS:
        assert len({str(observe_cost(situation)) for _ in range(5)}) == 1


# D. Purse


class Base(solutions.Purse):
    """The reference, whose children are of the same kind."""

    def child(self, limit: int) -> solutions.Purse:
        child = super().child(limit)
        child.__class__ = type(self)
        return child


class ForgetsReservations(Base):
    """Gives back what was set aside and never settled."""

    def close(self) -> None:
        if not self._closed and not self._children:
            self._reserved.clear()
        super().close()


class GivesAllBack(Base):
    """A closed child costs its parent nothing."""

    def close(self) -> None:
        self._spent = 0 if self._parent and not self._children else self._spent
        super().close()


class KeepsAll(Base):
    """A closed child has cost its whole limit."""

    def close(self) -> None:
        if not self._closed and self._parent:
            self._spent = self._limit
            self._reserved.clear()
        super().close()


class SpendsTwice(Base):
    """Closing twice books twice."""

    def close(self) -> None:
        if self._closed and self._parent:
            self._parent._spent += self._spent
        super().close()


class Generous(Base):
    """Hands out more than it has."""

    def child(self, limit: int) -> solutions.Purse:
        left = self.remaining
        self._limit += max(0, limit - left)
        child = super().child(limit)
        self._limit -= max(0, limit - left)
        return child


class SharesNothing(Base):
    """Does not take a child's limit out of what remains."""

    @property
    def remaining(self) -> int:
        return 0 if self._closed else self._limit - self._spent - sum(self._reserved)


class OldestFirst(Base):
    """Settles the oldest reservation."""

    def settle(self, step: str, usage: Usage | None) -> None:
        if step == self._meter.step and self._reserved and not self._closed:
            self._spent += self._meter.cost(usage, self._reserved.pop(0))


class EveryStep(Base):
    """Counts calls as requests."""

    def reserve(self, step: str, messages: Sequence[Message]) -> None:
        super().reserve(self._meter.step, messages)


class OpenForEver(Base):
    """A closed purse still gives."""

    def _check_open(self) -> None:
        return

    @property
    def remaining(self) -> int:
        handed_out = sum(child._limit for child in self._children)
        rest = self._limit - self._spent - sum(self._reserved) - handed_out
        return rest


class OrphansChildren(Base):
    """Closes without its children: what they hold is lost."""

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            if self._parent:
                self._parent._children.remove(self)
                self._parent._spent += self._spent + sum(self._reserved)


class ReservesFirst(Base):
    """Sets aside, and then looks."""

    def reserve(self, step: str, messages: Sequence[Message]) -> None:
        self._check_open()
        if step == self._meter.step:
            self._reserved.append(self._meter.most(messages))
            if self.remaining < 0:
                raise BudgetError("too much")


class RefusesTheLast(Base):
    """Refuses what would just fit."""

    def _check_room(self, needed: int) -> None:
        super()._check_room(needed + 1)


class OtherError(Base):
    """Refuses with an error that the loop takes for a bug."""

    def _check_room(self, needed: int) -> None:
        if needed > self.remaining:
            raise ValueError("not enough")


WRONG_PURSES: dict[type[Base], str] = {
    ForgetsReservations: r"\d+ left in purse \d+ after",
    GivesAllBack: r"\d+ left in purse \d+ after",
    KeepsAll: r"\d+ left in purse \d+ after",
    SpendsTwice: r"\d+ left in purse \d+ after",
    Generous: "to be refused with BudgetError",
    SharesNothing: r"\d+ left in purse \d+ after",
    OldestFirst: r"\d+ left in purse \d+ after",
    EveryStep: "left in purse|to be possible after",
    OpenForEver: "0 left in purse|to be refused",
    OrphansChildren: "left in purse|to be refused",
    ReservesFirst: r"left in purse",
    RefusesTheLast: "to be possible after|children of four requests",
    OtherError: "ValueError",
}


@pytest.mark.parametrize("wrong", WRONG_PURSES)
def test_wrong_purses_are_told_why(wrong: type[Base]) -> None:
    with pytest.raises(AssertionError, match=WRONG_PURSES[wrong]):
        grade_purse(wrong)


def test_a_meter_is_what_the_grader_takes() -> None:
    meter: Meter = solutions.TieredMoney(Prices(1, 1), Prices(2, 2), 5, 5, len)
    assert meter.cost(None, 3) == 3
