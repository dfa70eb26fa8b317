"""One way to do each exercise of s02. Look after you have tried."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import Model, Retry, StreamingModel, stream_turn
from curriculum.core.values import replace


# region: deltas_of
def deltas_of(runner: AgentRunner) -> list[str]:
    """A. Start afresh at every request; what is left belongs to the last one."""
    pieces: list[str] = []
    for event in runner.recorder.events:
        if event.type == "model.request":
            pieces = []
        elif event.type == "model.delta":
            pieces.append(str(event.payload["text"]))
    return pieces


# endregion


# region: word_by_word
class WordByWord:
    """B. Keep what may still grow; a word with white space after it cannot."""

    def __init__(self, model: Model | StreamingModel) -> None:
        self._model = model

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | Retry | ModelTurn]:
        held = ""
        for item in stream_turn(self._model, messages, tools):
            if isinstance(item, str):
                held += item
                words = re.findall(r"\s*\S+(?=\s)", held)
                yield from words
                held = held[sum(map(len, words)) :]
                continue
            if isinstance(item, ModelTurn) and held:
                yield held  # at most one word is left, and nothing can follow it
            yield item


# endregion

# region: stream_outcomes
FAILED = {
    "response": "failed",
    "assistant messages": 0,
    "retry may follow": False,
    "stop": "failed",
}
STREAM_OUTCOMES: Mapping[str, Mapping[str, object]] | None = {
    "complete": {
        "response": "completed",
        "assistant messages": 1,
        "retry may follow": False,
        "error": None,
        "stop": "completed",
    },
    "dropped before text": {**FAILED, "retry may follow": True, "error": "model"},
    "dropped after text": {**FAILED, "error": "model"},
    "cancelled": {
        "response": "cancelled",
        "assistant messages": 0,
        "retry may follow": False,
        "error": "cancelled",
        "stop": "cancelled",
    },
    "bad call ids": {**FAILED, "error": "protocol"},
    "deltas do not add up": {**FAILED, "error": "protocol"},
}
# endregion


# region: masked_stream
class MaskedStream:
    """D. At each place: a secret may still grow here, or one is here, or this character is free."""

    def __init__(self, model: Model | StreamingModel, secrets: Sequence[str]) -> None:
        self._model = model
        self._secrets = tuple(secrets)

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | Retry | ModelTurn]:
        held = ""
        for item in stream_turn(self._model, messages, tools):
            if isinstance(item, str):
                shown, held = self._mask(held + item, more=True)
                if shown:
                    yield shown
                continue
            if isinstance(item, ModelTurn):
                rest, _ = self._mask(held, more=False)
                if rest:
                    yield rest
                item = self._masked(item)
            yield item

    def _mask(self, text: str, more: bool) -> tuple[str, str]:
        """(what may be shown, what is held back); nothing is held back if no more can come."""
        shown, at = "", 0
        while at < len(text):
            tail = text[at:]
            if more and any(len(tail) < len(s) and s.startswith(tail) for s in self._secrets):
                break
            here = [secret for secret in self._secrets if tail.startswith(secret)]
            found = max(here, key=len, default="")
            shown += f"[REDACTED:secret:{self._secrets.index(found) + 1}]" if found else tail[0]
            at += len(found) or 1
        return shown, text[at:]

    def _masked(self, turn: ModelTurn) -> ModelTurn:
        content, _ = self._mask(turn.resolved_content, more=False)
        return replace(turn, content=content, chunks=())


# endregion
