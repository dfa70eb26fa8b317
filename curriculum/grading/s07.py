"""Graders of s07 A and B: recorded answers read, HTTP failures made into typed errors."""

from __future__ import annotations

import http.client
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from curriculum.core.errors import (
    AuthenticationError,
    ContextOverflowError,
    ModelError,
    RateLimitError,
    TransientModelError,
)
from curriculum.grading.mistakes import attempt, mistake, quote
from curriculum.providers.scripted_answers import answer_events
from curriculum.providers.scripted_endpoint import ScriptedEndpoint
from curriculum.providers.scripted_handler import format_event

__unittest = True

MENTAL = 's07, "Mental model"'
STEPS = 's07, "Step by step"'

Outcome = tuple[str, str, list[str]]
Classify = Callable[[int, Mapping[str, str], bytes], ModelError]

ENDINGS: Mapping[str, dict[str, Any] | None] = {
    "completed": None,  # the events of an answer have it already
    "failed": {"type": "response.failed", "response": {"error": {"code": "server_error"}}},
    "incomplete": {
        "type": "response.incomplete",
        "response": {"incomplete_details": {"reason": "max_output_tokens"}},
    },
    "error": {"type": "error", "code": "rate_limit_exceeded", "message": "slow down"},
    "cut": None,
}


def grade_outcome_of(outcome_of: Callable[[bytes], Outcome]) -> None:
    """A. Every ending, in every form of line end, and one recording cut after each of its bytes."""
    rng = random.Random(7)
    for ending in ENDINGS:
        for end in ("\n", "\r\n", "\r"):
            events = _answer(rng, ending)
            _check_outcome(outcome_of, events, end, None)
    events = _answer(rng, "completed")
    size = len(_bytes(events, "\n"))
    for cut in {*range(0, size, 97), *range(size - 4, size + 1)}:
        _check_outcome(outcome_of, events, "\n", cut)


def _answer(rng: random.Random, ending: str) -> list[dict[str, Any]]:
    """An answer with text and calls; what comes after its ending must not count."""
    word = f"w{rng.randrange(16**4):04x} \u00fc\u4e16\u2028"
    calls = [{"call_id": f"c{n}", "name": f"tool-{rng.randrange(99)}"} for n in range(2)]
    calls.append({"call_id": "c2", "name": calls[0]["name"]})
    answer = {"text": f"{word} {word}", "calls": calls, "reasoning": "sealed"}
    events = answer_events("/v1/responses", answer)
    last = ENDINGS[ending]
    if ending != "completed":
        events = events[:-1] + ([last] if last else [])
    events.insert(1, {"type": "response.new_kind", "delta": "not text"})
    if ending == "cut":
        return events
    late = [event for event in events if event["type"] == "response.output_text.delta"][:1]
    return [*events, *late, {"type": "error", "message": "too late to matter"}]


def _bytes(events: Sequence[dict[str, Any]], end: str) -> bytes:
    return b"".join(f": hi{end}".encode() + format_event(event, end=end) for event in events)


def _check_outcome(
    outcome_of: Callable[[bytes], Outcome],
    events: Sequence[dict[str, Any]],
    end: str,
    cut: int | None,
) -> None:
    recording = _bytes(events, end)[:cut]
    whole = 0
    for count in range(len(events) + 1):
        whole = count if len(_bytes(events[:count], end)) <= len(recording) else whole
    wanted = _outcome(events[:whole])
    with attempt("outcome_of", MENTAL):
        got = outcome_of(recording)
    told = f"with lines ended by {end!r}" + ("" if cut is None else f", cut after byte {cut}")
    if not isinstance(got, (tuple, list)) or len(got) != 3:
        raise mistake("(shown, ending, calls)", quote(got), MENTAL)
    for what, one, other in zip(("shown", "ending", "calls"), wanted, got, strict=True):
        mine = list(other) if isinstance(other, tuple) else other
        if one != mine:
            saw = f"you say {quote(other)}"
            raise mistake(
                f"for an answer whose ending is {wanted[1]!r}, {told}: {what} {one!r}", saw, MENTAL
            )


def _outcome(events: Sequence[dict[str, Any]]) -> Outcome:
    shown, calls = "", []
    for event in events:
        kind = event["type"]
        if kind == "response.output_text.delta":
            shown += event["delta"]
        elif kind == "response.output_item.done" and event["item"]["type"] == "function_call":
            calls.append(event["item"]["name"])
        elif kind.removeprefix("response.") in ENDINGS:
            ending = kind.removeprefix("response.")
            return shown, ending, calls if ending == "completed" else []
    return shown, "cut", []


@dataclass(frozen=True)
class Failure:
    """An HTTP answer, and the error that it is. `wait` is retry_after_seconds."""

    status: int
    body: object
    kind: type[ModelError]
    retryable: bool = False
    wait: float | None = None
    headers: tuple[tuple[str, str], ...] = ()
    words: str = ""

    def exchange(self) -> dict[str, Any]:
        """The answer as an exchange of a scenario."""
        raw = self.body if isinstance(self.body, str) else json.dumps(self.body)
        return {"status": self.status, "headers": dict(self.headers), "send": [{"raw": raw}]}


def _error(code: object, message: object = "sorry") -> dict[str, object]:
    return {"error": {"code": code, "message": message}}


def _after(text: str, *more: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    return (("retry-after", text), *more)


SENT = ("date", "Thu, 01 Jan 2026 00:00:00 GMT")
HOSTILE = "no\x1b[2J\x9b1m\r\nmodel \u202e gpt\x00"


def failures() -> Iterator[Failure]:
    """Answers of every kind, also from proxies that know nothing of models."""
    busy, limit = TransientModelError, RateLimitError
    yield Failure(400, _error(None, "no such field"), ModelError, words="no such field")
    yield Failure(404, _error("model_not_found", "no model"), ModelError, words="no model")
    yield Failure(400, _error("context_length_exceeded", "long"), ContextOverflowError)
    yield Failure(413, _error("context_length_exceeded"), ContextOverflowError)
    yield Failure(401, _error("invalid_api_key", "bad key"), AuthenticationError, words="bad key")
    yield Failure(403, "", AuthenticationError)
    yield Failure(429, _error("rate_limit_exceeded"), limit, True)
    yield Failure(429, _error("rate_limit_exceeded"), limit, True, 2.0, _after("2"))
    yield Failure(429, _error(None), limit, True, 0.5, _after("0.5"))
    yield Failure(429, _error(None), limit, True, 60.0, _after("60"))
    yield Failure(429, _error(None), limit, False, 61.0, _after("61"))
    yield Failure(429, _error("insufficient_quota"), limit, False, None, _after("2"))
    yield Failure(401, _error("context_length_exceeded", "long"), ContextOverflowError)
    yield Failure(403, _error("insufficient_quota"), limit)
    yield Failure(401, "", AuthenticationError, headers=_after("2"))
    yield Failure(400, "", ModelError, headers=_after("2"))
    for nonsense in ("-1", "nan", "inf", "soon", ""):
        yield Failure(429, _error(None), limit, True, None, _after(nonsense))
    later = "Thu, 01 Jan 2026 00:00:30 GMT"
    yield Failure(429, _error(None), limit, True, 30.0, _after(later, SENT))
    yield Failure(503, "", busy, True, 30.0, _after(later, SENT))
    yield Failure(503, "", busy, True, 0.0, _after("Wed, 31 Dec 2025 23:00:00 GMT", SENT))
    yield Failure(
        503, "", ModelError, False, 86400.0, _after("Fri, 02 Jan 2026 00:00:00 GMT", SENT)
    )
    for status in (408, 409, 425, 500, 502, 503, 504, 529):
        yield Failure(status, "", busy, True, 2.0, _after("2"))
        yield Failure(status, "", ModelError, False, 61.0, _after("61"))
    for status in (408, 409, 425, 500, 502, 503, 504, 529, 599, 600):
        yield Failure(status, _error("server_error", "again"), busy, True, words="again")
    yield Failure(502, "<html>Bad Gateway</html>", busy, True, words="Bad Gateway")
    shapes: list[object] = [
        [],
        {},
        3,
        None,
        {"error": "down"},
        {"error": None},
        _error(7, 7),
        "[" * 9,
    ]
    for shape in shapes:
        yield Failure(500, shape, busy, True)
        yield Failure(422, shape, ModelError)
    yield Failure(400, _error(None, HOSTILE), ModelError, words="gpt")
    yield Failure(400, _error(None, "x" * 9000), ModelError, words="x" * 50)
    yield Failure(500, HOSTILE * 900, busy, True)


def grade_classify(classify: Classify) -> None:
    """B. A real server answers a plain HTTP client; its answers go through `classify`."""
    cases = list(failures())
    with ScriptedEndpoint({"exchanges": [case.exchange() for case in cases]}) as server:
        for case in cases:
            _check_failure(classify, case, *_post(server.url))


def _post(url: str) -> tuple[int, Mapping[str, str], bytes]:
    client = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
    try:
        client.request("POST", "/v1/responses", b"{}")
        answer = client.getresponse()
        headers = {name.lower(): text for name, text in answer.getheaders()}
        return answer.status, headers, answer.read()
    finally:
        client.close()


def _check_failure(
    classify: Classify, case: Failure, status: int, headers: Mapping[str, str], body: bytes
) -> None:
    given = {name: text for name, text in headers.items() if name in dict(case.headers)}
    told = f"for status {status}, headers {given}, body {quote(body, 60)}"
    with attempt(f"classify, {told},", STEPS):
        error = classify(status, headers, body)
    if type(error) is not case.kind:
        raise mistake(f"{told}: {case.kind.__name__}", f"it is {quote(error)}", STEPS)
    if error.retryable != case.retryable:
        raise mistake(f"{told}: retryable {case.retryable}", f"it is {error.retryable}", STEPS)
    if error.retry_after_seconds != case.wait:
        saw = f"it is {error.retry_after_seconds!r}"
        raise mistake(f"{told}: retry_after_seconds {case.wait}", saw, STEPS)
    message = str(error)
    if message != error.message or not message.isprintable():
        saw = quote(message)
        raise mistake(
            f"{told}: a message of one line, with nothing for a terminal to obey", saw, STEPS
        )
    if len(message) > 500:
        raise mistake(f"{told}: at most 500 characters", f"there are {len(message)}", STEPS)
    for words in (str(status), case.words):
        if words not in message:
            raise mistake(f"{told}: a message that says {words!r}", quote(message), STEPS)
