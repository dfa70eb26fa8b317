"""The graders of s02 A and C are graded: the reference passes, wrong answers are told why."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from curriculum.core.loop import AgentRunner
from curriculum.grading.masked_stream import grade_masked_stream
from curriculum.grading.s02 import grade_deltas_of, grade_word_by_word
from curriculum.grading.stream_outcomes import WAYS, grade_stream_outcomes, observe_outcome
from curriculum.grading.stream_under_test import Wrapped
from curriculum.grading.streaming_conformance import check_stream
from curriculum.lessons.s02_streaming import solutions


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


def every(runner: AgentRunner) -> list[str]:
    return [str(e.payload["text"]) for e in runner.recorder.events if e.type == "model.delta"]


def responses(runner: AgentRunner) -> list[str]:
    texts = [e.payload["content"] for e in runner.recorder.events if e.type == "model.response"]
    return [str(texts[-1])]


def since_the_last_index_0(runner: AgentRunner) -> list[str]:
    pieces: list[str] = []
    for event in runner.recorder.events:
        if event.type == "model.delta":
            text = str(event.payload["text"])
            pieces = [*pieces, text] if event.payload["index"] else [text]
    return pieces


WRONG_DELTAS: dict[str, tuple[Callable[[AgentRunner], object], str]] = {
    "all requests": (every, "pieces of an earlier answer among them"),
    "the message": (responses, "that is the message|you returned"),
    "since the last index 0": (since_the_last_index_0, "nothing of it was shown in pieces|earlier"),
    "joined": (lambda runner: "".join(solutions.deltas_of(runner)), "one text, not the pieces"),
    "the last is missing": (lambda runner: solutions.deltas_of(runner)[:-1], "you returned"),
    "the first is missing": (lambda runner: solutions.deltas_of(runner)[1:], "you returned"),
    "a number": (lambda runner: len(solutions.deltas_of(runner)), "no list of pieces"),
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


@pytest.mark.parametrize("name", WRONG_DELTAS)
def test_what_is_wrong_with_deltas_stands_on_a_line_that_can_be_read(name: str) -> None:
    wrong, _ = WRONG_DELTAS[name]
    with pytest.raises(AssertionError) as caught:
        grade_deltas_of(wrong)  # type: ignore[arg-type]
    assert max(map(len, str(caught.value).splitlines())) <= 180


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
    "a way left out": ({"complete": {}}, "no row for 'dropped before text', 'dropped after text'"),
    "a column left out": ({way: {} for way in WAYS}, "'complete' has the columns response"),
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
