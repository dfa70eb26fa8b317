"""The graders of s02 are graded: the reference passes, and each wrong solution is told why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import pytest

from curriculum.core.errors import ModelError
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import Model, Retry, ScriptedModel, StreamingModel, stream_turn
from curriculum.core.trace import Event
from curriculum.core.values import as_data, replace
from curriculum.grading.masked_stream import grade_masked_stream, mask_all
from curriculum.grading.s02 import grade_deltas_of, grade_word_by_word
from curriculum.grading.stream_outcomes import WAYS, grade_stream_outcomes, observe_outcome
from curriculum.grading.stream_under_test import Source, Wrapped
from curriculum.grading.streaming_conformance import check_deltas, check_stream
from curriculum.lessons.s02_streaming import solutions

Stream = Iterator[str | Retry | ModelTurn]
Tools = Sequence[dict[str, object]]
AnyModel = Model | StreamingModel


def test_the_reference_passes() -> None:
    grade_deltas_of(solutions.deltas_of)
    grade_word_by_word(solutions.WordByWord)
    assert solutions.STREAM_OUTCOMES is not None
    grade_stream_outcomes(solutions.STREAM_OUTCOMES)
    grade_masked_stream(solutions.MaskedStream)


@pytest.mark.parametrize("seed", range(5))
def test_the_reference_passes_the_kit_with_any_seed(seed: int) -> None:
    assert check_stream(Wrapped(solutions.WordByWord), seed) == []
    assert check_stream(Wrapped(lambda model: solutions.MaskedStream(model, ["key"])), seed) == []
    assert check_stream(Wrapped(lambda model: model), seed) == []  # type: ignore[arg-type,return-value]


# A. deltas_of


def every(runner: AgentRunner) -> list[str]:
    return [str(e.payload["text"]) for e in runner.recorder.events if e.type == "model.delta"]


def responses(runner: AgentRunner) -> list[str]:
    texts = [e.payload["content"] for e in runner.recorder.events if e.type == "model.response"]
    return [str(texts[-1])]


WRONG_DELTAS: dict[str, tuple[Callable[[AgentRunner], object], str]] = {
    "all requests": (every, "pieces of an earlier answer among them"),
    "the message": (responses, "that is the message|you returned"),
    "joined": (lambda runner: "".join(solutions.deltas_of(runner)), "one text, not the pieces"),
    "the last is missing": (lambda runner: solutions.deltas_of(runner)[:-1], "you returned"),
    "the first is missing": (lambda runner: solutions.deltas_of(runner)[1:], "you returned"),
    "printed": (lambda runner: print(every(runner)), "printing is not returning"),
    "events": (
        lambda runner: [e for e in runner.recorder.events if e.type == "model.delta"],
        "the pieces are the `text` of the events",
    ),
    "hard-coded": (
        lambda runner: ["Pieces are for ", "the reader; ", "the message ", "is for the model."],
        "you returned",
    ),
    "stripped": (lambda runner: [p.strip() for p in solutions.deltas_of(runner)], "you returned"),
    "a message as a piece": (
        lambda runner: solutions.deltas_of(runner) or responses(runner),
        "nothing of it was shown in pieces",
    ),
}


@pytest.mark.parametrize("name", WRONG_DELTAS)
def test_wrong_deltas_are_told_why(name: str) -> None:
    wrong, message = WRONG_DELTAS[name]
    with pytest.raises(AssertionError, match=message):
        grade_deltas_of(wrong)  # type: ignore[arg-type]


# B. WordByWord


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


class OneSpace(Wrapping):
    """Every gap becomes one space."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        text = ""
        for item in stream_turn(self._model, messages, tools):
            if isinstance(item, str):
                text += item
            else:
                yield from (word + " " for word in text.split())
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


class Asks(Wrapping):
    """Asks the model twice: once for the text, once for the turn."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        yield from (
            item
            for item in solutions.WordByWord(self._model).stream(messages, tools)
            if isinstance(item, str)
        )
        yield from (
            item
            for item in stream_turn(self._model, messages, tools)
            if isinstance(item, ModelTurn)
        )


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
    OneSpace: ["nothing is lost:", "the pieces to add up to"],
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
    Asks: ["nothing is lost:", "the script has no answer left"],
    HalfDone: [r"half done: NotImplementedError \(test_s02.py, line \d+\)"],
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


# C. STREAM_OUTCOMES


def changed(way: str, column: str, prediction: object) -> dict[str, dict[str, object]]:
    assert solutions.STREAM_OUTCOMES is not None
    table = {name: dict(row) for name, row in solutions.STREAM_OUTCOMES.items()}
    assert table[way][column] != prediction or type(table[way][column]) is not type(prediction)
    table[way][column] = prediction
    return table


WRONG_OUTCOMES: dict[str, tuple[object, str]] = {
    "half a message": (
        changed("dropped after text", "assistant messages", 1),
        "'dropped after text': you predict assistant messages 1, the trace shows 0",
    ),
    "deltas as messages": (
        changed("complete", "assistant messages", 5),
        "'complete': you predict assistant messages 5, the trace shows 1",
    ),
    "retry after text": (
        changed("dropped after text", "retry may follow", True),
        "'dropped after text': you predict retry may follow True, the trace shows False",
    ),
    "no retry at all": (
        changed("dropped before text", "retry may follow", False),
        "'dropped before text': you predict retry may follow False, the trace shows True",
    ),
    "cancelled is failed": (
        changed("cancelled", "stop", "failed"),
        "'cancelled': you predict stop 'failed', the trace shows 'cancelled'",
    ),
    "bad ids still complete": (
        changed("bad call ids", "response", "completed"),
        "'bad call ids': you predict response 'completed', the trace shows 'failed'",
    ),
    "wrong kind": (
        changed("deltas do not add up", "error", "model"),
        "'deltas do not add up': you predict error 'model', the trace shows 'protocol'",
    ),
    "a number for a truth": (changed("cancelled", "retry may follow", 0), "retry may follow 0"),
    "a way left out": ({"complete": {}}, "one row for each of complete, dropped before text"),
    "a column left out": ({way: {} for way in WAYS}, "in 'complete' the columns response"),
    "a list": ([], "a dict with one row for each"),
}


@pytest.mark.parametrize("name", WRONG_OUTCOMES)
def test_wrong_outcomes_are_told_why(name: str) -> None:
    wrong, message = WRONG_OUTCOMES[name]
    with pytest.raises(AssertionError, match=message):
        grade_stream_outcomes(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("way", WAYS)
def test_a_way_has_the_same_outcome_for_every_text(way: str) -> None:
    assert len({str(observe_outcome(way, seed)) for seed in range(20)}) == 1


# D. MaskedStream


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


def test_a_check_that_is_lacking_must_exist() -> None:
    under_test = Wrapped(lambda model: Source(()))
    under_test.lacks = {"telepathy": "not built in"}
    with pytest.raises(ValueError, match="telepathy"):
        check_stream(under_test)


def run_with_deltas() -> list[Event]:
    model = ScriptedModel([ModelTurn(chunks=("a ", "b ", "c"))])
    return list(AgentRunner(model).run("go").events)


def edited(events: list[Event], number: int, **payload: object) -> list[Event]:
    event = events[number]
    return [
        *events[:number],
        replace(event, payload={**event.payload, **payload}),
        *events[number + 1 :],
    ]


def test_the_rules_of_deltas_are_checked_on_the_trace() -> None:
    events = run_with_deltas()
    first = [event.type for event in events].index("model.delta")
    check_deltas(events)
    with pytest.raises(AssertionError, match="delta indexes without a gap"):
        check_deltas(edited(events, first + 1, index=2))
    with pytest.raises(AssertionError, match="deltas that add up to the response"):
        check_deltas(edited(events, first + 1, text="B "))
    with pytest.raises(AssertionError, match="deltas between request and response"):
        check_deltas(edited(events, first, request_id="request-9"))
    late = [*events[: first + 2], events[first + 3], events[first + 2], *events[first + 4 :]]
    with pytest.raises(AssertionError, match="deltas"):
        check_deltas(late)
