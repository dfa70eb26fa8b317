"""What answers: the boundary to a model, and a scripted double that makes a harness testable.

A model turns messages into one `ModelTurn`. One that can also stream yields its text first, in
pieces, and then the same turn. The loop reads both through `stream_turn`.
"""

from __future__ import annotations

from curriculum.core.errors import ModelError
from curriculum.core.messages import ModelTurn
from curriculum.core.values import TYPE_CHECKING, Prefix, Protocol, value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from curriculum.core.messages import Message

    Descriptors = Sequence[dict[str, object]]


# region: model
class Model(Protocol):
    """Anything that can answer."""

    def respond(self, messages: Sequence[Message], tools: Descriptors) -> ModelTurn:
        """Answer the conversation, with `tools` to ask for. Raises ModelError when it cannot."""


# endregion


@value
class Retry:
    """Yielded by a retrying model: this attempt failed with `cause`, another follows.

    Only before any text of the attempt was yielded. `wait_us` is how long it waits, in µs.
    """

    cause: str
    wait_us: int


# region: stream
class StreamingModel(Protocol):
    """A model that shows its text while it arrives."""

    def stream(
        self, messages: Sequence[Message], tools: Descriptors
    ) -> Iterator[str | Retry | ModelTurn]:
        """Yield pieces of text (never empty), then exactly one ModelTurn that holds them all."""


def stream_turn(
    model: Model | StreamingModel, messages: Sequence[Message], tools: Descriptors
) -> Iterator[str | Retry | ModelTurn]:
    """The model's answer as a stream. One that only responds yields the chunks of its turn."""
    if hasattr(model, "stream"):
        yield from model.stream(messages, tools)
    else:
        turn = model.respond(messages, tools)
        if isinstance(turn, ModelTurn):
            yield from (chunk for chunk in turn.chunks if chunk)
        yield turn


# endregion


class ScriptedModel:
    """Answers with the declared turns, in order. An exception in the script is raised in its place.

    `requests` holds what each request showed the model: one fixed sequence of messages each.
    """

    def __init__(self, script: Iterable[ModelTurn | Exception]) -> None:
        self._script = list(script)
        self.requests: list[Sequence[Message]] = []

    def respond(self, messages: Sequence[Message], tools: Descriptors) -> ModelTurn:
        self.requests.append(messages if isinstance(messages, Prefix) else tuple(messages))
        if len(self.requests) > len(self._script):
            raise ModelError(f"the script has only {len(self._script)} turns; add one to it")
        turn = self._script[len(self.requests) - 1]
        if isinstance(turn, Exception):
            raise turn
        return turn
