"""One way to do each exercise of s11. Look after you have tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from curriculum.core.errors import BudgetError
from curriculum.core.messages import Message, Usage
from curriculum.core.meters import Meter, Prices
from curriculum.core.trace import Event


# region: bill_of
def bill_of(events: Sequence[Event], prices: Prices) -> tuple[list[int | None], int]:
    """A. Each response is rounded up by itself: so is each line of a bill."""
    costs: list[int | None] = []
    for event in events:
        if event.type == "model.response":
            usage = event.payload.get("usage")
            costs.append(cost_of(usage, prices) if isinstance(usage, Mapping) else None)
    return costs, sum(cost or 0 for cost in costs)


def cost_of(usage: Mapping[str, int], prices: Prices) -> int:
    """Micro-dollars, rounded up; never by way of a float."""
    whole = usage["input_tokens"] * prices.input_per_million
    whole += usage["output_tokens"] * prices.output_per_million
    return -(-whole // 1_000_000)


# endregion


# region: tiered_money
class TieredMoney:
    """B. One question, which price; and the bound asks it about the bound."""

    resource, unit, step = "money", "micro-dollars", "request"

    def __init__(
        self,
        short: Prices,
        long: Prices,
        threshold: int,
        output_limit: int,
        estimate: Callable[[Sequence[Message]], int],
    ) -> None:
        self._short, self._long, self._threshold = short, long, threshold
        self._output_limit, self._estimate = output_limit, estimate

    def most(self, messages: Sequence[Message]) -> int:
        return self._price(self._estimate(messages), self._output_limit)

    def cost(self, usage: Usage | None, reserved: int) -> int:
        return self._price(usage.input_tokens, usage.output_tokens) if usage else reserved

    def _price(self, input_tokens: int, output_tokens: int) -> int:
        prices = self._long if input_tokens > self._threshold else self._short
        return prices.cost(input_tokens, output_tokens)


# endregion


# region: what_it_costs
def row(
    requests: int, spent: int, stop: str, *, calls: int = 0, reserved: int = 0
) -> dict[str, object]:
    """One row of the table."""
    return {
        "requests": requests,
        "calls": calls,
        "spent": spent,
        "reserved": reserved,
        "stop": stop,
    }


WHAT_IT_COSTS: Mapping[str, Mapping[str, object]] | None = {
    "50 tokens": row(1, 50, "completed"),
    "no usage told": row(1, 150, "completed"),
    "dearer than its bound": row(1, 700, "completed"),
    "dearer, and asks for a call": row(1, 300, "budget"),
    "three calls": row(4, 240, "completed", calls=3),
    "calls for ever, no usage told": row(2, 300, "budget", calls=1),
    "a denied call": row(2, 110, "completed"),
    "the model fails": row(1, 0, "failed", reserved=150),
    "overloaded, then 50 tokens": row(2, 50, "completed"),
    "too long, then 50 tokens": row(2, 200, "completed"),
    "cancelled while text arrives": row(1, 0, "cancelled", reserved=150),
    "limit of 149": row(0, 0, "budget"),
}
# endregion


# region: purse
class Purse:
    """D. What is set aside is a list; a child is one more thing set aside."""

    def __init__(self, meter: Meter, limit: int) -> None:
        self._meter, self._limit = meter, limit
        self._spent = 0
        self._reserved: list[int] = []
        self._children: list[Purse] = []
        self._parent: Purse | None = None
        self._closed = False

    @property
    def remaining(self) -> int:
        handed_out = sum(child._limit for child in self._children)
        rest = self._limit - self._spent - sum(self._reserved) - handed_out
        return 0 if self._closed else rest

    def reserve(self, step: str, messages: Sequence[Message]) -> None:
        self._check_open()
        if step == self._meter.step:
            needed = self._meter.most(messages)
            self._check_room(needed)
            self._reserved.append(needed)

    def settle(self, step: str, usage: Usage | None) -> None:
        if step == self._meter.step and self._reserved and not self._closed:
            self._spent += self._meter.cost(usage, self._reserved.pop())

    def child(self, limit: int) -> Purse:
        if limit < 0:
            raise ValueError("the limit of a child must be at least 0")
        self._check_open()
        self._check_room(limit)
        child = Purse(self._meter, limit)
        child._parent = self
        self._children.append(child)
        return child

    def close(self) -> None:
        if self._closed:
            return
        for child in list(self._children):
            child.close()
        self._closed = True
        if self._parent:
            self._parent._children.remove(self)
            self._parent._spent += self._spent + sum(self._reserved)

    def _check_open(self) -> None:
        if self._closed:
            raise BudgetError("this purse is closed", resource=self._meter.resource)

    def _check_room(self, needed: int) -> None:
        left, what = self.remaining, self._meter.resource
        if needed > left:
            raise BudgetError(f"{what}: {needed} needed, {left} left", resource=what, needed=needed)


# endregion
