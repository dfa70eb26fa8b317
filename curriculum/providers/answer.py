"""What the adapters share: one request and its answer, shown text, the turn at the end.

Text is shown as it arrives and never taken back, so the complete answer must begin with what was
shown. A stream that ends before its answer is complete is a failure, whatever it has said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Protocol

from curriculum.core.errors import ModelError, ProtocolError, RunError, TransientModelError
from curriculum.core.messages import ModelTurn
from curriculum.core.model import Retry
from curriculum.core.seams import CancelToken
from curriculum.core.trace import clean_text
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.faults import Faults
from curriculum.providers.key_mask import MaskedText
from curriculum.providers.sse import ServerSentEvent
from curriculum.providers.wire import parse

Descriptors = Sequence[dict[str, object]]


class Answer(Protocol):
    """One answer while it arrives."""

    @property
    def turn(self) -> ModelTurn | None:
        """The turn, once the answer is complete."""

    def take(self, event: ServerSentEvent) -> Iterator[str]:
        """The text to show for an event. Raises RunError if the answer has failed."""

    def end(self) -> None:
        """The stream is over. Sets `turn`, or raises RunError if the answer is not complete."""


# region: exchange
def run_exchange(
    answer: Answer,
    endpoint: Endpoint,
    path: str,
    headers: Mapping[str, str],
    body: Mapping[str, object],
    cancel: CancelToken,
    faults: Faults,
) -> Iterator[str | ModelTurn]:
    """Send one request; yield its text as it arrives, then its turn, and hang up at once."""
    try:
        from curriculum.providers.connection import post  # imports httpx: not before it is needed
    except ImportError as fault:
        raise ModelError(
            f"a real model needs httpx ({fault}); run `make locked` in a checkout, "
            "then the same command with .venv/bin/python"
        ) from fault
    mask = faults.key_mask  # all that an exchange gives passes it here: text, turn, error
    shown = MaskedText(mask)
    try:
        with closing(post(endpoint, path, headers, body, cancel, faults)) as events:
            for event in events:
                cancel.check()
                for piece in answer.take(event):
                    yield from shown.add(piece)
                if answer.turn is not None:
                    break
            else:
                answer.end()
        assert answer.turn is not None
        yield from shown.end()
        yield mask.turn(answer.turn, shown.pieces)
    except RunError as fault:
        fault.message = mask.message(fault.message)
        fault.args = (fault.message,)
        raise


# endregion


def last_turn(stream: Iterable[str | Retry | ModelTurn]) -> ModelTurn:
    """The turn that ends a stream of text."""
    for item in stream:
        if isinstance(item, ModelTurn):
            return item
    raise ProtocolError("the stream ended without a complete answer")


def read_event(event: ServerSentEvent, ours: Collection[str], faults: Faults) -> dict[str, Any]:
    """The data of an event; {} for what is unknown and no JSON object.

    `ours` are the names of events that mean something to us. Raises ProtocolError if one of them
    cannot be read: it might have been the one that counts.
    """
    try:
        data = parse(event.data)
    except ValueError as fault:
        if event.name == "error":
            return {"type": "error", "message": event.data}
        if event.name not in ours:
            return {}
        quoted = faults.quote(event.data)
        raise ProtocolError(f"an event is no JSON that can be kept ({fault}): {quoted}") from None
    if isinstance(data, dict):
        return data
    if event.name in ours:
        raise ProtocolError(f"an event is {type(data).__name__}, not an object")
    return {}


def cut_off() -> TransientModelError:
    """The error of a stream that ended early."""
    return TransientModelError(
        "the stream ended before the answer was complete; nothing of it was run; try again"
    )


# region: shown
class ShownText:
    """The text of an answer as it was shown, piece by piece.

    A provider may cut a character in two, each half a lone surrogate: the first half waits.
    """

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._half = ""

    def add(self, piece: str) -> Iterator[str]:
        """What can be shown now that `piece` has arrived: nothing, or one piece."""
        piece, self._half = self._half + piece, ""
        if piece and "\ud800" <= piece[-1] <= "\udbff":
            piece, self._half = piece[:-1], piece[-1]
        if piece:
            self.pieces.append(join_halves(piece))
            yield self.pieces[-1]

    def complete(self, texts: list[str]) -> tuple[str, list[str]]:
        """(the text of the answer, what of it is still to be shown), given the texts it holds.

        Raises ProtocolError if it does not begin with what was shown: a reader would have seen
        another answer than the one that is kept.
        """
        shown = "".join(self.pieces)
        for text in ("\n\n".join(texts), "".join(texts)):
            if text.startswith(shown):
                rest = [text[len(shown) :]] if len(text) > len(shown) else []
                self.pieces += rest
                return text, rest
        raise ProtocolError("the text that was streamed is not the text of the complete answer")


# endregion


def join_halves(text: str) -> str:
    """`text` with the two halves of a character joined, and a half without the other replaced."""
    if text.isascii():
        return text
    return clean_text(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
