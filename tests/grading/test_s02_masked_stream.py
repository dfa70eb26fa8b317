"""The grader of s02 D is graded: each wrong guard is told why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest

from curriculum.core.errors import ModelError
from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import Model, Retry, ScriptedModel, StreamingModel, stream_turn
from curriculum.core.values import as_data, replace
from curriculum.grading.masked_stream import grade_masked_stream, mask_all
from curriculum.lessons.s02_streaming import solutions

Stream = Iterator[str | Retry | ModelTurn]
Tools = Sequence[dict[str, object]]
AnyModel = Model | StreamingModel


class Guard:
    """What most attempts have in common."""

    def __init__(self, model: AnyModel, secrets: Sequence[str]) -> None:
        self._model = model
        self._secrets = secrets

    def mask(self, text: str) -> str:
        return mask_all(text, self._secrets)

    def masked(self, turn: ModelTurn) -> ModelTurn:
        fields = {**as_data(turn), "content": self.mask(turn.resolved_content), "chunks": ()}
        return ModelTurn(**fields)


class PieceByPiece(Guard):
    """Masks each piece alone: a secret in two halves goes through."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for item in stream_turn(self._model, messages, tools):
            if isinstance(item, str):
                yield self.mask(item)
            else:
                yield self.masked(item) if isinstance(item, ModelTurn) else item


class AtTheEnd(Guard):
    """Safe, and no stream any more."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        text = ""
        for item in stream_turn(self._model, messages, tools):
            if isinstance(item, str):
                text += item
                continue
            if isinstance(item, ModelTurn):
                if text:
                    yield self.mask(text)
                item = self.masked(item)
            yield item


class TurnUnmasked(solutions.MaskedStream):
    """Guards the reader and not the message."""

    def _masked(self, turn: ModelTurn) -> ModelTurn:
        return turn


class FixedTail(Guard):
    """Always holds back `keep` characters, and masks what it lets go."""

    keep = 4

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        held = ""
        for item in stream_turn(self._model, messages, tools):
            if isinstance(item, str):
                held = self.mask(held + item)
                if out := held[: -self.keep]:
                    yield out
                held = held[-self.keep :]
                continue
            if isinstance(item, ModelTurn):
                if held:
                    yield held
                item = self.masked(item)
            yield item


class HoldsTooMuch(Guard):
    """Right, but twice as far behind as it has to be."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        held = ""
        for item in solutions.MaskedStream(self._model, self._secrets).stream(messages, tools):
            if isinstance(item, str):
                held += item
                if out := held[:-20]:
                    yield out
                held = held[-20:]
                continue
            if held and isinstance(item, ModelTurn):
                yield held
            yield item


class Shortest(Guard):
    """Takes the first secret that fits, not the longest."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        secrets = sorted(self._secrets, key=len)[:1]
        yield from solutions.MaskedStream(self._model, secrets).stream(messages, tools)


class ShowsTheTail(Guard):
    """When the stream drops, lets out what it held back."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        given = shown = ""
        try:
            inner = solutions.MaskedStream(self._model, self._secrets)
            for item in stream_turn(self._model, messages, tools):
                if isinstance(item, str):
                    given += item
                    out, _ = inner._mask(given, more=True)
                    if out[len(shown) :]:
                        yield out[len(shown) :]
                    shown = out
                    continue
                if isinstance(item, ModelTurn):
                    item = self.masked(item)
                    if item.content[len(shown) :] and given:
                        yield item.content[len(shown) :]
                yield item
        except ModelError:
            if given[len(shown) :]:
                yield given[len(shown) :]
            raise


class Stars(Guard):
    """As many stars as the secret has characters: its length is told."""

    def mask(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "*" * len(secret))
        return text

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for item in solutions.MaskedStream(self._model, self._secrets).stream(messages, tools):
            if isinstance(item, str):
                yield re.sub(r"\[REDACTED:secret:(\d)\]", lambda m: self._stars(int(m[1])), item)
            else:
                yield self.masked(item) if isinstance(item, ModelTurn) else item

    def _stars(self, number: int) -> str:
        return "*" * len(self._secrets[number - 1])


class CountsFromZero(solutions.MaskedStream):
    """Off by one in the mask."""

    def _mask(self, text: str, more: bool) -> tuple[str, str]:
        shown, held = super()._mask(text, more)
        return re.sub(r"(?<=secret:)\d+", lambda m: str(int(m[0]) - 1), shown), held


class LosesTheTail(Guard):
    """What was held back at the end stays back."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        held, guard = "", solutions.MaskedStream(self._model, self._secrets)
        for item in stream_turn(self._model, messages, tools):
            if isinstance(item, str):
                shown, held = guard._mask(held + item, more=True)
                if shown:
                    yield shown
                continue
            if isinstance(item, ModelTurn):
                item = self.masked(item)
                item = replace(item, content=item.content.removesuffix(held))
            yield item


class MasksOnlyPieces(solutions.MaskedStream):
    """An answer that comes at once goes through as it is."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        if hasattr(self._model, "stream"):
            yield from super().stream(messages, tools)
            return
        turn = self._model.respond(messages, tools)
        if turn.chunks:
            self._model = ScriptedModel([turn])
            yield from super().stream(messages, tools)
        else:
            yield turn


WRONG_GUARDS: dict[type[Guard | solutions.MaskedStream], list[str]] = {
    PieceByPiece: ["never to show anything but a beginning of"],
    AtTheEnd: ["as it arrives:", "text to be shown while more of it arrives"],
    TurnUnmasked: ["the turn to hold what was shown"],
    FixedTail: ["never to show anything but a beginning of"],
    HoldsTooMuch: [
        "at most 10 characters held back: less than the secret",
        "11 of 11 were held back",
    ],
    Shortest: ["never to show anything but a beginning of"],
    ShowsTheTail: ["a held-back tail to stay back when the stream drops"],
    LosesTheTail: ["in the end|the pieces to add up to"],
    MasksOnlyPieces: ["a trace without the secret", "it is in model.response"],
    Stars: ["never to show anything but a beginning of"],
    CountsFromZero: ["never to show anything but a beginning of", "REDACTED:secret:0"],
}


@pytest.mark.parametrize("wrong", WRONG_GUARDS)
def test_wrong_guards_are_told_why(wrong: type[Guard | solutions.MaskedStream]) -> None:
    with pytest.raises(AssertionError) as failure:
        grade_masked_stream(wrong)  # type: ignore[arg-type]
    for message in WRONG_GUARDS[wrong]:
        assert re.search(message, str(failure.value))


def test_masking_takes_the_first_place_and_there_the_longest() -> None:
    assert mask_all("abcd", ["bc", "abc"]) == "[REDACTED:secret:2]d"
    assert mask_all("abcbc", ["ab", "bc"]) == "[REDACTED:secret:1]c[REDACTED:secret:2]"
