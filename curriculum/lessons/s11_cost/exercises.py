"""Exercises of s11. Edit this file only; grade it with

    python3 -m curriculum grade s11

An exercise that is still as you found it is skipped. `solutions.py` holds one way to do each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from curriculum.core.messages import Message, Usage
from curriculum.core.meters import Meter, Prices
from curriculum.core.trace import Event


# region: bill_of
def bill_of(events: Sequence[Event], prices: Prices) -> tuple[list[int | None], int]:
    """A. Read a trace: what did each request cost, and what all of them?

    Return a list with one entry for each model.response, in order: its cost in micro-dollars,
    rounded up, or None if it has no `usage`; and the sum of what is known. All numbers are whole.
    `events` may be only the beginning of a trace.

    Accepted for runs with failed, cancelled and repeated requests, for prices of a fraction of a
    micro-dollar a token, and for amounts that a float cannot hold.
    """
    raise NotImplementedError


# endregion


# region: tiered_money
class TieredMoney:
    """B. A meter of your own: money, where long requests are dearer.

    A request of more than `threshold` input tokens costs `long` for ALL of its tokens, input and
    output; any other one costs `short`. `long` is nowhere cheaper than `short`.

    most    what a request may cost at most: its input tokens are at most `estimate(messages)`, its
            output tokens at most `output_limit`
    cost    what it did cost by the usage, in micro-dollars, rounded up once; `reserved` if the
            provider told no usage
    resource, unit and step are those of `Money` in `curriculum.core.meters`

    Accepted when the numbers are exact on both sides of the threshold, no honest usage ever costs
    more than `most` said, and behind an AgentRunner a Limit with this meter keeps its limit.
    """

    def __init__(
        self,
        short: Prices,
        long: Prices,
        threshold: int,
        output_limit: int,
        estimate: Callable[[Sequence[Message]], int],
    ) -> None:
        raise NotImplementedError

    def most(self, messages: Sequence[Message]) -> int:
        raise NotImplementedError

    def cost(self, usage: Usage | None, reserved: int) -> int:
        raise NotImplementedError


# endregion


# region: what_it_costs
WHAT_IT_COSTS: Mapping[str, Mapping[str, object]] | None = None
"""C. What a run spends: replace None by a dict with a row for each of these situations. The budget
is Limit(Tokens(output_limit=100, estimate=...), 400), and every estimate is 50: so 150 tokens are
set aside for each request. "60 tokens" means a usage of 50 and 10.

    "50 tokens"                      one answer in words, with a usage of 30 and 20
    "no usage told"                  one answer in words, and the provider tells no usage
    "dearer than its bound"          one answer in words, with a usage of 600 and 100
    "dearer, and asks for a call"    an answer with a call, with a usage of 290 and 10
    "three calls"                    three answers of 60 tokens with a call each, then one in words
                                     of 60
    "calls for ever, no usage told"  every answer has a call, and no usage is told
    "a denied call"                  an answer of 60 tokens with a call that is denied, then one in
                                     words of 50
    "the model fails"                the only request raises ModelError
    "overloaded, then 50 tokens"     inside a RetryingModel: one failure, then 30 and 20
    "too long, then 50 tokens"       a ContextOverflowError; the context policy sends less
    "cancelled while text arrives"   the user cancels between two pieces
    "limit of 149"                   as the first, but the limit is 149

A row is a dict with these columns:

    "requests"  how many model.request events the trace has: a number
    "calls"     how many tool.start events
    "spent"     `spent` of the last budget.spend event, 0 if there is none
    "reserved"  `reserved` of that event, 0 if it has none
    "stop"      the stop_reason

Accepted when every prediction is what the trace of a real run shows.
"""
# endregion


# region: purse
class Purse:
    """D. A budget that can be shared with child work: a part is handed out, the rest comes back.

    remaining       the limit, less what is spent, what is reserved, and the limits of open children
    reserve         as a Budget: sets aside `meter.most(messages)` if the step is `meter.step`, and
                    nothing for any other step. Raises BudgetError if more than `remaining` is
                    needed; then nothing has changed
    settle          as a Budget: what the meter says that the step did cost replaces the LATEST
                    reservation. Nothing for any other step, and nothing if nothing is reserved
    child(limit)    a purse of its own with the same meter and that limit, taken out of this one.
                    Raises BudgetError if more than `remaining` is wanted, ValueError below 0
    close()         the end of a purse. Its open children are closed first. What it has spent is
                    spent in its parent, and so is what is reserved and was never settled: nobody
                    knows. The rest of its limit is free again. To close twice changes nothing

    A closed purse refuses reserve and child with BudgetError; its `remaining` is 0; settle and
    close do nothing to it.

    Accepted when it does the same as a model of it over thousands of random steps, and when parent
    and children, each behind an AgentRunner of its own, never spend more than the first limit.
    """

    def __init__(self, meter: Meter, limit: int) -> None:
        raise NotImplementedError

    @property
    def remaining(self) -> int:
        raise NotImplementedError

    def reserve(self, step: str, messages: Sequence[Message]) -> Mapping[str, object] | None:
        raise NotImplementedError

    def settle(self, step: str, usage: Usage | None) -> Mapping[str, object] | None:
        raise NotImplementedError

    def child(self, limit: int) -> Purse:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


# endregion
