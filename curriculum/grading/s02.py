"""Graders of s02: text in pieces, one message, tried with texts and cuts that differ."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from curriculum.core.errors import TransientModelError
from curriculum.core.loop import AgentRunner, RunResult
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import Model, Retry, ScriptedModel, StreamingModel
from curriculum.core.seams import CancelToken
from curriculum.grading.mistakes import attempt, mistake, quote, raise_findings
from curriculum.grading.streaming_conformance import (
    Seen,
    Source,
    Streamed,
    Wrapped,
    check_deltas,
    check_stream,
    cut,
    prose,
    watch_stream,
)

__unittest = True

OBSERVE = 's02, "Run it and observe it"'
STEPS = 's02, "Step by step"'
INVARIANTS = 's02, "Invariants"'
DESIGN = 's02, "Exercises", C'
GUARD = 's02, "Exercises", D'

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
    saw = f"you returned {quote(got)}"
    if got is None:
        saw = "deltas_of returned None; printing is not returning"
    elif isinstance(got, str):
        saw += ": one text, not the pieces that it arrived in"
    elif list(got) == [result.final_text]:
        saw += ": that is the message; nothing of it was shown in pieces" if not wanted else ""
    elif any(not isinstance(piece, str) for piece in got):
        saw += ": the pieces are the `text` of the events"
    elif "".join(got).endswith("".join(wanted)) and len(got) > len(wanted):
        saw += ": there are pieces of an earlier answer among them"
    raise mistake(f"the pieces of the last answer, {quote(wanted)}", saw, OBSERVE)


def grade_word_by_word(wrap: Wrap) -> None:
    """B. Whole words, nothing lost, each as soon as it is known to be whole."""
    raise_findings("WordByWord", check_stream(Wrapped(wrap)))
    rng = random.Random(2)
    with attempt("WordByWord", STEPS):
        for words in (1, 5, 40):
            for pieces in _cuts(prose(rng, words), rng):
                _check_words(wrap, pieces)
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


WAYS = (
    "complete",
    "dropped before text",
    "dropped after text",
    "cancelled",
    "bad call ids",
    "deltas do not add up",
)
COLUMNS = ("response", "assistant messages", "retry may follow", "error", "stop")

Outcome = Mapping[str, object]


class _Ending:
    """A streaming model that ends its answer in one of the ways; with `again` it would retry."""

    def __init__(self, way: str, again: bool, rng: random.Random) -> None:
        self.cancel = CancelToken()
        self._way, self._again = way, again
        self._pieces = cut(prose(rng), rng)
        self._fault = rng.choice([TransientModelError("broken"), ConnectionResetError("reset")])
        self._bad_ids = rng.choice([("", "c1"), ("c1", "c1")])

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | Retry | ModelTurn]:
        text = "".join(self._pieces)
        if self._way != "dropped before text":
            yield from self._pieces
        if self._way == "cancelled":
            self.cancel.cancel("user")
            yield "more"
        elif self._way == "bad call ids":
            calls = tuple(ToolCall(call_id, "fiction") for call_id in self._bad_ids)
            yield ModelTurn(text, calls)
        elif self._way == "deltas do not add up":
            yield ModelTurn(text + "?")
        elif self._way == "complete":
            yield ModelTurn(text)
        elif not self._again:
            raise self._fault
        if self._again:
            yield Retry("broken", 0)
            yield ModelTurn("a second answer")


def observe_outcome(way: str, seed: int) -> Outcome:
    """What really happens, read from the trace of a run whose only request ends in this way."""
    model = _Ending(way, False, random.Random(seed))
    result = AgentRunner(model, cancel=model.cancel).run("go")
    responses = [event for event in result.events if event.type == "model.response"]
    again = _Ending(way, True, random.Random(seed))
    retried = AgentRunner(again, cancel=again.cancel).run("go")
    error = [event.payload["kind"] for event in result.events if event.type == "error"]
    return {
        "response": responses[-1].payload["status"],
        "assistant messages": sum(message.role == "assistant" for message in result.messages),
        "retry may follow": "retry.wait" in [event.type for event in retried.events],
        "error": error[0] if error else None,
        "stop": result.stop_reason,
    }


def grade_stream_outcomes(table: Mapping[str, Outcome]) -> None:
    """C. What was predicted against what the trace shows, way by way."""
    if not isinstance(table, Mapping) or set(table) != set(WAYS):
        ways = ", ".join(WAYS)
        raise mistake(f"a dict with one row for each of {ways}", quote(table), DESIGN)
    findings = []
    for way in WAYS:
        row = table[way]
        if not isinstance(row, Mapping) or set(row) != set(COLUMNS):
            columns = ", ".join(COLUMNS)
            raise mistake(f"in {way!r} the columns {columns}", quote(row), DESIGN)
        for seed in range(4):
            real = observe_outcome(way, seed)
            wrong = [c for c in COLUMNS if (row[c], type(row[c])) != (real[c], type(real[c]))]
            findings += [
                f"{way!r}: you predict {column} {row[column]!r}, the trace shows {real[column]!r}"
                for column in wrong
            ]
            if wrong:
                break
    if findings:
        saw = "\n    - ".join(["", *findings])
        raise mistake("predictions that come true", saw, DESIGN)


def mask_all(text: str, secrets: Sequence[str]) -> str:
    """The text with each secret masked, from left to right; where two begin, the longer one."""
    shown, at = "", 0
    while at < len(text):
        here = [secret for secret in secrets if text.startswith(secret, at)]
        found = max(here, key=len, default="")
        shown += f"[REDACTED:secret:{secrets.index(found) + 1}]" if found else text[at]
        at += len(found) or 1
    return shown


MaskWith = Callable[[Model | StreamingModel, Sequence[str]], StreamingModel]


def grade_masked_stream(masked_stream: MaskWith) -> None:
    """D. Through the kit, then texts with secrets cut at every place."""

    def wrap(secrets: Sequence[str]) -> Wrap:
        return lambda model: masked_stream(model, secrets)

    raise_findings("MaskedStream", check_stream(Wrapped(wrap(["sk-never-here"]))))
    rng = random.Random(3)
    key = f"sk-{rng.randrange(16**8):08x}"
    other = f"{key}-{rng.randrange(16**4):04x}"
    tries: list[tuple[list[str], str]] = [
        ([key], f"the key is {key}."),
        ([key], key),
        ([key], f"{key}{key} and {key}"),
        ([key], f"{key[:5]}{key[:4]}{key}{key[:-1]}"),
        ([key, other], f"a {other} b {key} c {key}-"),
        ([other, key], f"{other[:-1]} {other}"),
        (["aab"], "aaaab aab"),
        (["\u4e16\u754c\U0001f600"], f"\u4e16\u4e16\u754c\U0001f600 \u754c{key}"),
    ]
    with attempt("MaskedStream", GUARD):
        for secrets, text in tries:
            cuts = [(text[:n], text[n:]) for n in range(1, len(text))]
            for pieces in [*cuts, tuple(text), (text,), cut(text, rng), cut(text, rng)]:
                _check_masked(wrap(secrets), secrets, pieces)
        _check_dropped(wrap([key]), key)
        _check_promptly(wrap([key]), key)
        _check_trace(wrap([key]), key, rng)


def _check_masked(wrap: Wrap, secrets: Sequence[str], pieces: tuple[str, ...]) -> None:
    wanted = mask_all("".join(pieces), secrets)

    def never(seen: Seen) -> None:
        if not wanted.startswith(seen.text):
            expected = f"never to show anything but a beginning of {wanted!r}"
            saw = f"of the pieces {quote(pieces)} it showed {seen.text!r}"
            raise mistake(expected, saw, GUARD)

    seen = watch_stream(wrap(Source([Streamed(pieces)])), each=never)
    if seen.text != wanted:
        expected = f"of the pieces {quote(pieces)} in the end {wanted!r}"
        raise mistake(expected, f"shown was {seen.text!r}", GUARD)
    content = seen.turn.resolved_content if seen.turn else None
    if content != wanted:
        expected = f"the turn to hold what was shown, {wanted!r}"
        raise mistake(expected, f"it holds {content!r}", INVARIANTS)


def _check_dropped(wrap: Wrap, key: str) -> None:
    fault = TransientModelError("broken")
    for size in range(1, len(key)):
        seen = watch_stream(wrap(Source([Streamed(("so: ", key[:size]), fault=fault)])))
        if not "so: ".startswith(seen.text):
            expected = "a held-back tail to stay back when the stream drops: it began a secret"
            raise mistake(expected, f"shown was {seen.text!r}", GUARD)


def _check_promptly(wrap: Wrap, key: str) -> None:
    shown = Seen()

    def keep(seen: Seen) -> None:
        shown.pieces = seen.pieces

    def promptly(given: str) -> None:
        if len(shown.text) < len(given) - (len(key) - 1):
            expected = f"at most {len(key) - 1} characters held back: less than the secret"
            saw = f"{len(given) - len(shown.text)} of {len(given)} were held back"
            raise mistake(expected, saw, GUARD)

    text = "Nothing of this is a secret. " * 4
    watch_stream(wrap(Source([Streamed(tuple(text))], promptly)), each=keep)


def _check_trace(wrap: Wrap, key: str, rng: random.Random) -> None:
    """Behind a real runner: the secret is in no line of the trace and in no message."""
    text = f"{prose(rng, 3)} {key} {prose(rng, 3)}"
    for model in (
        ScriptedModel([ModelTurn(chunks=cut(text, rng))]),
        ScriptedModel([ModelTurn(text)]),
    ):
        result = AgentRunner(wrap(model)).run("go")
        if result.stop_reason != "completed":
            raise mistake("a run that completes", f"{result.error!r}", GUARD)
        for event in result.events:
            if key in event.to_line():
                raise mistake("a trace without the secret", f"it is in {event.type}", GUARD)
        if any(key in message.content for message in result.messages):
            raise mistake("messages without the secret", "it is in a message", GUARD)
        check_deltas(result.events)
