"""How each resource is counted: turns, calls, tokens, money. Whole numbers only.

A meter keeps nothing. It says what a step may cost at most, and what it did cost once the provider
has told. A bound on the safe side is worth more than a close guess: see `most_tokens`.
"""

from __future__ import annotations

from curriculum.core.values import TYPE_CHECKING, Protocol, value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curriculum.core.messages import Message, Usage

    Estimate = Callable[[Sequence[Message]], int]

PER_MILLION = 1_000_000


# region: prices
@value
class Prices:
    """Prices of one model, as data: micro-dollars (a millionth of a dollar) per million tokens."""

    input_per_million: int
    output_per_million: int

    def cost(self, input_tokens: int, output_tokens: int) -> int:
        """Micro-dollars, rounded up: a budget errs on the side of stopping."""
        whole = input_tokens * self.input_per_million + output_tokens * self.output_per_million
        return -(-whole // PER_MILLION)


# endregion


# region: estimate
def most_tokens(messages: Sequence[Message]) -> int:
    """No more tokens than this many: a token is at least one byte; 16 frame each message."""
    texts = [text for message in messages for text in _texts(message)]
    return sum([len(text.encode("utf-8", "replace")) for text in texts]) + 16 * len(messages)


def _texts(message: Message) -> list[str]:
    calls = [text for call in message.tool_calls for text in (call.name, call.arguments)]
    return [message.content, *calls]


# endregion


# region: meter
class Meter(Protocol):
    """How one resource is counted. `resource` and `unit` are words of Trace 0.1.

    `step` is what spends it: "request" or "call".
    """

    resource: str
    unit: str
    step: str

    def most(self, messages: Sequence[Message]) -> int:
        """What the step may cost at most, when these are the messages."""

    def cost(self, usage: Usage | None, reserved: int) -> int:
        """What the step did cost; `reserved` was set aside for it."""


# endregion


class Turns:
    """Model requests that a session may make."""

    resource = unit = "turns"
    step = "request"

    def most(self, messages: Sequence[Message]) -> int:
        return 1

    def cost(self, usage: Usage | None, reserved: int) -> int:
        return reserved


class Calls:
    """Tool calls that may start."""

    resource = unit = "calls"
    step = "call"

    def most(self, messages: Sequence[Message]) -> int:
        return 1

    def cost(self, usage: Usage | None, reserved: int) -> int:
        return reserved


# region: tokens
class Tokens:
    """Input and output tokens together, at most `output_limit` of the latter in one answer.

    `framing` is what a request carries beside its messages: tool descriptions above all.
    """

    resource = unit = "tokens"
    step = "request"

    def __init__(
        self, output_limit: int, estimate: Estimate = most_tokens, framing: int = 0
    ) -> None:
        self._output_limit, self._estimate, self._framing = output_limit, estimate, framing

    def most(self, messages: Sequence[Message]) -> int:
        return self._estimate(messages) + self._framing + self._output_limit

    def cost(self, usage: Usage | None, reserved: int) -> int:
        return usage.input_tokens + usage.output_tokens if usage else reserved


# endregion


# region: money
class Money:
    """Micro-dollars, at the prices of one model; the bounds are those of `Tokens`."""

    resource, unit, step = "money", "micro-dollars", "request"

    def __init__(
        self,
        prices: Prices,
        output_limit: int,
        estimate: Estimate = most_tokens,
        framing: int = 0,
    ) -> None:
        self._prices, self._output_limit = prices, output_limit
        self._estimate, self._framing = estimate, framing

    def most(self, messages: Sequence[Message]) -> int:
        return self._prices.cost(self._estimate(messages) + self._framing, self._output_limit)

    def cost(self, usage: Usage | None, reserved: int) -> int:
        return self._prices.cost(usage.input_tokens, usage.output_tokens) if usage else reserved


# endregion
