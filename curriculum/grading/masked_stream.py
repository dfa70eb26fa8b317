"""Grader of s02 D: a stream guard, tried with secrets cut at every place."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from curriculum.core.errors import TransientModelError
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
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

INVARIANTS = 's02, "Invariants"'
GUARD = 's02, "Exercises", D'

Wrap = Callable[[Model | StreamingModel], StreamingModel]


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
        ([" a ", "b\n"], "a  a b\nb a"),
        (["\u4e16\u754c\U0001f600"], f"\u4e16\u4e16\u754c\U0001f600 \u754c{key}"),
    ]
    with attempt("MaskedStream", GUARD):
        for secrets, text in tries:
            cuts = [(text[:n], text[n:]) for n in range(1, len(text))]
            for pieces in [*cuts, tuple(text), (text,), cut(text, rng), cut(text, rng)]:
                _check_masked(wrap(secrets), secrets, pieces)
        _check_dropped(wrap([key]), key)
        _check_promptly(wrap([key]), key)
        _check_turn(wrap([key]), key)
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


def _check_turn(wrap: Wrap, key: str) -> None:
    """All that the turn holds beside its text stays, and the secret stays in none of it."""
    calls = (ToolCall("c1", "fiction", "{}"),)
    for usage, stop in ((Usage(3, 4), False), (None, True)):
        given = ModelTurn(
            chunks=("so ", key[:3], key[3:]),
            tool_calls=calls[: not stop],
            stop=stop,
            usage=usage,
            opaque=[{"own": [1]}],
        )
        *_, turn = wrap(ScriptedModel([given])).stream((Message("user", "go"),), ())
        if not isinstance(turn, ModelTurn):
            raise mistake("a ModelTurn at the end of the stream", quote(turn), INVARIANTS)
        if key in "".join(turn.chunks):
            raise mistake("chunks without the secret", quote(turn.chunks), INVARIANTS)
        for name in ("tool_calls", "usage", "stop", "opaque"):
            if getattr(turn, name) != getattr(given, name):
                expected = f"{name} to stay as it was, {quote(getattr(given, name))}"
                raise mistake(expected, quote(getattr(turn, name)), INVARIANTS)


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
