"""Graders of s08 A and B: attempts read from traces, and a model that falls back on others."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from curriculum.core.errors import (
    AuthenticationError,
    ContextOverflowError,
    ModelError,
    ProtocolError,
    RateLimitError,
    TransientModelError,
)
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import Model, Retry, ScriptedModel, StreamingModel
from curriculum.core.retry import RetryingModel, RetryPolicy
from curriculum.core.seams import CancelToken
from curriculum.core.trace import Event
from curriculum.core.waiting import VirtualTime
from curriculum.grading.mistakes import attempt, mistake, quote

__unittest = True

Tools = Sequence[dict[str, object]]

OBSERVE = 's08, "Run it and observe it"'
STEPS = 's08, "Step by step"'
INVARIANTS = 's08, "Invariants"'

Attempts = Sequence[tuple[int, int, str | None]]


def grade_attempts_of(attempts_of: Callable[[Sequence[Event]], Attempts]) -> None:
    """A. Runs with every kind of ending, read as a whole and at each of their beginnings."""
    for seed in range(4):
        events = _run_with_attempts(random.Random(seed))
        for size in range(1, len(events) + 1):
            _check_attempts(attempts_of, events[:size])


class _Shorter:
    """A context policy that answers an overflow by sending the same again."""

    def fit(
        self, messages: Sequence[Message], overflow: ContextOverflowError | None
    ) -> tuple[Sequence[Message], Mapping[str, object] | None]:
        return messages, None


def _run_with_attempts(rng: random.Random) -> Sequence[Event]:
    busy = TransientModelError("busy")
    answers: list[ModelTurn | Exception] = []
    for number in range(3):
        answers += [busy] * rng.randrange(5)
        if number == rng.randrange(3):
            answers += [ContextOverflowError("too long"), *[busy] * rng.randrange(2)]
        answers.append(ModelTurn(tool_calls=(ToolCall(f"c{number}", "fiction"),)))
    ending: list[list[ModelTurn | Exception]] = [
        [busy, ModelTurn("done")],
        [busy, ModelError("refused")],
        [busy] * 9,
    ]
    cancel, time = CancelToken(), VirtualTime()
    model = RetryingModel(
        ScriptedModel([*answers, *rng.choice(ending)]),
        time,
        cancel,
        RetryPolicy(max_attempts=5, base_us=rng.randrange(1, 10**6)),
        lambda most: rng.randrange(most + 1),
    )
    return AgentRunner(model, context=_Shorter(), cancel=cancel).run("go").events


def _check_attempts(
    attempts_of: Callable[[Sequence[Event]], Attempts], events: Sequence[Event]
) -> None:
    wanted: list[tuple[int, int, str | None]] = []
    for event in events:
        about = event.payload
        if event.type == "model.request":
            if about["attempt"] == 1:
                wanted.append((1, 0, None))
            else:
                wanted[-1] = (wanted[-1][0] + 1, wanted[-1][1], None)
        elif event.type == "retry.wait":
            count, waited, status = wanted[-1]
            wanted[-1] = (count, waited + int(str(about["wait_us"])), status)
        elif event.type == "model.response":
            wanted[-1] = (wanted[-1][0], wanted[-1][1], str(about["status"]))
    with attempt("attempts_of", OBSERVE):
        got = attempts_of(events)
    if not isinstance(got, (list, tuple)):
        raise mistake("a list of (attempts, waited, status)", quote(got), OBSERVE)
    mine = [tuple(one) if isinstance(one, (list, tuple)) else one for one in got]
    if len(mine) != len(wanted):
        saw = f"you found {len(mine)}: {quote(mine)}"
        raise mistake(f"{len(wanted)} answers, {quote(wanted)}", saw, OBSERVE)
    for number, (one, other) in enumerate(zip(wanted, mine, strict=True), 1):
        if one != other:
            told = "attempts, waited µs, status"
            expected = f"for answer {number} of {len(wanted)} ({told}) {one}"
            raise mistake(expected, f"you say {quote(other)}", OBSERVE)


Behaviour = Sequence[str | Retry | ModelTurn | BaseException]


class _Source:
    """A model that goes as it is told, and notes what it was asked and how far it was read."""

    def __init__(self) -> None:
        self.next: Behaviour = []
        self.asked: list[tuple[Sequence[Message], Tools]] = []
        self.given = 0

    def stream(
        self, messages: Sequence[Message], tools: Tools
    ) -> Iterator[str | Retry | ModelTurn]:
        self.asked.append((messages, tools))
        for item in self.next:
            if isinstance(item, BaseException):
                raise item
            self.given += 1
            yield item


Make = Callable[[Sequence[Model | StreamingModel]], StreamingModel]


def grade_fallback(make: Make) -> None:
    """B. One to three models, every way to fail, and eight; then behind a real runner."""
    rng = random.Random(5)
    with attempt("Fallback", STEPS):
        for fault in _faults():
            for shown in (False, True):
                _check_fallback(make, [[_behaviour(fault, shown), _answer("b")]], 2)
        _check_fallback(make, [[["\n", TransientModelError("overloaded")], _answer("b")]], 2)
        for _ in range(60):
            size = rng.randrange(1, 4)
            rounds = [[_random(rng) for _ in range(size)] for _ in range(3)]
            _check_fallback(make, rounds, size)
        busy = [[TransientModelError(f"busy {number}")] for number in range(7)]
        _check_fallback(make, [[*busy, _answer("the eighth")]], 8)
        _check_any_model(make)
        _check_run(make)


def _faults() -> list[BaseException]:
    limited = RateLimitError("slow down")
    limited.retryable, limited.retry_after_seconds = True, 2
    return [
        TransientModelError("overloaded"),
        limited,
        RateLimitError("quota used up"),
        AuthenticationError("the key is refused"),
        ModelError("no such model"),
        ProtocolError("an answer that nobody can read"),
        ContextOverflowError("too long"),
        KeyError("a bug"),
        KeyboardInterrupt(),
    ]


def _behaviour(fault: BaseException, shown: bool) -> list[str | Retry | ModelTurn | BaseException]:
    return ["half ", fault] if shown else [fault]


def _answer(text: str) -> list[str | Retry | ModelTurn | BaseException]:
    return [text, "!", ModelTurn(f"{text}!")]


def _random(rng: random.Random) -> Behaviour:
    if rng.random() < 0.4:
        return _answer(f"text-{rng.randrange(100)}")
    own: list[str | Retry | ModelTurn | BaseException] = [Retry("its own", 5)]
    begun = own * rng.randrange(2)
    return [*begun, *_behaviour(rng.choice(_faults()), rng.random() < 0.3)]


def _expected(behaviours: Sequence[Behaviour]) -> tuple[list[object], BaseException | None, int]:
    """(what is yielded, what is raised, how many models are asked)."""
    items: list[object] = []
    for number, behaviour in enumerate(behaviours, 1):
        *begun, end = behaviour
        items += begun
        if not isinstance(end, BaseException):
            return [*items, end], None, number
        shown = any(isinstance(item, str) for item in begun)
        final = not isinstance(end, ModelError) or isinstance(end, ContextOverflowError)
        if final or shown or number == len(behaviours):
            return items, end, number
        items.append(Retry(str(end), 0))
    raise AssertionError("the last behaviour has returned")


def _check_fallback(make: Make, rounds: Sequence[Sequence[Behaviour]], size: int) -> None:
    sources = [_Source() for _ in range(size)]
    model = make(sources)
    messages: tuple[Message, ...] = (Message("user", "go"),)
    tools: list[dict[str, object]] = [{"name": "tool"}]
    for behaviours in rounds:
        for source, behaviour in zip(sources, behaviours, strict=True):
            source.next = behaviour
        wanted, fault, asked = _expected(behaviours)
        before = [len(source.asked) for source in sources]
        given = sum(source.given for source in sources)
        got, raised = _read(model, messages, tools, sources, given)
        told = f"where the models do {quote([list(b) for b in behaviours], 300)}"
        now = [len(source.asked) - n for source, n in zip(sources, before, strict=True)]
        if now != [1] * asked + [0] * (size - asked):
            expected = f"{told}: the first {asked} asked once each, in order"
            raise mistake(expected, f"asked how often: {now}", STEPS)
        if got != wanted:
            raise mistake(f"{told}: {quote(wanted)}", f"it yielded {quote(got)}", STEPS)
        if raised is not fault:
            raise mistake(f"{told}: in the end {fault!r}", f"it raised {raised!r}", STEPS)
    for source in sources:
        for seen in source.asked:
            if seen != (messages, tools):
                raise mistake("the same messages and tools for all", quote(seen), INVARIANTS)


def _read(
    model: StreamingModel,
    messages: Sequence[Message],
    tools: Tools,
    sources: Sequence[_Source],
    given_before: int,
) -> tuple[list[object], BaseException | None]:
    got: list[object] = []
    theirs = 0
    try:
        for item in model.stream(messages, tools):
            got.append(item)
            theirs += not (isinstance(item, Retry) and item.wait_us == 0)
            ahead = sum(source.given for source in sources) - given_before - theirs
            if ahead > 0:
                expected = "each piece passed on as it comes"
                raise mistake(expected, f"{ahead} more had been read by then", INVARIANTS)
    except AssertionError:
        raise
    except (Exception, KeyboardInterrupt) as fault:
        return got, fault
    return got, None


def _check_any_model(make: Make) -> None:
    """Models that only respond are models too."""
    first = ScriptedModel([ModelError("a"), ModelTurn(chunks=("x", "y"))])
    second = ScriptedModel([ModelTurn("second")])
    model = make([first, second])
    for wanted in ([Retry("a", 0), ModelTurn("second")], ["x", "y", ModelTurn(chunks=("x", "y"))]):
        got = list(model.stream((), []))
        if got != wanted:
            raise mistake(f"of models that only respond {wanted}", quote(got), STEPS)


def _check_run(make: Make) -> None:
    call = ToolCall("c1", "fiction")
    first = ScriptedModel([TransientModelError("busy"), ModelTurn("from the first")])
    second = ScriptedModel([ModelTurn(tool_calls=(call,))])
    result = AgentRunner(make([first, second])).run("go")
    if (result.stop_reason, result.final_text) != ("completed", "from the first"):
        expected = "behind a runner: the second model's call, then the first model's answer"
        raise mistake(expected, f"{result.stop_reason}: {result.error or result.final_text}", STEPS)
    waits = [e.payload["cause"] for e in result.events if e.type == "retry.wait"]
    if waits != ["busy"]:
        raise mistake("one retry.wait with the cause 'busy'", f"{waits}", INVARIANTS)
