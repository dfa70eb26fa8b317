"""Grader of s08 D: a circuit breaker against a model of one, over random requests and times."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from curriculum.core.errors import (
    ContextOverflowError,
    ModelError,
    RateLimitError,
    TransientModelError,
)
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import Model, Retry, StreamingModel
from curriculum.core.retry import RetryingModel, RetryPolicy
from curriculum.core.seams import CancelToken
from curriculum.core.trace import Clock
from curriculum.core.waiting import VirtualTime
from curriculum.grading.mistakes import attempt, mistake

__unittest = True

Tools = Sequence[dict[str, object]]

DESIGN = 's08, "Exercises", D'
SECOND = 1_000_000

Make = Callable[[Model | StreamingModel, Clock, int, int], StreamingModel]

KINDS = (
    *("transient", "transient", "transient", "rate-limit", "late", "answer"),
    *("permanent", "overflow", "bug", "abandoned", "quota"),
)


class _Provider:
    """Goes as the next request is told to go, and takes `takes_us` for it."""

    def __init__(self, time: VirtualTime) -> None:
        self.kind = "answer"
        self.asked = self.takes_us = 0
        self._time = time

    def stream(
        self, messages: Sequence[Message], tools: Tools
    ) -> Iterator[str | Retry | ModelTurn]:
        self.asked += 1
        if self.kind in ("late", "answer", "abandoned"):
            yield "te"
        self._time.pass_us(self.takes_us)
        limited = RateLimitError("slow down")
        limited.retryable = self.kind == "rate-limit"
        faults: dict[str, Exception] = {
            "transient": TransientModelError("busy"),
            "late": TransientModelError("dropped"),
            "rate-limit": limited,
            "quota": limited,
            "permanent": ModelError("no"),
            "overflow": ContextOverflowError("too long"),
            "bug": KeyError("a bug"),
        }
        if self.kind in faults:
            raise faults[self.kind]
        yield "xt"
        yield ModelTurn("text")


class _Expected:
    """The states of a breaker, as the exercise words them."""

    def __init__(self, threshold: int, cool_us: int) -> None:
        self._threshold, self._cool_us = threshold, cool_us
        self._row, self._opened_us = 0, -1

    def rest_us(self, now_us: int) -> int:
        """How long requests are refused from now on; 0 if one may be made."""
        return max(0, self._opened_us + self._cool_us - now_us) if self._opened_us >= 0 else 0

    def tell(self, kind: str, now_us: int) -> None:
        """What came of a request that was made."""
        if kind in ("bug", "abandoned"):
            return
        if kind in ("transient", "rate-limit", "late"):
            self._row += 1
            if self._row >= self._threshold or self._opened_us >= 0:
                self._opened_us = now_us
        else:
            self._row, self._opened_us = 0, -1


def grade_circuit_breaker(make: Make) -> None:
    """D. Random histories, then a RetryingModel around it and a real runner."""
    with attempt("CircuitBreaker", DESIGN):
        for seed in range(60):
            _check_history(make, random.Random(seed))
        _check_retries(make)


def _check_history(make: Make, rng: random.Random) -> None:
    time = VirtualTime(0)
    provider = _Provider(time)
    threshold = rng.choice([1, 2, 3, 4, 7])
    cool_us = rng.choice([rng.randrange(1, 10) * SECOND, rng.randrange(SECOND // 2, 10 * SECOND)])
    breaker = make(provider, time, threshold, cool_us)
    expected = _Expected(threshold, cool_us)
    history: list[str] = []
    for _ in range(60):
        time.pass_us(rng.choice([0, SECOND // 2, SECOND, 3 * SECOND, cool_us, cool_us - 1]))
        provider.kind = rng.choice(KINDS if rng.random() < 0.5 else KINDS[:5])
        provider.takes_us = rng.choice([0, 0, 3, SECOND // 3])
        asked, rest_us = provider.asked, expected.rest_us(time.read()[1])
        seen, fault = _request(breaker, provider.kind == "abandoned")
        told = f"with threshold {threshold}, cool {cool_us} µs, after {', '.join(history) or 'no'}"
        if rest_us:
            history.append("refused")
            _check_refusal(f"{told} requests", provider.asked - asked, fault, rest_us)
            continue
        if provider.asked != asked + 1:
            saw = f"{provider.asked - asked} were made, and it raised {fault!r}"
            raise mistake(f"{told} requests: one request to the provider", saw, DESIGN)
        _check_passed(f"{told} requests", provider.kind, seen, fault)
        expected.tell(provider.kind, time.read()[1])
        history = [*history, provider.kind][-8:]


def _request(
    breaker: StreamingModel, abandon: bool
) -> tuple[list[str | Retry | ModelTurn], Exception | None]:
    seen: list[str | Retry | ModelTurn] = []
    stream: Iterator[str | Retry | ModelTurn] = iter(())
    try:
        stream = breaker.stream((Message("user", "go"),), [])
        for item in stream:
            seen.append(item)
            if abandon or isinstance(item, ModelTurn):
                break  # as the loop does: it reads nothing after the turn
    except AssertionError:
        raise
    except Exception as fault:
        return seen, fault
    if hasattr(stream, "close"):
        stream.close()
    return seen, None


def _check_refusal(told: str, made: int, fault: Exception | None, rest_us: int) -> None:
    if made:
        raise mistake(f"{told}: open, nobody is asked", "the provider was asked", DESIGN)
    if not isinstance(fault, TransientModelError):
        raise mistake(f"{told}: a TransientModelError", f"it raised {fault!r}", DESIGN)
    asked = fault.retry_after_seconds
    if asked is None or abs(asked - rest_us / SECOND) > 0.000_001:
        expected = f"{told}: retry_after_seconds {rest_us / SECOND}"
        raise mistake(expected, f"it is {asked}", DESIGN)


def _check_passed(told: str, kind: str, seen: Sequence[object], fault: Exception | None) -> None:
    passed: dict[str, list[object]] = {
        "answer": ["te", "xt", ModelTurn("text")],
        "late": ["te"],
        "abandoned": ["te"],
    }
    wanted = passed.get(kind, [])
    if seen != wanted:
        raise mistake(f"{told}: what the provider gives, {wanted}", f"{seen}", DESIGN)
    failed = kind not in ("answer", "abandoned")
    if failed != (fault is not None):
        raise mistake(f"{told}: the provider's own failure", f"it raised {fault!r}", DESIGN)
    if fault and str(fault.args[0]) not in (
        "busy",
        "dropped",
        "slow down",
        "no",
        "too long",
        "a bug",
    ):
        raise mistake(f"{told}: the provider's own failure", f"it raised {fault!r}", DESIGN)


def _check_retries(make: Make) -> None:
    """Two failures open it; the retry after them waits for the rest of the time."""
    time, cancel = VirtualTime(), CancelToken()
    answers = iter(["transient", "transient", "answer"])

    class Provider(_Provider):
        def stream(
            self, messages: Sequence[Message], tools: Tools
        ) -> Iterator[str | Retry | ModelTurn]:
            self.kind = next(answers)
            yield from super().stream(messages, tools)

    breaker = make(Provider(time), time, 2, 9 * SECOND)
    policy = RetryPolicy(base_us=SECOND)
    model = RetryingModel(breaker, time, cancel, policy, lambda most: 0)
    result = AgentRunner(model, cancel=cancel).run("go")
    waits = [e.payload["wait_us"] for e in result.events if e.type == "retry.wait"]
    if (result.stop_reason, waits) != ("completed", [0, 0, 9 * SECOND]):
        expected = f"inside a RetryingModel: the waits {[0, 0, 9 * SECOND]}, then the answer"
        raise mistake(expected, f"{result.stop_reason} after the waits {waits}", DESIGN)
