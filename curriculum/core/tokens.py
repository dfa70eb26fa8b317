"""How long a request is: an estimate before it is sent, corrected by what the provider counted.

Only the provider's tokenizer knows, and it is asked too late. So text is counted roughly, and the
count is scaled by the last request whose true size is known. An estimate is no bound: a request
may still turn out too long.
"""

from __future__ import annotations

from curriculum.core.messages import ModelTurn
from curriculum.core.model import stream_turn
from curriculum.core.trace import to_json
from curriculum.core.values import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from curriculum.core.messages import Message
    from curriculum.core.model import Descriptors, Model, Retry, StreamingModel

MESSAGE_TOKENS = 4  # what a provider puts around each message: its role, its borders


# region: estimate
def estimate_tokens(text: str) -> int:
    """About one token for four bytes of UTF-8, rounded up: close for English, high for most code.

    Other scripts take more bytes a character, and more tokens too.
    """
    size = len(text) if text.isascii() else len(text.encode(errors="replace"))
    return -(-size // 4)


# endregion


# region: counter
class TokenCounter:
    """Counts messages. `count` counts one text: the estimate above, or a real tokenizer.

    `tools` are the descriptors that every request carries as well.
    """

    def __init__(
        self, tools: Descriptors = (), count: Callable[[str], int] = estimate_tokens
    ) -> None:
        self._count = count
        self._overhead = count(to_json(list(tools))) if tools else 0
        self._actual = self._counted = 1

    def cost(self, message: Message) -> int:
        """Tokens of one message as counted, not corrected."""
        calls = sum(
            self._count(call.name) + self._count(call.arguments) + MESSAGE_TOKENS
            for call in message.tool_calls
        )
        return MESSAGE_TOKENS + self._count(message.content) + calls

    def tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of a request that shows these messages, tools included, corrected."""
        counted = self._overhead + sum(map(self.cost, messages))
        return -(-counted * self._actual // self._counted)

    def room(self, limit: int) -> int:
        """How much messages may cost, as counted, for their tokens to be at most `limit`."""
        return limit * self._counted // self._actual - self._overhead

    def observe(self, messages: Sequence[Message], input_tokens: int) -> None:
        """Learn what a request really took. The latest one counts, within 1/2 and 8 times."""
        counted = self._overhead + sum(map(self.cost, messages))
        if counted > 0 and input_tokens > 0:
            self._counted = counted
            self._actual = min(max(input_tokens, counted // 2, 1), counted * 8)


# endregion


# region: measured
class MeasuredModel:
    """A model whose usage reports correct a counter; all else passes through."""

    def __init__(self, model: Model | StreamingModel, counter: TokenCounter) -> None:
        self.model = model
        self._counter = counter

    def stream(
        self, messages: Sequence[Message], tools: Descriptors
    ) -> Iterator[str | Retry | ModelTurn]:
        for item in stream_turn(self.model, messages, tools):
            if isinstance(item, ModelTurn) and item.usage:
                self._counter.observe(messages, item.usage.input_tokens)
            yield item


# endregion
