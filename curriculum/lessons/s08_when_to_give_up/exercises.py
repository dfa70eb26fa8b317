"""Exercises of s08. Edit this file only; grade it with

    python3 -m curriculum grade s08

An exercise that is still as you found it is skipped. `solutions.py` holds one way to do each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import Model, Retry, StreamingModel
from curriculum.core.trace import Clock, Event


# region: attempts_of
def attempts_of(events: Sequence[Event]) -> list[tuple[int, int, str | None]]:
    """A. Read a trace: how often was each answer asked for, and how long was waited in between?

    Return one tuple for each answer that the harness wanted, in order: the number of its attempts,
    all of its waits together in microseconds, and the status of the last attempt's model.response,
    or None while there is none: `events` may be only the beginning of a trace.

    A model.request with attempt 1 begins a new answer, also where the number of its turn is the
    same as before (a request that was made shorter).

    Accepted for runs with retries, failures, cancelled waits and overflows, and every beginning.
    """
    raise NotImplementedError


# endregion


# region: fallback
class Fallback:
    """B. A model of several: where one fails, the next is asked.

    Every request begins with the first model. When it fails with a ModelError of any kind before
    it has shown text, the next one gets the same messages and tools at once: yield
    Retry(cause, 0), the cause being the message of the failure. The failure of the last one is
    raised as it is.

    Not for others to answer, and raised as it is: a ContextOverflowError (the context policy makes
    the request shorter), any failure after text was shown, and whatever is no ModelError.

    Accepted when, behind an AgentRunner, each answer comes from the first model that has one, with
    nothing shown twice, and what a model yields (pieces, its own Retry, the turn) passes untouched.
    """

    def __init__(self, models: Sequence[Model | StreamingModel]) -> None:
        raise NotImplementedError

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | Retry | ModelTurn]:
        raise NotImplementedError


# endregion


# region: when_it_ends
WHEN_IT_ENDS: Mapping[str, Mapping[str, object]] | None = None
"""C. What becomes of a run: replace None by a dict with a row for each of these situations. The
model is wrapped in a RetryingModel with the default policy, the run has a deadline of 30 s, and
each tool call one of 10 s. After a first failure or call the model would answer at once.

    "overloaded, nothing shown"     the model raises TransientModelError
    "overloaded, text shown"        the same, after a piece of text
    "asked to wait 2 s"             a rate limit with retry_after_seconds 2
    "asked to wait a day"           a retryable rate limit with retry_after_seconds 86400
    "quota used up"                 a rate limit that is not retryable
    "request too long"              ContextOverflowError, and no context policy is plugged in
    "Ctrl+C in a wait"              the user cancels while a second attempt is waited for
    "deadline between pieces"       30 s pass between two pieces of text
    "deadline in a call that looks" the run ends in a call; the tool looks at its token and stops
    "deadline in a call that does not look" the same; the tool finishes its work
    "call too slow, it looks"       a call takes 10 s; the tool looks at its token and stops
    "call too slow, it does not"    the same; the tool finishes its work

A row is a dict with these columns:

    "requests"  how many model.request events the trace has: a number
    "response"  status of the last model.response
    "result"    status of the tool.result, None if nothing was called
    "reason"    the `reason` of that tool.result, None if it has none
    "by"        actor kind of the cancel.request event, None if there is no such event
    "stop"      the stop_reason

Accepted when every prediction is what the trace of a real run shows.
"""
# endregion


# region: circuit_breaker
class CircuitBreaker:
    """D. A model that leaves a failing provider alone for a while.

    closed   every request goes to `model`. `threshold` failed requests in a row open the breaker;
             what counts as failed is what `classify` of `curriculum.core.retry` calls "transient"
             or "rate-limit". A complete answer begins the row anew, and so do the other failures:
             the provider did answer
    open     for `cool_us` after the failure that opened it, each request is refused without asking:
             raise TransientModelError, with `retry_after_seconds` the rest of that time
    trial    the first request afterwards is asked. If it fails (as above), the breaker is open
             again, for `cool_us`; if the provider answers, it is closed

    A stream that is not read to its end (the run was cancelled) and whatever is no ModelError tell
    nothing: the breaker stays as it was, and a trial is still due. Pieces pass as they come. Only
    `clock` tells the time: `clock.read()[1]`, in microseconds.

    Accepted when it does the same as a model of it over thousands of random requests, and when a
    RetryingModel around it waits as long as it says.
    """

    def __init__(
        self, model: Model | StreamingModel, clock: Clock, threshold: int, cool_us: int
    ) -> None:
        raise NotImplementedError

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | Retry | ModelTurn]:
        raise NotImplementedError


# endregion
