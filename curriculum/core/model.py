"""What answers: the boundary to a model, and a scripted double that makes a harness testable.

A model turns messages into one `ModelTurn`. One that can also stream yields its text first, in
pieces, and then the same turn. The loop reads both through `stream_turn`.
"""

from __future__ import annotations

from curriculum.core.errors import ModelError, ProtocolError
from curriculum.core.messages import ModelTurn, ToolCall, Usage
from curriculum.core.trace import MAX_INTEGER, clean_text
from curriculum.core.values import TYPE_CHECKING, Prefix, Protocol, as_data, value

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from curriculum.core.messages import Message

    Descriptors = Sequence[dict[str, object]]

MAX_CALL_ID = 256  # characters; Trace 0.1
MAX_CALLS = 512  # in one answer: its event has to fit in one line of a trace


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


def _is_count(usage: object) -> bool:
    counts = as_data(usage).values() if isinstance(usage, Usage) else (-1,)
    return all(type(count) is int and 0 <= count <= MAX_INTEGER for count in counts)


# region: check
def check_answer(turn: ModelTurn, shown: str, used_ids: Container[str]) -> tuple[ToolCall, ...]:
    """Refuse an answer that cannot be trusted before anything of it is kept or run.

    `shown` is the text that was streamed, `used_ids` are the call ids of the run so far. Returns
    the calls with clean text; their arguments may be anything, the tool judges them. Raises
    ProtocolError.
    """
    if not isinstance(turn.tool_calls, tuple):
        raise ProtocolError(f"tool_calls is no tuple (a comma missing?): {turn.tool_calls!r}")
    if not all(isinstance(text, str) for text in (turn.content, *turn.chunks)):
        raise ProtocolError("the content or a chunk of the answer is not text")
    if shown and shown != clean_text(turn.resolved_content):
        raise ProtocolError("the streamed text is not the text of the answer")
    if turn.usage is not None and not _is_count(turn.usage):
        raise ProtocolError(f"the usage is not two counts of tokens: {turn.usage!r}")
    if len(turn.tool_calls) > MAX_CALLS:
        raise ProtocolError(f"the answer has {len(turn.tool_calls)} calls; {MAX_CALLS} are allowed")
    fresh: dict[str, ToolCall] = {}
    for call in turn.tool_calls:
        texts = tuple(as_data(call).values()) if isinstance(call, ToolCall) else ()
        if not texts or not all(isinstance(text, str) for text in texts):
            raise ProtocolError(f"a call is not made of text: {call!r}")
        clean = ToolCall(*[clean_text(text) for text in texts])
        if not 0 < len(clean.call_id) <= MAX_CALL_ID:
            raise ProtocolError(f"a call of {clean.name!r} has no usable call_id")
        if clean.call_id in fresh:
            raise ProtocolError(f"two calls share the call_id {clean.call_id!r}")
        if clean.call_id in used_ids:
            raise ProtocolError(f"the call_id {clean.call_id!r} was used before")
        fresh[clean.call_id] = clean
    return tuple(fresh.values())


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
