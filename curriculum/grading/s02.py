"""Graders of s02 A and B: text in pieces, one message, tried with texts and cuts that differ."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from curriculum.core.errors import TransientModelError
from curriculum.core.loop import AgentRunner, RunResult
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import Model, ScriptedModel, StreamingModel
from curriculum.grading.mistakes import attempt, mistake, quote, raise_findings
from curriculum.grading.stream_under_test import (
    Seen,
    Source,
    Streamed,
    Wrapped,
    cut,
    prose,
    watch_stream,
)
from curriculum.grading.streaming_conformance import check_deltas, check_stream

__unittest = True

OBSERVE = 's02, "Run it and observe it"'
STEPS = 's02, "Step by step"'
INVARIANTS = 's02, "Invariants"'
SOME = 60  # characters of the texts made up here: what is wrong with them must not stand far behind

Wrap = Callable[[Model | StreamingModel], StreamingModel]


def grade_deltas_of(deltas_of: Callable[[AgentRunner], Sequence[str]]) -> None:
    """A. The pieces of the last answer, of runs with one request and with several."""
    rng = random.Random(1)
    for rounds in (1, 2, 3):
        turns = [ModelTurn(chunks=cut(prose(rng), rng)) for _ in range(rounds)]
        for number in range(rounds - 1):
            call = ToolCall(f"c{number}", "fiction")
            turns[number] = ModelTurn(chunks=turns[number].chunks, tool_calls=(call,))
        runner = AgentRunner(ScriptedModel(turns))
        result = runner.run("go")
        _check_pieces(deltas_of, runner, list(turns[-1].chunks), result)
    runner = AgentRunner(ScriptedModel([ModelTurn("all at once")]))
    _check_pieces(deltas_of, runner, [], runner.run("go"))
    first = ModelTurn(chunks=cut(prose(rng), rng), tool_calls=(ToolCall("c0", "fiction"),))
    runner = AgentRunner(ScriptedModel([first, ModelTurn("then all at once")]))
    _check_pieces(deltas_of, runner, [], runner.run("go"))


def _check_pieces(
    deltas_of: Callable[[AgentRunner], Sequence[str]],
    runner: AgentRunner,
    wanted: list[str],
    result: RunResult,
) -> None:
    with attempt("deltas_of", OBSERVE):
        got = deltas_of(runner)
    if isinstance(got, (list, tuple)) and list(got) == wanted:
        return
    saw = f"you returned {quote(got, SOME)}"
    if got is None:
        saw = "deltas_of returned None; printing is not returning"
    elif isinstance(got, str):
        saw += ": one text, not the pieces that it arrived in"
    elif not isinstance(got, (list, tuple)):
        saw += ": no list of pieces"
    elif list(got) == [result.final_text] and not wanted:
        saw += ": that is the message; nothing of it was shown in pieces"
    elif any(not isinstance(piece, str) for piece in got):
        saw += ": the pieces are the `text` of the events"
    elif "".join(got).endswith("".join(wanted)) and len(got) > len(wanted):
        saw += ": there are pieces of an earlier answer among them"
    else:
        saw = f"you returned {_first_difference(wanted, got)}"
    expected = f"the pieces of the last answer, {len(wanted)}: {quote(wanted, SOME)}"
    raise mistake(expected, saw, OBSERVE)


def _first_difference(wanted: Sequence[str], got: Sequence[str]) -> str:
    for number, (one, other) in enumerate(zip(wanted, got, strict=False), 1):
        if one != other:
            return f"{quote(other, SOME)} as piece {number}, which is {quote(one, SOME)}"
    return f"{len(got)}: {quote(list(got), SOME)}"


def grade_word_by_word(wrap: Wrap) -> None:
    """B. Whole words, nothing lost, each as soon as it is known to be whole."""
    raise_findings("WordByWord", check_stream(Wrapped(wrap)))
    rng = random.Random(2)
    with attempt("WordByWord", STEPS):
        for words in (1, 5, 40):
            for pieces in _cuts(prose(rng, words), rng):
                _check_words(wrap, pieces)
        _check_dropped(wrap)
        _check_any_model(wrap, prose(rng), rng)


def _cuts(text: str, rng: random.Random) -> Iterator[tuple[str, ...]]:
    yield tuple(text)
    yield (text,)
    yield cut(text, rng)


def _check_words(wrap: Wrap, pieces: tuple[str, ...]) -> None:
    shown = Seen()

    def keep(seen: Seen) -> None:
        shown.pieces = seen.pieces

    def promptly(given: str) -> None:
        whole = next(
            (
                n
                for n in range(len(given) - 1, 0, -1)
                if given[n].isspace() > given[n - 1].isspace()
            ),
            0,
        )
        if len(shown.text) < whole:
            expected = f"every word to be shown once it is whole, up to {given[:whole]!r}"
            saw = f"only {shown.text!r} was shown when more was asked for"
            raise mistake(expected, saw, STEPS)

    seen = watch_stream(wrap(Source([Streamed(pieces)], promptly)), each=keep)
    for piece in seen.pieces:
        if len(piece.split()) > 1:
            raise mistake("at most one word in a piece", f"a piece is {piece!r}", STEPS)
    for left, right in zip(seen.pieces, seen.pieces[1:], strict=False):
        if not left[-1].isspace() and not right[0].isspace():
            saw = f"a word was cut between {left!r} and {right!r}"
            raise mistake("whole words", saw, STEPS)


def _check_dropped(wrap: Wrap) -> None:
    """Half a word is never shown: nobody knows how it would have gone on."""
    fault = TransientModelError("broken")
    for pieces, whole in ((("one two thr",), "one two"), (("thr",), ""), (("so ", "be"), "so")):
        seen = watch_stream(wrap(Source([Streamed(pieces, fault=fault)])))
        if seen.text.strip() != whole:
            expected = f"of {pieces}, broken off there, only {whole!r}: what is whole"
            raise mistake(expected, f"shown was {seen.text!r}", STEPS)


def _check_any_model(wrap: Wrap, text: str, rng: random.Random) -> None:
    """A model that only responds has a stream too: the chunks of its turn."""
    call = ToolCall("c1", "fiction")
    script = [ModelTurn(chunks=cut(text, rng), tool_calls=(call,)), ModelTurn(text)]
    model = ScriptedModel(script)
    result = AgentRunner(wrap(model)).run("go")
    if result.stop_reason != "completed":
        expected = "any Model to be wrapped, also one without `stream` (see stream_turn)"
        raise mistake(expected, f"{result.error!r}", STEPS)
    check_deltas(result.events)
    texts = [message.content for message in result.messages if message.role == "assistant"]
    if texts != [text, text]:
        raise mistake(f"one assistant message an answer, {[text] * 2}", f"{texts}", INVARIANTS)
    if [message.role for message in model.requests[1]] != ["user", "assistant", "tool"]:
        raise mistake("the messages to be passed on", quote(model.requests[1]), STEPS)
