"""One way to do each exercise of s08. Look after you have tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from curriculum.core.errors import ContextOverflowError, ModelError, TransientModelError
from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import Model, Retry, StreamingModel, stream_turn
from curriculum.core.retry import classify
from curriculum.core.trace import Clock, Event


# region: attempts_of
def attempts_of(events: Sequence[Event]) -> list[tuple[int, int, str | None]]:
    """A. Attempt 1 opens an entry; every further request makes its status unknown again."""
    answers: list[tuple[int, int, str | None]] = []
    for event in events:
        payload = event.payload
        if event.type == "model.request" and payload["attempt"] == 1:
            answers.append((1, 0, None))
        elif event.type == "model.request":
            count, waited, _ = answers[-1]
            answers[-1] = (count + 1, waited, None)
        elif event.type == "retry.wait":
            count, waited, status = answers[-1]
            answers[-1] = (count, waited + int(str(payload["wait_us"])), status)
        elif event.type == "model.response":
            answers[-1] = (*answers[-1][:2], str(payload["status"]))
    return answers


# endregion


# region: fallback
class Fallback:
    """B. One loop over the models; what was shown decides whether the next may be asked."""

    def __init__(self, models: Sequence[Model | StreamingModel]) -> None:
        self._models = tuple(models)

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | Retry | ModelTurn]:
        for number, model in enumerate(self._models, 1):
            shown = False
            try:
                for item in stream_turn(model, messages, tools):
                    shown = shown or not isinstance(item, Retry)
                    yield item
                return
            except ContextOverflowError:
                raise
            except ModelError as fault:
                if shown or number == len(self._models):
                    raise
                yield Retry(fault.message, 0)


# endregion


# region: when_it_ends
def row(
    requests: int,
    response: str,
    stop: str,
    *,
    result: str = "",
    reason: str = "",
    by: str = "",
) -> dict[str, object]:
    """One row of the table."""
    return {
        "requests": requests,
        "response": response,
        "result": result or None,
        "reason": reason or None,
        "by": by or None,
        "stop": stop,
    }


WHEN_IT_ENDS: Mapping[str, Mapping[str, object]] | None = {
    "overloaded, nothing shown": row(2, "completed", "completed"),
    "overloaded, text shown": row(1, "failed", "failed"),
    "asked to wait 2 s": row(2, "completed", "completed"),
    "asked to wait a day": row(1, "failed", "failed"),
    "quota used up": row(1, "failed", "failed"),
    "request too long": row(1, "failed", "failed"),
    "Ctrl+C in a wait": row(2, "cancelled", "cancelled", by="user"),
    "deadline between pieces": row(1, "cancelled", "cancelled", by="policy"),
    "deadline in a call that looks": row(
        1, "completed", "cancelled", result="failed", reason="cancelled", by="policy"
    ),
    "deadline in a call that does not look": row(
        1, "completed", "cancelled", result="completed", by="policy"
    ),
    "call too slow, it looks": row(2, "completed", "completed", result="failed", reason="timeout"),
    "call too slow, it does not": row(2, "completed", "completed", result="completed"),
}
# endregion


# region: circuit_breaker
class CircuitBreaker:
    """D. Two facts are enough: how many failed in a row, and until when nobody is asked."""

    def __init__(
        self, model: Model | StreamingModel, clock: Clock, threshold: int, cool_us: int
    ) -> None:
        self._model, self._clock = model, clock
        self._threshold, self._cool_us = threshold, cool_us
        self._failed = 0
        self._open_until_us = 0

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | Retry | ModelTurn]:
        self._refuse_while_open()
        try:
            for item in stream_turn(self._model, messages, tools):
                if isinstance(item, ModelTurn):
                    self._failed = 0
                yield item
        except ModelError as fault:
            self._count(fault)
            raise

    def _refuse_while_open(self) -> None:
        left_us = self._open_until_us - self._clock.read()[1]
        if self._failed >= self._threshold and left_us > 0:
            refusal = TransientModelError("the provider has failed often; it is left alone")
            refusal.retry_after_seconds = left_us / 1_000_000
            raise refusal

    def _count(self, fault: ModelError) -> None:
        if classify(fault) not in ("transient", "rate-limit"):
            self._failed = 0
            return
        self._failed += 1  # a trial began at the threshold, so one failure is enough
        if self._failed >= self._threshold:
            self._open_until_us = self._clock.read()[1] + self._cool_us


# endregion
