"""The grader of s02 B is graded: each wrong streaming model is told why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest

from curriculum.core.errors import ModelError
from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import Model, Retry, StreamingModel, stream_turn
from curriculum.core.values import replace
from curriculum.grading.s02 import grade_word_by_word
from curriculum.lessons.s02_streaming import solutions

Stream = Iterator[str | Retry | ModelTurn]
Tools = Sequence[dict[str, object]]
AnyModel = Model | StreamingModel


class Wrapping:
    """What most attempts have in common: a model, and pieces made from the pieces of a model."""

    def __init__(self, model: AnyModel) -> None:
        self._model = model


class Splits(Wrapping):
    """Words without what stood between them."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for item in stream_turn(self._model, messages, tools):
            if isinstance(item, str):
                yield from item.split()
            else:
                yield item


class Waits(Wrapping):
    """Collects everything, then shows the words."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        text = ""
        for item in stream_turn(self._model, messages, tools):
            if isinstance(item, str):
                text += item
                continue
            if isinstance(item, ModelTurn):
                yield from re.findall(r"\s*\S+|\s+$", text)
            yield item


class LosesTheLastWord(Wrapping):
    """What is left over at the end stays in the buffer."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        held = ""
        for item in stream_turn(self._model, messages, tools):
            if isinstance(item, str):
                held += item
                words = re.findall(r"\s*\S+(?=\s)", held)
                yield from words
                held = held[sum(map(len, words)) :]
            else:
                yield item


class AfterTheTurn(Wrapping):
    """The rest comes after the turn."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        yield from solutions.WordByWord(self._model).stream(messages, tools)
        yield "."


class OnlyPasses(Wrapping):
    """Leaves the pieces as they came."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        yield from stream_turn(self._model, messages, tools)


class ByLetter(Wrapping):
    """One character at a time."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for item in stream_turn(self._model, messages, tools):
            if isinstance(item, str):
                yield from item
            else:
                yield item


class KeepsItsBuffer(Wrapping):
    """The buffer belongs to the object, so a dropped answer runs into the next."""

    _held = ""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for item in stream_turn(self._model, messages, tools):
            if isinstance(item, str):
                self._held += item
                words = re.findall(r"\s*\S+(?=\s)", self._held)
                yield from words
                self._held = self._held[sum(map(len, words)) :]
                continue
            if isinstance(item, ModelTurn) and self._held:
                yield self._held
                self._held = ""
            yield item


class Swallows(Wrapping):
    """A dropped stream becomes a short answer."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        text = ""
        try:
            for item in solutions.WordByWord(self._model).stream(messages, tools):
                text += item if isinstance(item, str) else ""
                yield item
        except ModelError:
            yield ModelTurn(text)


class NewTurn(Wrapping):
    """Makes a turn of its own and forgets the calls."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for item in solutions.WordByWord(self._model).stream(messages, tools):
            yield ModelTurn(item.resolved_content) if isinstance(item, ModelTurn) else item


class OnlyStreams(Wrapping):
    """Expects the model inside to stream."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        assert hasattr(self._model, "stream"), "no stream"
        yield from solutions.WordByWord(self._model).stream(messages, tools)


class DropsRetries(Wrapping):
    """Hides that the model tried twice."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for item in solutions.WordByWord(self._model).stream(messages, tools):
            if not isinstance(item, Retry):
                yield item


class HalfDone(Wrapping):
    """Began with the constructor."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        raise NotImplementedError


class EmptyPieces(Wrapping):
    """Every word is followed by nothing."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for item in solutions.WordByWord(self._model).stream(messages, tools):
            yield item
            if isinstance(item, str):
                yield ""


class OneBehind(Wrapping):
    """Shows a word when the next one is whole."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        held: list[str] = []
        for item in solutions.WordByWord(self._model).stream(messages, tools):
            if isinstance(item, str):
                held.append(item)
                yield from held[:-1]
                held = held[-1:]
                continue
            if isinstance(item, ModelTurn):
                yield from held
            yield item


class Pairs(Wrapping):
    """What became whole at once is shown at once."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        held = ""
        for item in stream_turn(self._model, messages, tools):
            if isinstance(item, str):
                held += item
                whole = "".join(re.findall(r"\s*\S+(?=\s)", held))
                if whole:
                    yield whole
                held = held[len(whole) :]
                continue
            if isinstance(item, ModelTurn) and held:
                yield held
            yield item


class ForgetsTheQuestion(Wrapping):
    """Asks the model with the first message only."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        yield from solutions.WordByWord(self._model).stream(messages[:1], tools)


class NoTurn(Wrapping):
    """Shows the text and stops."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for item in solutions.WordByWord(self._model).stream(messages, tools):
            if not isinstance(item, ModelTurn):
                yield item


class OwnFault(Wrapping):
    """A dropped stream is a fault of another kind, which nobody would retry."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        try:
            yield from solutions.WordByWord(self._model).stream(messages, tools)
        except ModelError as error:
            raise RuntimeError(str(error)) from None


class SaysSo(Wrapping):
    """A dropped stream is told to the reader as if the model had said it."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        try:
            yield from solutions.WordByWord(self._model).stream(messages, tools)
        except ModelError:
            yield " [interrupted]"
            raise


class Bytes(Wrapping):
    """Pieces as they come from a socket."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for item in solutions.WordByWord(self._model).stream(messages, tools):
            yield item.encode() if isinstance(item, str) else item  # type: ignore[misc]


class TidyTurn(Wrapping):
    """The reader sees the spaces, the message has lost them."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for item in solutions.WordByWord(self._model).stream(messages, tools):
            if isinstance(item, ModelTurn):
                item = replace(item, content=" ".join(item.resolved_content.split()))
            yield item


WRONG_WORDS: dict[type[Wrapping], list[str]] = {
    Splits: ["nothing is lost:", "the pieces to add up to"],
    Waits: ["as it arrives:", "text to be shown while more of it arrives"],
    LosesTheLastWord: ["nothing is lost:", "the pieces to add up to"],
    AfterTheTurn: ["the ModelTurn to be the last thing"],
    OnlyPasses: ["at most one word in a piece|a word was cut between"],
    ByLetter: ["a word was cut between"],
    KeepsItsBuffer: ["no memory:"],
    Swallows: ["dropped after text:", "swallowed and became the answer"],
    NewTurn: ["calls:", "unchanged and in order"],
    OnlyStreams: ["any Model to be wrapped, also one without `stream`"],
    DropsRetries: ["retries:", "to be passed on"],
    HalfDone: [r"half done: NotImplementedError \(test_s02_word_by_word.py, line \d+\)"],
    OneBehind: ["every word to be shown once it is whole"],
    Pairs: ["at most one word in a piece"],
    ForgetsTheQuestion: ["the messages to be passed on"],
    NoTurn: ["a ModelTurn at the end of the stream", "it just ended"],
    OwnFault: ["dropped before text:", "out came RuntimeError"],
    SaysSo: ["dropped after text:", "a beginning of", "interrupted"],
    Bytes: ["text, then a ModelTurn"],
    TidyTurn: ["nothing is lost:", "the turn to hold"],
    EmptyPieces: ["an empty piece was yielded"],
}


@pytest.mark.parametrize("wrong", WRONG_WORDS)
def test_wrong_words_are_told_why(wrong: type[Wrapping]) -> None:
    with pytest.raises(AssertionError) as failure:
        grade_word_by_word(wrong)  # type: ignore[arg-type]
    for message in WRONG_WORDS[wrong]:
        assert re.search(message, str(failure.value))
