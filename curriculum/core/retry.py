"""Asking again: a model wrapped round another one, which repeats what may succeed the next time.

It never asks again after text was shown, because what was shown cannot be taken back; and it never
repeats a request whose failure is no accident. Attempts and waiting are bounded, whatever a
provider says. The loop learns of each further attempt by `Retry` and does nothing but record it.
"""

from __future__ import annotations

import os

from curriculum.core.errors import (
    ContextOverflowError,
    ModelError,
    RateLimitError,
    TransientModelError,
)
from curriculum.core.model import Retry, stream_turn
from curriculum.core.values import TYPE_CHECKING, value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Literal

    from curriculum.core.messages import Message, ModelTurn
    from curriculum.core.model import Descriptors, Model, StreamingModel
    from curriculum.core.seams import CancelToken
    from curriculum.core.waiting import Waiter

    FaultClass = Literal["transient", "rate-limit", "overflow", "permanent"]

DOUBLINGS = 40  # more of them only make the number longer, never the wait


# region: classify
def classify(fault: ModelError) -> FaultClass:
    """What kind of failure this is. Only "transient" and "rate-limit" are worth another attempt.

    The adapter has decided the rest: `retryable` is false for a spent quota, for a refused key and
    for a wait that is longer than anybody should wait. An overflow is for the context policy.
    """
    if isinstance(fault, ContextOverflowError):
        return "overflow"
    if not fault.retryable:
        return "permanent"
    return "rate-limit" if isinstance(fault, RateLimitError) else "transient"


# endregion


def close(stream: Iterator[object]) -> None:
    """End a stream now and not when its last reference goes: an adapter holds a connection."""
    if hasattr(stream, "close"):
        stream.close()


def draw_up_to(most: int) -> int:
    """A random whole number from 0 to `most`, both included."""
    return int.from_bytes(os.urandom(8), "big") % (most + 1)


# region: policy
@value
class RetryPolicy:
    """How often, and for how long.

    `max_attempts` counts the first one too. The n-th wait is drawn between 0 and `base_us` doubled
    n - 1 times, at most `cap_us` ("full jitter": clients that failed together do not come back
    together). A provider's Retry-After is the least that is waited; if it is above `cap_us`, or if
    all waits for one answer came to more than `total_us`, the failure is final.
    """

    max_attempts: int = 4
    base_us: int = 500_000
    cap_us: int = 20_000_000
    total_us: int = 60_000_000

    def wait_us(self, attempt: int, asked: float | None, draw: Callable[[int], int]) -> int | None:
        """The wait after failed attempt number `attempt`; None if the provider asks too much.

        `asked` is in seconds. What is no sensible number of seconds is as if nobody had asked.
        """
        if asked is None or not 0 <= asked < float("inf"):
            return draw(min(self.cap_us, self.base_us << min(attempt - 1, DOUBLINGS)))
        if asked * 1_000_000 > self.cap_us:
            return None
        least = -int(-asked * 1_000_000 // 1)  # rounded up: never earlier than asked
        return least + draw(min(self.base_us, self.cap_us - least))


# endregion


class RetryingModel:
    """A model that repeats failed attempts of another, within a policy.

    `draw(n)` gives a number from 0 to n. `waiter` wakes when `cancel` is raised; the wait then
    raises CancelledError.
    """

    def __init__(
        self,
        model: Model | StreamingModel,
        waiter: Waiter,
        cancel: CancelToken,
        policy: RetryPolicy | None = None,
        draw: Callable[[int], int] = draw_up_to,
    ) -> None:
        self._model = model
        self._waiter = waiter
        self._cancel = cancel
        self._policy = policy or RetryPolicy()
        self._draw = draw
        if self._policy.max_attempts < 1 or self._policy.base_us < 0:
            raise ValueError("max_attempts must be at least 1, base_us at least 0")

    # region: stream
    def stream(
        self, messages: Sequence[Message], tools: Descriptors
    ) -> Iterator[str | Retry | ModelTurn]:
        """The first attempt that succeeds. Raises the failure that ends the attempts."""
        attempt, waited_us = 1, 0
        while True:
            shown = False
            answer = stream_turn(self._model, messages, tools)
            try:
                for item in answer:
                    shown = shown or not isinstance(item, Retry)
                    yield item
                return
            except ModelError as fault:
                if shown:
                    raise
                wait_us = self._next_wait(fault, attempt, waited_us)
                cause = f"{classify(fault)}: {fault.message}"
            finally:
                close(answer)
            yield Retry(cause, wait_us)  # on record before the wait, so that people see why
            self._waiter.wait(wait_us, self._cancel)
            self._cancel.check()
            attempt, waited_us = attempt + 1, waited_us + wait_us

    # endregion

    # region: next_wait
    def _next_wait(self, fault: ModelError, attempt: int, waited_us: int) -> int:
        """How long to wait before the next attempt; raises the failure if there is to be none."""
        if classify(fault) in ("overflow", "permanent"):
            raise fault
        if attempt >= self._policy.max_attempts:
            raise _given_up(fault, attempt, f"given up after attempt {attempt}")
        asked = fault.retry_after_seconds
        wait_us = self._policy.wait_us(attempt, asked, self._draw)
        if wait_us is None:
            most = self._policy.cap_us / 1_000_000
            raise _given_up(fault, attempt, f"not waited {asked:.0f} s; at most {most:g} s are")
        if waited_us + wait_us > self._policy.total_us:
            most = self._policy.total_us / 1_000_000
            raise _given_up(fault, attempt, f"given up: all waits would be more than {most:g} s")
        return wait_us

    # endregion


def _given_up(fault: ModelError, attempts: int, why: str) -> ModelError:
    """The last failure, with the reason that it is the last."""
    kind = RateLimitError if isinstance(fault, RateLimitError) else TransientModelError
    final = kind(f"{fault.message} ({why})", **{**fault.details, "attempts": attempts})
    final.retryable = True  # later, by whoever reads this: not by this policy
    final.retry_after_seconds = fault.retry_after_seconds
    return final
