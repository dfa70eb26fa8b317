"""One way to do each exercise of s07. Look after you have tried."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from curriculum.core.errors import (
    AuthenticationError,
    ContextOverflowError,
    ModelError,
    ProtocolError,
    RateLimitError,
    TransientModelError,
)
from curriculum.core.visible import quote
from curriculum.providers.sse import read_events

ENDINGS = ("response.completed", "response.failed", "response.incomplete", "error")
MOST_WAIT = 60.0
MOST_QUOTED = 300  # characters; escaped, each may take ten
MOST_MESSAGE = 500


# region: outcome_of
def outcome_of(recording: bytes) -> tuple[str, str, list[str]]:
    """A. Text and calls are only collected; the ending decides what they are worth."""
    shown, calls = "", []
    for event in read_events([recording]):
        data = json.loads(event.data)
        if data["type"] == "response.output_text.delta":
            shown += data["delta"]
        elif data["type"] == "response.output_item.done":
            if data["item"]["type"] == "function_call":
                calls.append(data["item"]["name"])
        elif data["type"] in ENDINGS:
            ending = data["type"].removeprefix("response.")
            return shown, ending, calls if ending == "completed" else []
    return shown, "cut", []


# endregion


# region: classify
def classify(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    """B. Read what can be read, decide by code and status, then look at the wait."""
    code, text = _read(body)
    said = f"{status}: {quote(text[:MOST_QUOTED])}"[:MOST_MESSAGE]
    if code == "context_length_exceeded":
        return ContextOverflowError(said)
    if code == "insufficient_quota":
        return RateLimitError(said)
    wait = _wait(headers)
    too_long = wait is not None and wait > MOST_WAIT
    error: ModelError
    if status == 429:
        error = RateLimitError(said)
        error.retryable = not too_long
    elif status in (401, 403):
        return AuthenticationError(said)
    elif status in (408, 409, 425) or status >= 500:
        error = ModelError(said) if too_long else TransientModelError(said)
    else:
        return ModelError(said)
    error.retry_after_seconds = wait
    return error


def _read(body: bytes) -> tuple[str, str]:
    """(code, message): of a provider's error object, or no code and the body itself."""
    text = body.decode("utf-8", "replace")
    try:
        error = json.loads(text)["error"]
        code, message = error.get("code"), error.get("message")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "", text
    return code if isinstance(code, str) else "", message if isinstance(message, str) else text


def _wait(headers: Mapping[str, str]) -> float | None:
    given = headers.get("retry-after", "")
    try:
        seconds = float(given)
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(given)
        return max(0.0, (moment - parsedate_to_datetime(headers.get("date", ""))).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


# endregion


# region: stream_endings
GOOD = {"response": "completed", "ran": 1, "error": None, "retryable": None, "stop": "completed"}
FAILED = {"response": "failed", "ran": 0, "stop": "failed"}
PASSING = {**FAILED, "error": "TransientModelError", "retryable": True}
BROKEN = {**FAILED, "error": "ProtocolError", "retryable": False}

STREAM_ENDINGS: Mapping[str, Mapping[str, object]] | None = {
    "completed": GOOD,
    "completed, no blank line": PASSING,
    "completed, items only there": GOOD,
    "failed, server_error": PASSING,
    "failed, context too long": {**FAILED, "error": "ContextOverflowError", "retryable": False},
    "incomplete": {**FAILED, "error": "ModelError", "retryable": False},
    "error event": {**FAILED, "error": "RateLimitError", "retryable": True},
    "clean end": PASSING,
    "connection reset": PASSING,
    "[DONE]": PASSING,
    "no call_id": BROKEN,
    "one call_id twice": BROKEN,
    "other text": BROKEN,
    "unknown event": GOOD,
    "completed, then error": GOOD,
}
# endregion


# region: event_reader
class EventReader:
    """D. Bytes wait until their line is known; a line waits until its event is."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._begun = False  # whether a byte order mark can no longer come
        self._after_cr = False  # an LF now would belong to the CR before it
        self._line = b""
        self._name = b""
        self._data: list[bytes] = []

    def feed(self, data: bytes) -> list[tuple[str, str]]:
        events = []
        if not self._begun:
            self._line += data
            if len(self._line) < 3 and b"\xef\xbb\xbf".startswith(self._line):
                return []
            data, self._line, self._begun = self._line.removeprefix(b"\xef\xbb\xbf"), b"", True
        if self._after_cr and data:
            data, self._after_cr = data.removeprefix(b"\n"), False
        *lines, rest = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._after_cr = self._after_cr or data.endswith(b"\r")
        for line in lines:
            events += self._take(self._line + line)
            self._line = b""
        self._line += rest
        self._check(len(self._line), "a line")
        return events

    def _take(self, line: bytes) -> list[tuple[str, str]]:
        """One complete line; the event that it closes."""
        self._check(len(line), "a line")
        if not line:
            name, data = self._name or b"message", self._data
            self._name, self._data = b"", []
            text = b"\n".join(data).decode("utf-8", "replace")
            return [(name.decode("utf-8", "replace"), text)] if data else []
        field, _, content = line.partition(b":")
        content = content.removeprefix(b" ")
        if field == b"event":
            self._name = content
        elif field == b"data":
            self._data.append(content)
            self._check(sum(map(len, self._data)) + len(self._data) - 1, "an event")
        return []

    def _check(self, size: int, what: str) -> None:
        if size > self._limit:
            raise ProtocolError(f"{what} is larger than {self._limit} bytes")


# endregion
