"""The graders of s08 are graded: the reference passes, and each wrong solution is told why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from curriculum.core.errors import ContextOverflowError, ModelError, TransientModelError
from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import Model, Retry, StreamingModel, stream_turn
from curriculum.core.trace import Event
from curriculum.grading.circuit_breaker import grade_circuit_breaker
from curriculum.grading.s08 import grade_attempts_of, grade_fallback
from curriculum.grading.when_it_ends import FIRST, grade_when_it_ends, observe_ending
from curriculum.lessons.s08_when_to_give_up import solutions

Stream = Iterator[str | Retry | ModelTurn]
Tools = Sequence[dict[str, object]]
AnyModel = Model | StreamingModel


def test_the_reference_passes() -> None:
    grade_attempts_of(solutions.attempts_of)
    grade_fallback(solutions.Fallback)
    assert solutions.WHEN_IT_ENDS is not None
    grade_when_it_ends(solutions.WHEN_IT_ENDS)
    grade_circuit_breaker(solutions.CircuitBreaker)


# A. attempts_of


def pick(events: Sequence[Event], type: str) -> list[Event]:
    return [event for event in events if event.type == type]


def by_turn(events: Sequence[Event]) -> object:
    """One answer a turn: an overflow's second request is taken for another attempt."""
    told: dict[object, tuple[int, int, str | None]] = {}
    turn: object = None
    for event in events:
        if event.type == "model.request":
            turn = event.payload["turn"]
            count, waited, _ = told.get(turn, (0, 0, None))
            told[turn] = (count + 1, waited, None)
        elif event.type == "retry.wait":
            count, waited, status = told[turn]
            told[turn] = (count, waited + int(str(event.payload["wait_us"])), status)
        elif event.type == "model.response":
            told[turn] = (*told[turn][:2], str(event.payload["status"]))
    return list(told.values())


def last_wait_only(events: Sequence[Event]) -> object:
    answers = solutions.attempts_of(events)
    waits = {e.payload["request_id"]: e.payload["wait_us"] for e in pick(events, "retry.wait")}
    last = list(waits.values())[-1:] or [0]
    return [(count, last[0] if waited else 0, status) for count, waited, status in answers]


def every_request(events: Sequence[Event]) -> object:
    return [(1, 0, str(e.payload["status"])) for e in pick(events, "model.response")]


def status_kept(events: Sequence[Event]) -> object:
    """A second attempt that is open still shows how the first one ended."""
    answers = solutions.attempts_of(events)
    responses = pick(events, "model.response")
    if answers and answers[-1][2] is None and responses:
        answers[-1] = (*answers[-1][:2], str(responses[-1].payload["status"]))
    return answers


def only_answered(events: Sequence[Event]) -> object:
    return [answer for answer in solutions.attempts_of(events) if answer[2]]


def in_seconds(events: Sequence[Event]) -> object:
    return [(n, waited / 1e6, status) for n, waited, status in solutions.attempts_of(events)]


def retries_only(events: Sequence[Event]) -> object:
    return [(n - 1, waited, status) for n, waited, status in solutions.attempts_of(events)]


def needs_a_response(events: Sequence[Event]) -> object:
    if not pick(events, "model.response"):
        raise IndexError("list index out of range")
    return solutions.attempts_of(events)


WRONG_ATTEMPTS: dict[str, tuple[Callable[[Sequence[Event]], object], str]] = {
    "one answer a turn": (by_turn, r"\d answers, .*\n.*you found"),
    "the last wait instead of all": (last_wait_only, "for answer"),
    "every request an answer": (every_request, "answers, "),
    "an open attempt has the old status": (status_kept, "you say .*'failed'"),
    "open answers left out": (only_answered, "1 answers"),
    "seconds": (in_seconds, r"you say \(\d, 0\.\d+"),
    "the first attempt not counted": (retries_only, r"you say \(0, 0, None\)"),
    "a count": (lambda events: len(pick(events, "model.request")), "a list of"),
    "crashes on an open trace": (needs_a_response, "IndexError"),
    "hard-coded": (lambda events: [(2, 2_250_000, "completed")], "0 answers"),
}


@pytest.mark.parametrize("name", WRONG_ATTEMPTS)
def test_wrong_attempts_are_told_why(name: str) -> None:
    wrong, message = WRONG_ATTEMPTS[name]
    with pytest.raises(AssertionError, match=message):
        grade_attempts_of(wrong)  # type: ignore[arg-type]


# B. Fallback


class Base:
    def __init__(self, models: Sequence[AnyModel]) -> None:
        self.models = tuple(models)


class AfterText(Base):
    """Asks the next one although half an answer was shown."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for number, model in enumerate(self.models, 1):
            try:
                yield from stream_turn(model, messages, tools)
                return
            except ContextOverflowError:
                raise
            except ModelError as fault:
                if number == len(self.models):
                    raise
                yield Retry(fault.message, 0)


class Overflows(Base):
    """Takes an overflow for a failure like any other."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for number, model in enumerate(self.models, 1):
            shown = False
            try:
                for item in stream_turn(model, messages, tools):
                    shown = shown or not isinstance(item, Retry)
                    yield item
                return
            except ModelError as fault:
                if shown or number == len(self.models):
                    raise
                yield Retry(fault.message, 0)


class AnyFault(Base):
    """Falls back on bugs too."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for number, model in enumerate(self.models, 1):
            shown = False
            try:
                for item in stream_turn(model, messages, tools):
                    shown = shown or not isinstance(item, Retry)
                    yield item
                return
            except ContextOverflowError:
                raise
            except Exception as fault:
                if shown or number == len(self.models):
                    raise
                yield Retry(str(fault), 0)


class OnlyTransient(Base):
    """Gives up on a spent quota, where another model would do."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for number, model in enumerate(self.models, 1):
            shown = False
            try:
                for item in stream_turn(model, messages, tools):
                    shown = shown or not isinstance(item, Retry)
                    yield item
                return
            except TransientModelError as fault:
                if shown or number == len(self.models):
                    raise
                yield Retry(fault.message, 0)


class Silent(Base):
    """No Retry: observers see one request where there were two."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for item in solutions.Fallback(self.models).stream(messages, tools):
            if not isinstance(item, Retry):
                yield item


class RetryIsShown(Base):
    """Takes a model's own Retry for something shown."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for number, model in enumerate(self.models, 1):
            shown = False
            try:
                for item in stream_turn(model, messages, tools):
                    shown = True
                    yield item
                return
            except ContextOverflowError:
                raise
            except ModelError as fault:
                if shown or number == len(self.models):
                    raise
                yield Retry(fault.message, 0)


class Sticky(Base):
    """Stays with the model that answered last."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        inner = solutions.Fallback(self.models)
        for item in inner.stream(messages, tools):
            if isinstance(item, Retry) and item.wait_us == 0:
                self.models = self.models[1:]
            yield item


class Collects(Base):
    """Shows nothing before the answer is whole: safe, and no stream any more."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        yield from list(solutions.Fallback(self.models).stream(messages, tools))


class OwnError(Base):
    """Wraps the last failure: its class, its wait and its details are lost."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        try:
            yield from solutions.Fallback(self.models).stream(messages, tools)
        except ContextOverflowError:
            raise
        except ModelError as fault:
            raise ModelError(f"all models failed: {fault}") from fault


class Streams(Base):
    """Knows only models that stream."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for model in self.models:
            assert hasattr(model, "stream"), "no stream"
        yield from solutions.Fallback(self.models).stream(messages, tools)


class Waits(Base):
    """Tells of a wait that it does not make."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        for item in solutions.Fallback(self.models).stream(messages, tools):
            ours = isinstance(item, Retry) and item.wait_us == 0
            yield Retry(item.cause, 1000) if ours and isinstance(item, Retry) else item


WRONG_FALLBACKS: dict[type[Base], str] = {
    AfterText: "the first 1 asked once each",
    Overflows: "the first 1 asked once each",
    AnyFault: "the first 1 asked once each",
    OnlyTransient: "the first 2 asked once each",
    Silent: "it yielded",
    RetryIsShown: "asked once each, in order",
    Sticky: "asked once each, in order",
    Collects: "each piece passed on as it comes|it yielded",
    OwnError: "it raised ModelError",
    Streams: "no stream",
    Waits: "it yielded",
}


@pytest.mark.parametrize("wrong", WRONG_FALLBACKS)
def test_wrong_fallbacks_are_told_why(wrong: type[Base]) -> None:
    with pytest.raises(AssertionError, match=WRONG_FALLBACKS[wrong]):
        grade_fallback(wrong)  # type: ignore[arg-type]


# C. WHEN_IT_ENDS


def changed(situation: str, fact: str, prediction: object) -> dict[str, dict[str, object]]:
    assert solutions.WHEN_IT_ENDS is not None
    table = {name: dict(row) for name, row in solutions.WHEN_IT_ENDS.items()}
    assert table[situation][fact] != prediction
    table[situation][fact] = prediction
    return table


WRONG_ENDINGS: dict[str, tuple[object, str]] = {
    "text is shown twice": (
        changed("overloaded, text shown", "requests", 2),
        "'overloaded, text shown': you predict requests 2, the trace shows 1",
    ),
    "a day is waited for": (
        changed("asked to wait a day", "stop", "completed"),
        "'asked to wait a day': you predict stop 'completed', the trace shows 'failed'",
    ),
    "a quota is asked again": (
        changed("quota used up", "requests", 4),
        "'quota used up': you predict requests 4, the trace shows 1",
    ),
    "an overflow is retried": (
        changed("request too long", "requests", 2),
        "'request too long': you predict requests 2",
    ),
    "the attempt waited for is not on record": (
        changed("Ctrl+C in a wait", "requests", 1),
        "'Ctrl\\+C in a wait': you predict requests 1, the trace shows 2",
    ),
    "the user's deadline": (
        changed("deadline between pieces", "by", "user"),
        "you predict by 'user', the trace shows 'policy'",
    ),
    "a cancelled response has failed": (
        changed("deadline between pieces", "response", "failed"),
        "you predict response 'failed', the trace shows 'cancelled'",
    ),
    "work that was done is denied": (
        changed("deadline in a call that does not look", "result", "unknown"),
        "you predict result 'unknown', the trace shows 'completed'",
    ),
    "two deadlines are one": (
        changed("call too slow, it looks", "stop", "cancelled"),
        "'call too slow, it looks': you predict stop 'cancelled', the trace shows 'completed'",
    ),
    "a timeout is a cancellation": (
        changed("call too slow, it looks", "reason", "cancelled"),
        "you predict reason 'cancelled', the trace shows 'timeout'",
    ),
    "the other way round": (
        changed("deadline in a call that looks", "reason", "timeout"),
        "you predict reason 'timeout', the trace shows 'cancelled'",
    ),
    "no rows": ({}, "one row for each of"),
    "a column left out": ({situation: {} for situation in FIRST}, "the columns requests"),
}


@pytest.mark.parametrize("name", WRONG_ENDINGS)
def test_wrong_endings_are_told_why(name: str) -> None:
    wrong, message = WRONG_ENDINGS[name]
    with pytest.raises(AssertionError, match=message):
        grade_when_it_ends(wrong)  # type: ignore[arg-type]


def test_a_situation_ends_the_same_way_every_time() -> None:
    for situation in FIRST:
        assert len({str(observe_ending(situation)) for _ in range(5)}) == 1


# D. CircuitBreaker


class Breaker(solutions.CircuitBreaker):
    """The reference, for others to get one thing wrong."""


class CountsAll(Breaker):
    """Adds failures up, whatever comes between them."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        self._refuse_while_open()
        try:
            yield from stream_turn(self._model, messages, tools)
        except ModelError as fault:
            self._count(fault)
            raise


class ResetsTooLate(Breaker):
    """Begins anew after the turn was yielded: the loop reads no further."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        self._refuse_while_open()
        try:
            yield from stream_turn(self._model, messages, tools)
            self._failed = 0
        except ModelError as fault:
            self._count(fault)
            raise


class CountsOverflows(Breaker):
    """Takes every failure for the provider's."""

    def _count(self, fault: ModelError) -> None:
        super()._count(TransientModelError("any"))


class IgnoresPermanent(Breaker):
    """A refused request does not begin the row anew."""

    def _count(self, fault: ModelError) -> None:
        if isinstance(fault, TransientModelError) or fault.retryable:
            super()._count(fault)


class FullRow(Breaker):
    """After the trial failed, asks for a whole row again."""

    def _count(self, fault: ModelError) -> None:
        super()._count(fault)
        if self._failed > self._threshold:
            self._failed = 1
            self._open_until_us = 0


class AsksWhileOpen(Breaker):
    """Counts, and never opens."""

    def _refuse_while_open(self) -> None:
        return


class NoTime(Breaker):
    """Refuses without saying for how long."""

    def _refuse_while_open(self) -> None:
        try:
            super()._refuse_while_open()
        except TransientModelError as refusal:
            refusal.retry_after_seconds = None
            raise


class Microseconds(Breaker):
    """Says it in the wrong unit."""

    def _refuse_while_open(self) -> None:
        try:
            super()._refuse_while_open()
        except TransientModelError as refusal:
            refusal.retry_after_seconds = 1_000_000 * (refusal.retry_after_seconds or 0)
            raise


class Permanent(Breaker):
    """Refuses in a way that nobody repeats."""

    def _refuse_while_open(self) -> None:
        try:
            super()._refuse_while_open()
        except TransientModelError as refusal:
            final = ModelError(refusal.message)
            final.retry_after_seconds = refusal.retry_after_seconds
            raise final from None


class OpensForEver(Breaker):
    """Every refusal begins the time anew."""

    def _refuse_while_open(self) -> None:
        try:
            super()._refuse_while_open()
        except TransientModelError:
            self._open_until_us = self._clock.read()[1] + self._cool_us
            raise


class AbandonedFails(Breaker):
    """Takes a run that was cancelled for a failure."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        done = False
        try:
            for item in super().stream(messages, tools):
                done = isinstance(item, ModelTurn)
                yield item
        except GeneratorExit:
            if not done:
                self._count(TransientModelError("abandoned"))
            raise


class BugsFail(Breaker):
    """Takes a bug for a failure of the provider."""

    def stream(self, messages: Sequence[Message], tools: Tools) -> Stream:
        try:
            yield from super().stream(messages, tools)
        except KeyError:
            self._count(TransientModelError("a bug"))
            raise


WRONG_BREAKERS: dict[type[Breaker], str] = {
    CountsAll: "one request to the provider",
    ResetsTooLate: "one request to the provider",
    CountsOverflows: "one request to the provider",
    IgnoresPermanent: "one request to the provider",
    FullRow: "open, nobody is asked",
    AsksWhileOpen: "open, nobody is asked",
    NoTime: "retry_after_seconds .*\n.*it is None",
    Microseconds: r"retry_after_seconds .*\n.*it is \d{4,}",
    Permanent: "a TransientModelError",
    OpensForEver: "retry_after_seconds|one request to the provider",
    AbandonedFails: "one request to the provider",
    BugsFail: "one request to the provider",
}


@pytest.mark.parametrize("wrong", WRONG_BREAKERS)
def test_wrong_breakers_are_told_why(wrong: type[Breaker]) -> None:
    with pytest.raises(AssertionError, match=WRONG_BREAKERS[wrong]):
        grade_circuit_breaker(wrong)
