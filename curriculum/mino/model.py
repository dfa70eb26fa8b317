"""Which model answers, by which protocol, and the bounds on what goes over the wire.

The adapters are those of s07; the loop and the rest of mino know no provider.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from curriculum.core.errors import ModelError, TurnLimitError
from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import Retry, StreamingModel
from curriculum.core.seams import CancelToken
from curriculum.mino.config import Settings
from curriculum.mino.spending import ANSWER_TOKENS

if TYPE_CHECKING:
    from curriculum.core.model import Descriptors

MOST_ANSWER = 1024 * 1024  # characters of text


# region: model
def make_model(settings: Settings, cancel: CancelToken) -> StreamingModel:
    """The model that the settings name; nothing is connected yet."""
    if settings.demo:
        from curriculum.mino.demo import DemoModel

        return DemoModel(cancel)
    endpoint, model, omit = settings.endpoint, settings.model, {*settings.omit}
    is_counted = settings.limits.max_tokens is not None or settings.limits.max_cost is not None
    most = ANSWER_TOKENS if is_counted else None  # what the budget sets aside has to be a bound
    if settings.protocol == "anthropic":
        from curriculum.providers.anthropic_messages import AnthropicModel

        if most is None:
            return AnthropicModel(endpoint, model, cancel=cancel)
        return AnthropicModel(endpoint, model, max_tokens=most, cancel=cancel)
    if settings.allow_reads:  # several at once are of use only if they may be asked for at once
        omit.add("parallel_tool_calls")
    if settings.protocol == "chat":
        from curriculum.providers.chat_completions import ChatCompletionsModel

        return ChatCompletionsModel(
            endpoint, model, omit=omit, max_output_tokens=most, cancel=cancel
        )
    from curriculum.providers.responses import ResponsesModel

    return ResponsesModel(endpoint, model, omit=omit, max_output_tokens=most, cancel=cancel)


# endregion


class BoundedModel:
    """A model that may be asked `most` times in a turn, and whose every answer has an end.

    The loop bounds the answers of a turn; this bounds what goes over the wire. A failed attempt
    counts too.
    """

    def __init__(self, model: StreamingModel, most: int) -> None:
        self._model, self._most = model, most
        self._asked = 0

    def begin_turn(self) -> None:
        """A turn begins: nothing has been asked in it."""
        self._asked = 0

    def stream(
        self, messages: Sequence[Message], tools: Descriptors
    ) -> Iterator[str | Retry | ModelTurn]:
        """The model's stream. Raises TurnLimitError when nothing may be asked any more, ModelError
        when an answer does not end.
        """
        if self._asked >= self._most:
            most = self._most
            raise TurnLimitError(f"no model request is left of {most}", max_turns=most)
        self._asked += 1
        size = 0
        for item in self._model.stream(messages, tools):
            size += len(item) if isinstance(item, str) else 0
            if size > MOST_ANSWER:
                raise ModelError(f"the answer is longer than {MOST_ANSWER} characters; stopped")
            yield item
