"""Graders A to C of s07 are graded: the reference passes, each wrong solution is told why."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from curriculum.core.errors import (
    AuthenticationError,
    ContextOverflowError,
    ModelError,
    RateLimitError,
    TransientModelError,
)
from curriculum.grading.s07 import (
    Failure,
    failures,
    grade_classify,
    grade_outcome_of,
)
from curriculum.grading.stream_endings import STREAMS, grade_stream_endings, observe_ending
from curriculum.lessons.s07_provider import solutions
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.faults import Faults
from curriculum.providers.sse import read_events

Outcome = tuple[str, str, list[str]]


def test_the_reference_passes() -> None:
    grade_outcome_of(solutions.outcome_of)
    grade_classify(solutions.classify)
    assert solutions.STREAM_ENDINGS is not None
    grade_stream_endings(solutions.STREAM_ENDINGS)


# A. outcome_of


def reading(
    *, calls_by: str = "done", stop: bool = True, shown_by: str = "delta", always: bool = False
) -> Callable[[bytes], Outcome]:
    """The reference with something else in one place."""

    def outcome_of(recording: bytes) -> Outcome:
        shown, calls, ending = "", list[str](), "cut"
        for event in read_events([recording]):
            data = json.loads(event.data)
            kind = data["type"]
            if kind == "response.output_text.delta" and shown_by == "delta":
                shown += data["delta"]
            elif kind == "response.output_text.done" and shown_by == "done":
                shown += data["text"]
            if kind == f"response.output_item.{calls_by}":
                calls += [data["item"]["name"]] if data["item"]["type"] == "function_call" else []
            if kind in solutions.ENDINGS:
                ending = kind.removeprefix("response.")
                if stop:
                    break
        return shown, ending, calls if ending == "completed" or always else []

    return outcome_of


def lines_of_text(recording: bytes) -> Outcome:
    """splitlines() of text: it also splits at U+2028."""
    shown, calls, ending = "", list[str](), "cut"
    for line in recording.decode("utf-8", "replace").splitlines():
        if not line.startswith("data: ") or ending != "cut":
            continue
        data = json.loads(line[6:])
        shown += data["delta"] if data["type"] == "response.output_text.delta" else ""
        if data["type"] in solutions.ENDINGS:
            ending = data["type"].removeprefix("response.")
    return shown, ending, calls


def any_delta(recording: bytes) -> Outcome:
    _, ending, calls = solutions.outcome_of(recording)
    events = [json.loads(event.data) for event in read_events([recording])]
    return "".join(event.get("delta", "") for event in events), ending, calls


def blank_line_given(recording: bytes) -> Outcome:
    """Closes the last event itself: what was cut off counts."""
    return solutions.outcome_of(recording + b"\n\n")


def only_lf(recording: bytes) -> Outcome:
    events = [part.split(b"data: ")[-1] for part in recording.split(b"\n\n")[:-1]]
    kinds = [json.loads(event)["type"] for event in events]
    shown = [json.loads(e)["delta"] for e in events if b"output_text.delta" in e]
    return "".join(shown), kinds[-1].removeprefix("response."), []


WRONG_OUTCOMES: dict[str, tuple[Callable[[bytes], object], str]] = {
    "calls of a failed answer": (reading(always=True), r"calls \[\]"),
    "calls that have only begun": (
        lambda r: (*reading(calls_by="added", always=True)(r)[:2], reading(always=True)(r)[2]),
        r"calls \[\]",
    ),
    "what comes after the ending": (reading(stop=False), "the|'completed'"),
    "text when it is done": (reading(shown_by="done"), "shown '"),
    "every delta": (any_delta, "shown '"),
    "splits text at U\\+2028": (lines_of_text, "JSONDecodeError"),
    "only LF": (only_lf, "come to an end|shown"),
    "the cut event counts": (blank_line_given, "come to an end|JSONDecodeError|ending"),
    "full names of events": (
        lambda r: (solutions.outcome_of(r)[0], f"response.{solutions.outcome_of(r)[1]}", []),
        "ending 'completed'",
    ),
    "a dict": (lambda r: {}, r"\(shown, ending, calls\)"),
}


@pytest.mark.parametrize("name", WRONG_OUTCOMES)
def test_wrong_outcomes_are_told_why(name: str) -> None:
    wrong, message = WRONG_OUTCOMES[name]
    with pytest.raises(AssertionError, match=message):
        grade_outcome_of(wrong)  # type: ignore[arg-type]


# B. classify

Headers = Mapping[str, str]
Change = Callable[[ModelError, int, Headers, bytes], ModelError]


def changed(change: Change) -> Callable[[int, Headers, bytes], ModelError]:
    """The reference, its error changed."""

    def classify(status: int, headers: Headers, body: bytes) -> ModelError:
        return change(solutions.classify(status, headers, body), status, headers, body)

    return classify


def of(kind: type[ModelError], like: ModelError) -> ModelError:
    error = kind(like.message)
    error.retryable, error.retry_after_seconds = like.retryable, like.retry_after_seconds
    return error


def no_wait(error: ModelError, *_: object) -> ModelError:
    error.retry_after_seconds = None
    return error


def always_retry_429(error: ModelError, *_: object) -> ModelError:
    error.retryable = error.retryable or isinstance(error, RateLimitError)
    return error


def seconds_only(error: ModelError, status: int, headers: Headers, body: bytes) -> ModelError:
    if "GMT" in headers.get("retry-after", ""):
        error.retry_after_seconds = None
    return error


def own_clock(status: int, headers: Headers, body: bytes) -> ModelError:
    """Counts the date from a clock of its own, which is wrong by an hour."""
    return solutions.classify(
        status, {**headers, "date": "Thu, 01 Jan 2026 01:00:00 GMT"} if headers else {}, body
    )


def float_of(status: int, headers: Headers, body: bytes) -> ModelError:
    """Takes whatever float() takes."""
    error = solutions.classify(status, headers, body)
    if status == 429 and headers.get("retry-after") in ("nan", "inf", "-1"):
        error.retry_after_seconds = float(headers["retry-after"])
    return error


def trusts_json(status: int, headers: Headers, body: bytes) -> ModelError:
    json.loads(body)["error"].get("code")
    return solutions.classify(status, headers, body)


def raw_message(error: ModelError, status: int, headers: Headers, body: bytes) -> ModelError:
    raw = type(error)(f"{status}: {body.decode('utf-8', 'replace')[:400]}")
    raw.retryable, raw.retry_after_seconds = error.retryable, error.retry_after_seconds
    return raw


def status_first(error: ModelError, status: int, headers: Headers, body: bytes) -> ModelError:
    return of(ModelError, error) if status in (400, 413) else error


WRONG_CLASSES: dict[str, tuple[Callable[[int, Headers, bytes], object], str]] = {
    "only the status": (changed(status_first), "ContextOverflowError"),
    "a quota is a rate limit": (changed(always_retry_429), "retryable False"),
    "no Retry-After": (changed(no_wait), r"retry_after_seconds 2\.0"),
    "seconds only": (changed(seconds_only), r"retry_after_seconds 30\.0"),
    "an own clock": (own_clock, "retry_after_seconds"),
    "any float": (float_of, "retry_after_seconds None"),
    "every body is JSON": (trusts_json, "JSONDecodeError"),
    "the message as it came": (changed(raw_message), "a message of one line"),
    "no end of the message": (
        changed(lambda e, *_: of(type(e), type(e)(e.message + "x" * 500))),
        "at most 500|retryable",
    ),
    "no status": (
        changed(lambda e, *_: _message(e, e.message.partition(": ")[2])),
        "a message that says '400'",
    ),
    "nothing of what was said": (
        changed(lambda e, status, *_: _message(e, f"{status}")),
        "a message that says 'no such field'",
    ),
    "a refused key is permanent": (
        changed(lambda e, *_: of(ModelError, e) if isinstance(e, AuthenticationError) else e),
        "AuthenticationError",
    ),
    "only 5xx is transient": (
        changed(lambda e, status, *_: _message(ModelError("409"), "409") if status == 409 else e),
        "TransientModelError",
    ),
    "no error at all": (lambda *_: None, "ModelError"),
}


def _message(like: ModelError, message: str) -> ModelError:
    error = type(like)(message)
    error.retryable, error.retry_after_seconds = like.retryable, like.retry_after_seconds
    return error


@pytest.mark.parametrize("name", WRONG_CLASSES)
def test_wrong_classes_are_told_why(name: str) -> None:
    wrong, message = WRONG_CLASSES[name]
    with pytest.raises(AssertionError, match=message):
        grade_classify(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", range(len(list(failures()))))
def test_the_real_adapter_says_the_same_of_each_failure(number: int) -> None:
    case: Failure = list(failures())[number]
    raw = case.body if isinstance(case.body, str) else json.dumps(case.body)
    faults = Faults(Endpoint("http://127.0.0.1:1/v1", "key"))
    error = faults.of_status(case.status, dict(case.headers), raw.encode())
    assert (type(error), error.retryable) == (case.kind, case.retryable)
    if case.kind in (TransientModelError, ContextOverflowError) or case.retryable:
        assert error.retry_after_seconds == case.wait


# C. STREAM_ENDINGS


def table(situation: str, fact: str, prediction: object) -> dict[str, dict[str, object]]:
    assert solutions.STREAM_ENDINGS is not None
    rows = {name: dict(row) for name, row in solutions.STREAM_ENDINGS.items()}
    assert rows[situation][fact] != prediction
    rows[situation][fact] = prediction
    return rows


WRONG_ENDINGS: dict[str, tuple[object, str]] = {
    "a finished item runs": (
        table("clean end", "ran", 1),
        "'clean end': you predict ran 1, the run shows 0",
    ),
    "the end of the stream completes": (
        table("clean end", "response", "completed"),
        "you predict response 'completed', the run shows 'failed'",
    ),
    "an event needs no blank line": (
        table("completed, no blank line", "stop", "completed"),
        "you predict stop 'completed', the run shows 'failed'",
    ),
    "incomplete is transient": (
        table("incomplete", "retryable", True),
        "'incomplete': you predict retryable True, the run shows False",
    ),
    "an unknown event is an error": (
        table("unknown event", "error", "ProtocolError"),
        "you predict error 'ProtocolError', the run shows None",
    ),
    "one of two calls runs": (
        table("one call_id twice", "ran", 1),
        "'one call_id twice': you predict ran 1",
    ),
    "other text is a model error": (
        table("other text", "error", "ModelError"),
        "you predict error 'ModelError', the run shows 'ProtocolError'",
    ),
    "numbers for booleans": (
        table("error event", "retryable", 1.5),
        "you predict retryable 1.5, the run shows True",
    ),
    "what comes later counts": (
        table("completed, then error", "ran", 0),
        "you predict ran 0, the run shows 1",
    ),
    "no rows": ({}, "one row for each of"),
    "columns left out": ({name: {} for name in STREAMS}, "has the columns response"),
}


@pytest.mark.parametrize("name", WRONG_ENDINGS)
def test_wrong_endings_are_told_why(name: str) -> None:
    wrong, message = WRONG_ENDINGS[name]
    with pytest.raises(AssertionError, match=message):
        grade_stream_endings(wrong)  # type: ignore[arg-type]


def test_a_stream_ends_the_same_way_every_time() -> None:
    for situation in STREAMS:
        first = observe_ending(situation)
        observe_ending.cache_clear()
        assert observe_ending(situation) == first
