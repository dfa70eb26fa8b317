"""Exercises of s02. Edit this file only; grade it with

    python3 -m curriculum grade s02

An exercise that is still as you found it is skipped. `solutions.py` holds one way to do each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import Model, Retry, StreamingModel


# region: deltas_of
def deltas_of(runner: AgentRunner) -> list[str]:
    """A. Inspect the deltas: the pieces in which the last answer arrived.

    `runner` has run already; its events are in `runner.recorder.events`. A run may hold several
    answers: take the model.delta events of the last model.request only. Try it on the demo.

    Accepted when the pieces are in order, and joined are the text of the run's last message. An
    answer that was not shown in pieces has none.
    """
    raise NotImplementedError


# endregion


# region: word_by_word
class WordByWord:
    """B. A streaming model of your own: the same answer, but in whole words.

    It is wrapped round any model (`stream_turn` in `curriculum.core.model` reads them all) and
    regroups its text. Where one piece ends and the next begins there is white space on at least one
    side, and no piece holds more than one word. A word is shown as soon as white space after it
    shows that it is whole.

    Accepted when nothing is lost or changed (spaces, newlines, any script), the ModelTurn comes
    last and untouched, a Retry and an exception pass through, nothing is carried from one request
    to the next, and behind an AgentRunner each answer is still one assistant message.
    """

    def __init__(self, model: Model | StreamingModel) -> None:
        raise NotImplementedError

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | Retry | ModelTurn]:
        raise NotImplementedError


# endregion


# region: stream_outcomes
STREAM_OUTCOMES: Mapping[str, Mapping[str, object]] | None = None
"""C. How a stream can end: replace None by a dict with a row for each of these ways.

    "complete"              the text, then a ModelTurn that holds it
    "dropped before text"   the model raises before it has shown anything
    "dropped after text"    the model raises after it has shown some text
    "cancelled"             the user asks for a stop while text is arriving
    "bad call ids"          text, then a ModelTurn with a missing or a repeated call_id
    "deltas do not add up"  text, then a ModelTurn that says something else

A row is a dict with these columns, for a run whose only request ends in that way:

    "response"            status of the model.response: "completed", "failed", "cancelled"
    "assistant messages"  how many the run adds to `messages`: a number
    "retry may follow"    may a model yield Retry at that point and be asked again: True or False
    "error"               kind of the `error` event, or None if there is none: "model" (a model
                          raised), "protocol" (what it said breaks a rule of answers), "cancelled"
    "stop"                the stop_reason

Accepted when every prediction is what the trace of a real run shows.
"""
# endregion


# region: masked_stream
class MaskedStream:
    """D. A guard: a secret that the harness knows is never shown, also not in two halves.

    It is wrapped round any model. The n-th of `secrets` (from 1; each non-empty) is replaced by
    `[REDACTED:secret:n]`, from left to right; where two secrets begin at the same place, the longer
    one counts. A secret may straddle any number of pieces: hold back a tail for as long as it may
    become one, and never more than one character less than the longest secret. What has been shown
    cannot be taken back.

    The content of the ModelTurn must be what was shown, so it is masked too; calls, usage, stop and
    opaque stay as they are (`replace` of curriculum.core.values makes the new turn; that of
    dataclasses cannot). When the stream drops, a held-back tail is never shown.

    Accepted when it passes `curriculum.grading.streaming_conformance` and, for texts cut at every
    place, everything shown at any time is a beginning of the masked text.
    """

    def __init__(self, model: Model | StreamingModel, secrets: Sequence[str]) -> None:
        raise NotImplementedError

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | Retry | ModelTurn]:
        raise NotImplementedError


# endregion
