"""Recording and playback: every answer of a model in a file, and a model that gives them again.

A cassette is JSONL: a header, then one line for each request, with a digest of what was asked and
the answer piece by piece, or the error. Headers and keys are never part of it: should an answer
repeat a key, the adapter has masked it before it comes here. Playback refuses a request that is not
the one that was recorded: the harness has changed, and what the model would have said to it nobody
knows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from curriculum.core import errors
from curriculum.core.errors import ModelError, RunError
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
from curriculum.core.model import Model, Retry, StreamingModel, stream_turn
from curriculum.core.retry import close
from curriculum.core.trace import to_json
from curriculum.core.values import as_data
from curriculum.core.whole_file import read_whole
from curriculum.experiments.settings import ExperimentError

VERSION = "0.1"
MOST_BYTES = 256 * 1024 * 1024
KINDS: Mapping[str, type[RunError]] = {
    kind.__name__: kind
    for kind in (
        errors.ModelError,
        errors.TransientModelError,
        errors.RateLimitError,
        errors.AuthenticationError,
        errors.ContextOverflowError,
        errors.ProtocolError,
    )
}


def digest_of(messages: Sequence[Message], tools: Sequence[Mapping[str, object]]) -> str:
    """A digest of a request as the model is shown it, without a provider's own items."""
    asked = [
        [m.role, m.content, m.call_id, [list(as_data(call).values()) for call in m.tool_calls]]
        for m in messages
    ]
    return hashlib.sha256(to_json([asked, list(tools)]).encode()).hexdigest()


# region: record
class RecordingModel:
    """A model whose answers are written down as they pass. `write` takes one line.

    A request that was cancelled is not kept: it has no answer.
    """

    def __init__(self, model: Model | StreamingModel, write: Callable[[str], object]) -> None:
        self._model, self._write = model, write
        self._line({"cassette_version": VERSION})

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | Retry | ModelTurn]:
        request = digest_of(messages, tools)
        items: list[dict[str, object]] = []
        answer = stream_turn(self._model, messages, tools)
        try:
            for item in answer:
                items.append(_plain(item))
                if isinstance(item, ModelTurn):
                    self._line({"request": request, "items": items})
                yield item
        except RunError as fault:
            if type(fault).__name__ in KINDS:
                items.append(_plain_fault(fault))
                self._line({"request": request, "items": items})
            raise
        finally:
            close(answer)

    def _line(self, data: Mapping[str, object]) -> None:
        self._write(to_json(data) + "\n")


# endregion


def _plain(item: str | Retry | ModelTurn) -> dict[str, object]:
    if isinstance(item, str):
        return {"text": item}
    if isinstance(item, Retry):
        return {"retry": as_data(item)}
    turn: dict[str, object] = {
        "content": item.resolved_content,
        "tool_calls": [as_data(call) for call in item.tool_calls],
        "stop": item.stop,
    }
    if item.usage:
        turn["usage"] = as_data(item.usage)
    if item.opaque is not None:
        turn["opaque"] = item.opaque
    return {"turn": turn}


def _plain_fault(fault: RunError) -> dict[str, object]:
    data: dict[str, object] = {
        "kind": type(fault).__name__,
        "message": fault.message,
        "retryable": fault.retryable,
    }
    if isinstance(fault, ModelError) and fault.retry_after_seconds is not None:
        data["retry_after_seconds"] = fault.retry_after_seconds
    return {"error": data}


# region: play
class CassetteModel:
    """Gives the recorded answers, in order, to the requests that they were given to."""

    def __init__(self, answers: Sequence[Mapping[str, Any]]) -> None:
        self._answers, self._next = answers, 0

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | Retry | ModelTurn]:
        number = self._next + 1
        if number > len(self._answers):
            raise ModelError(f"the cassette ends after request {self._next}; record it again")
        answer = self._answers[self._next]
        if answer["request"] != digest_of(messages, tools):
            raise ModelError(f"request {number} is not the one that was recorded; record it again")
        self._next = number
        for item in answer["items"]:
            if "error" in item:
                raise _fault_of(item["error"])
            yield _item_of(item)


# endregion


def _item_of(item: Mapping[str, Any]) -> str | Retry | ModelTurn:
    if "text" in item:
        return str(item["text"])
    if "retry" in item:
        return Retry(**item["retry"])
    turn = item["turn"]
    return ModelTurn(
        turn["content"],
        tuple(ToolCall(**call) for call in turn["tool_calls"]),
        stop=turn["stop"],
        usage=Usage(**turn["usage"]) if "usage" in turn else None,
        opaque=turn.get("opaque"),
    )


def _fault_of(data: Mapping[str, Any]) -> RunError:
    fault = KINDS[data["kind"]](data["message"])
    fault.retryable = data["retryable"]
    if isinstance(fault, ModelError):
        fault.retry_after_seconds = data.get("retry_after_seconds")
    return fault


def cassette_bytes(path: str) -> bytes:
    """What a cassette's file holds. Raises ExperimentError."""
    if not path:
        raise ExperimentError("model.cassette: name the file to play")
    try:
        return read_whole(path, MOST_BYTES)
    except (OSError, ValueError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "a name with a NUL in it"
        raise ExperimentError(f"{path}: {why}; record a cassette first", 66) from None


def read_cassette(path: str) -> list[Mapping[str, Any]]:
    """The answers of a cassette. Raises ExperimentError for one that cannot be played."""
    content = cassette_bytes(path)
    try:  # only LF ends a line: an answer may hold what else Python takes for one
        lines = content.decode().removesuffix("\n").split("\n")
    except ValueError:
        raise ExperimentError(f"{path}: not UTF-8 text; record a cassette first", 66) from None
    if lines == [""]:
        raise ExperimentError(f"{path}: empty; record a cassette first")
    answers: list[Mapping[str, Any]] = []
    for number, line in enumerate(lines, 1):
        try:
            data = json.loads(line)
            if number == 1:
                if data["cassette_version"] != VERSION:
                    raise ValueError(f"version {data['cassette_version']!r}")
                continue
            for item in data["items"]:
                if "error" in item:
                    _fault_of(item["error"])
                else:
                    _item_of(item)
            answers.append({"request": data["request"], "items": data["items"]})
        except (ValueError, TypeError, KeyError, RecursionError, AttributeError) as fault:
            raise ExperimentError(
                f"{path}: line {number} is no line of a cassette ({fault}); record it again"
            ) from None
    return answers
