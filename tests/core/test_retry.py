"""Asking again: what is repeated, how long is waited, and what never happens twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.core.errors import (
    AuthenticationError,
    CancelledError,
    ContextOverflowError,
    ModelError,
    RateLimitError,
    TransientModelError,
)
from curriculum.core.loop import RunResult
from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import Retry, ScriptedModel
from curriculum.core.retry import RetryingModel, RetryPolicy, classify, draw_up_to
from curriculum.core.seams import CancelToken
from curriculum.core.trace import Recorder, SystemClock
from curriculum.core.waiting import SLICE_US, EachEvent, SystemWaiter, VirtualTime
from tests.core.parts import Probe, asks, call, ends_well, payloads, runner_of, types

SECOND = 1_000_000


def limited(message: str = "slow down", after: float | None = None, now: bool = True) -> ModelError:
    error = RateLimitError(message)
    error.retryable, error.retry_after_seconds = now, after
    return error


class Waits:
    """Remembers each wait; `act` happens during it."""

    def __init__(self, act: Callable[[CancelToken], object] = lambda cancel: None) -> None:
        self.waits: list[int] = []
        self._act = act

    def wait(self, wait_us: int, cancel: CancelToken) -> None:
        self.waits.append(wait_us)
        self._act(cancel)


class Pieces:
    """Each request streams the next list of items; an exception among them is raised."""

    def __init__(self, *answers: Sequence[object]) -> None:
        self._answers = iter(answers)
        self.asked = self.closed = 0

    def stream(self, messages: object, tools: object) -> Iterator[object]:
        self.asked += 1
        try:
            for item in next(self._answers):
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            self.closed += 1


def most(number: int) -> int:
    return number


def retrying(
    *script: ModelTurn | Exception, policy: RetryPolicy | None = None, waiter: Waits | None = None
) -> tuple[RunResult, Waits, ScriptedModel]:
    """A run over a retrying model, each wait as long as it may be."""
    model, waiter, cancel = ScriptedModel(script), waiter or Waits(), CancelToken()
    runner = runner_of([], cancel=cancel)
    runner.model = RetryingModel(model, waiter, cancel, policy, most)
    return ends_well(runner.run("go")), waiter, model


def message_of(result: RunResult) -> str:
    return str(payloads(result, "error")[0]["message"])


TRANSIENT = TransientModelError("overloaded")
DONE = ModelTurn("done")


def test_a_transient_failure_is_followed_by_another_attempt() -> None:
    result, waiter, model = retrying(TRANSIENT, TRANSIENT, DONE)
    assert result.final_text == "done"
    assert len(model.requests) == 3
    assert waiter.waits == [500_000, 1_000_000]
    assert [(p["attempt"], p["wait_us"], p["cause"]) for p in payloads(result, "retry.wait")] == [
        (1, 500_000, "transient: overloaded"),
        (2, 1_000_000, "transient: overloaded"),
    ]
    assert len(result.messages) == 2, "failed attempts leave nothing in the messages"


def test_every_attempt_shows_the_model_the_same_messages() -> None:
    _, _, model = retrying(TRANSIENT, TRANSIENT, DONE)
    assert [list(request) for request in model.requests] == [list(model.requests[0])] * 3


def test_the_wait_is_on_record_before_it_begins() -> None:
    seen: list[str] = []
    runner = runner_of([])
    waiter = Waits(lambda cancel: seen.extend(e.type for e in runner.recorder.events[-3:]))
    runner.model = RetryingModel(ScriptedModel([TRANSIENT, DONE]), waiter, CancelToken())
    runner.run("go")
    assert seen == ["model.response", "retry.wait", "model.request"]


PERMANENT = [
    ModelError("not found"),
    AuthenticationError("the key is refused"),
    limited("the quota is used up", now=False),
    limited("wait a day", after=86400, now=False),
]


@pytest.mark.parametrize("fault", PERMANENT, ids=lambda fault: fault.message)
def test_h3_a_permanent_failure_is_not_repeated(fault: ModelError) -> None:
    result, waiter, model = retrying(fault, DONE)
    assert (message_of(result), waiter.waits, len(model.requests)) == (fault.message, [], 1)


def test_an_overflow_is_left_to_the_context_policy() -> None:
    result, waiter, model = retrying(ContextOverflowError("too long"), DONE)
    assert (message_of(result), waiter.waits, len(model.requests)) == ("too long", [], 1)


def test_an_overflow_after_a_failure_still_reaches_the_context_policy() -> None:
    class Halve:
        def fit(self, messages: Sequence[object], overflow: object) -> object:
            return messages, None

    script = [TRANSIENT, ContextOverflowError("too long"), TRANSIENT, DONE]
    cancel = CancelToken()
    runner = runner_of([], context=Halve())
    runner.model = RetryingModel(ScriptedModel(script), Waits(), cancel)
    result = ends_well(runner.run("go"))
    assert result.final_text == "done"
    attempts = [(p["turn"], p["attempt"]) for p in payloads(result, "model.request")]
    assert attempts == [(1, 1), (1, 2), (1, 1), (1, 2)], "the shorter request has its own attempts"


def test_a_bug_in_the_model_is_not_repeated() -> None:
    result, waiter, _ = retrying(KeyError("a bug"), DONE)
    assert (result.stop_reason, waiter.waits) == ("failed", [])


def test_the_attempts_are_bounded_and_the_error_says_so() -> None:
    result, waiter, model = retrying(*[TRANSIENT] * 9, policy=RetryPolicy(max_attempts=3))
    assert (len(model.requests), len(waiter.waits)) == (3, 2)
    error = payloads(result, "error")[0]
    assert error["message"] == "overloaded (given up after attempt 3)"
    assert (error["attempts"], error["retryable"]) == (3, True)


def test_one_attempt_means_none_again() -> None:
    result, waiter, _ = retrying(TRANSIENT, DONE, policy=RetryPolicy(max_attempts=1))
    assert (result.stop_reason, waiter.waits) == ("failed", [])


def test_all_waits_together_are_bounded() -> None:
    policy = RetryPolicy(max_attempts=99, base_us=SECOND, cap_us=8 * SECOND, total_us=10 * SECOND)
    result, waiter, _ = retrying(*[TRANSIENT] * 99, policy=policy)
    assert waiter.waits == [SECOND, 2 * SECOND, 4 * SECOND]
    assert "all waits would be more than 10 s" in message_of(result)


@pytest.mark.parametrize(
    ("after", "waits"),
    [(2, [2_500_000]), (0, [500_000]), (20, [20_000_000]), (0.0000001, [500_001])],
)
def test_h1_retry_after_is_the_least_that_is_waited(after: float, waits: list[int]) -> None:
    result, waiter, _ = retrying(limited(after=after), DONE)
    assert (result.final_text, waiter.waits) == ("done", waits)


@pytest.mark.parametrize("after", [None, -1, float("nan"), float("inf"), float("-inf")])
def test_h1_what_is_no_number_of_seconds_is_as_if_nobody_had_asked(after: float | None) -> None:
    result, waiter, _ = retrying(limited(after=after), DONE)
    assert (result.final_text, waiter.waits) == ("done", [500_000])


@pytest.mark.parametrize("after", [20.1, 86400])
def test_h1_a_longer_wait_than_the_cap_is_refused_and_said(after: float) -> None:
    result, waiter, _ = retrying(limited("busy", after=after), DONE)
    assert waiter.waits == []
    assert message_of(result) == f"busy (not waited {after:.0f} s; at most 20 s are)"


def test_h2_the_message_of_the_provider_is_shown_with_the_wait() -> None:
    result, _, _ = retrying(limited("please try again in 7 s", after=7), DONE)
    cause = payloads(result, "retry.wait")[0]["cause"]
    assert cause == "rate-limit: please try again in 7 s"


def test_g23_nothing_is_repeated_after_something_was_shown() -> None:
    model = Pieces(["half an ans", TRANSIENT], [ModelTurn("again")])
    runner, waiter = runner_of([]), Waits()
    runner.model = RetryingModel(model, waiter, CancelToken())  # type: ignore[arg-type]
    result = ends_well(runner.run("go"))
    assert (model.asked, waiter.waits) == (1, [])
    assert payloads(result, "model.response")[0]["content"] == "half an ans"
    assert message_of(result) == "overloaded"


def test_a_retry_of_the_model_itself_is_not_something_shown() -> None:
    model = Pieces([Retry("stale", 0), TRANSIENT], ["ok", ModelTurn("ok")])
    runner = runner_of([])
    runner.model = RetryingModel(model, Waits(), CancelToken())  # type: ignore[arg-type]
    result = ends_well(runner.run("go"))
    assert [p["attempt"] for p in payloads(result, "model.request")] == [1, 2, 3]
    assert result.final_text == "ok"


def test_each_answer_has_its_own_attempts_and_no_call_runs_twice() -> None:
    probe, cancel = Probe(), CancelToken()
    script = [TRANSIENT, asks(call(0)), TRANSIENT, TRANSIENT, asks(call(1)), TRANSIENT, DONE]
    runner = runner_of([], probe, cancel=cancel)
    runner.model = RetryingModel(
        ScriptedModel(script), Waits(), cancel, RetryPolicy(max_attempts=3)
    )
    result = ends_well(runner.run("go"))
    assert (result.final_text, len(probe.ran)) == ("done", 2)


def test_h1_a_cancellation_ends_the_wait_and_the_run() -> None:
    result, waiter, model = retrying(
        TRANSIENT, DONE, waiter=Waits(lambda cancel: cancel.cancel("user"))
    )
    assert (result.stop_reason, len(waiter.waits), len(model.requests)) == ("cancelled", 1, 1)
    assert payloads(result, "cancel.request") == [{"by": "user"}]
    assert [p["status"] for p in payloads(result, "model.response")] == ["failed", "cancelled"]


def test_h1_ctrl_c_ends_the_wait_and_the_run() -> None:
    def press(cancel: CancelToken) -> None:
        raise KeyboardInterrupt

    result, _, model = retrying(TRANSIENT, DONE, waiter=Waits(press))
    assert (result.stop_reason, len(model.requests)) == ("cancelled", 1)


def test_every_stream_is_closed() -> None:
    model = Pieces([TRANSIENT], ["a", "b", ModelTurn("ab")])
    stream = RetryingModel(model, Waits(), CancelToken()).stream([], [])  # type: ignore[arg-type]
    assert isinstance(next(stream), Retry)
    assert next(stream) == "a"
    stream.close()  # type: ignore[attr-defined]
    assert (model.asked, model.closed) == (2, 2)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (TRANSIENT, "transient"),
        (limited(), "rate-limit"),
        (limited(now=False), "permanent"),
        (ContextOverflowError("x"), "overflow"),
        (AuthenticationError("x"), "permanent"),
        (ModelError("x"), "permanent"),
    ],
    ids=lambda part: str(part),
)
def test_failures_are_told_apart(fault: ModelError, kind: str) -> None:
    assert classify(fault) == kind


def test_the_default_policy_is_four_attempts_half_a_second_twenty_and_a_minute() -> None:
    assert RetryPolicy() == RetryPolicy(4, 500_000, 20_000_000, 60_000_000)
    result, waiter, _ = retrying(*[limited(after=20)] * 3, DONE)
    assert (result.final_text, sum(waiter.waits)) == ("done", 60 * SECOND)


def test_a_policy_may_have_no_waits_at_all() -> None:
    result, waiter, _ = retrying(TRANSIENT, DONE, policy=RetryPolicy(2, 0, 0, 0))
    assert (result.final_text, waiter.waits) == ("done", [0])


@pytest.mark.parametrize("policy", [RetryPolicy(max_attempts=0), RetryPolicy(base_us=-1)])
def test_a_policy_that_cannot_be_followed_is_refused(policy: RetryPolicy) -> None:
    said = r"^max_attempts must be at least 1, base_us at least 0$"
    with pytest.raises(ValueError, match=said):
        RetryingModel(ScriptedModel([]), Waits(), CancelToken(), policy)


@pytest.mark.parametrize("kind", [RateLimitError, TransientModelError])
def test_the_last_failure_is_of_the_kind_of_the_others_and_says_when_to_come_back(
    kind: type[ModelError],
) -> None:
    fault = kind("busy")
    fault.retryable, fault.retry_after_seconds = True, 1.5
    model = RetryingModel(
        ScriptedModel([fault]), Waits(), CancelToken(), RetryPolicy(max_attempts=1)
    )
    with pytest.raises(ModelError, match=r"^busy \(given up after attempt 1\)$") as last:
        list(model.stream([], []))
    assert type(last.value) is kind
    assert (last.value.retryable, last.value.retry_after_seconds) == (True, 1.5)


def test_the_model_is_asked_what_it_would_be_asked_without_retries() -> None:
    class Told:
        def respond(self, messages: object, tools: object) -> ModelTurn:
            return ModelTurn(f"{messages}, {tools}")

    messages, tools = [Message("user", "go")], [{"name": "read"}]
    model = RetryingModel(Told(), Waits(), CancelToken())
    assert list(model.stream(messages, tools)) == [ModelTurn(f"{messages}, {tools}")]


def test_a_provider_that_asks_for_no_wait_has_the_jitter_of_a_first_attempt() -> None:
    policy = RetryPolicy(base_us=100, cap_us=1000)
    assert [policy.wait_us(n, None, most) for n in (1, 2, 3, 5)] == [100, 200, 400, 1000]
    assert [policy.wait_us(n, 0.0, most) for n in (1, 2, 3, 5)] == [100] * 4


@given(
    attempt=st.integers(1, 10**6),
    asked=st.one_of(st.none(), st.floats(allow_nan=True)),
    base=st.integers(0, 10**7),
    cap=st.integers(0, 10**9),
    low=st.booleans(),
)
def test_no_wait_is_longer_than_the_cap_or_shorter_than_asked(
    attempt: int, asked: float | None, base: int, cap: int, low: bool
) -> None:
    policy = RetryPolicy(base_us=base, cap_us=cap)
    wait = policy.wait_us(attempt, asked, lambda top: 0 if low else top)
    sensible = asked is not None and 0 <= asked < float("inf")
    if wait is None:
        assert sensible
        assert asked is not None
        assert asked * SECOND > cap
    else:
        assert 0 <= wait <= cap
        assert not sensible or asked is None or wait >= asked * SECOND


def test_the_default_draw_reaches_both_ends_and_nothing_beyond() -> None:
    assert {draw_up_to(2) for _ in range(200)} == {0, 1, 2}
    assert draw_up_to(0) == 0


def test_a_virtual_wait_passes_virtual_time_and_wakes_within_a_slice() -> None:
    time, cancel = VirtualTime(0), CancelToken()
    time.wait(3 * SECOND + 1, cancel)
    assert time.read() == (3 * SECOND + 1, 3 * SECOND + 1)

    class After:
        @property
        def cancelled(self) -> bool:
            return time.read()[1] >= 4 * SECOND

    time.wait(3600 * SECOND, After())  # type: ignore[arg-type]
    assert time.read()[1] < 4 * SECOND + SLICE_US


def test_waits_are_seen_in_the_times_of_the_trace() -> None:
    time, cancel = VirtualTime(), CancelToken()
    runner = runner_of([], cancel=cancel, recorder=Recorder(EachEvent(time), provenance="scripted"))
    runner.model = RetryingModel(ScriptedModel([TRANSIENT, DONE]), time, cancel, draw=most)
    result = ends_well(runner.run("go"))
    elapsed = [event.elapsed_us for event in result.events]
    assert elapsed == [0, 1000, 2000, 3000, 4000, 5000, 506_000, 507_000]


def test_the_first_event_takes_no_time_and_each_further_one_a_millisecond() -> None:
    clock = EachEvent(VirtualTime())
    start = 1_767_225_600_000_000
    assert [clock.read()[0] - start for _ in range(3)] == [0, 1000, 2000]


def test_a_system_wait_that_is_cancelled_already_does_not_sleep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("curriculum.core.waiting.time.sleep", slept.append)
    cancel = CancelToken()
    cancel.cancel()
    SystemWaiter(SystemClock()).wait(3600 * SECOND, cancel)
    assert slept == []


def test_a_system_wait_sleeps_in_slices_until_the_time_has_passed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    time, slept = VirtualTime(0), []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        time.pass_us(round(seconds * SECOND))

    monkeypatch.setattr("curriculum.core.waiting.time.sleep", sleep)
    SystemWaiter(time).wait(120_000, CancelToken())
    assert slept == [0.05, 0.05, 0.02]
    SystemWaiter(time).wait(50_001, CancelToken())
    assert slept[3:] == [0.05, 0.000_001]


FAULTS = st.sampled_from(
    [
        "transient",
        "limited",
        "limited-long",
        "permanent",
        "overflow",
        "bug",
        "dropped",
        "answer",
        "call",
        "cancel",
        "interrupt",
    ]
)


class Random:
    """A model whose every attempt goes as the script says."""

    def __init__(self, script: Sequence[str], cancel: CancelToken) -> None:
        self._script, self._cancel = list(script), cancel
        self.calls = 0

    def stream(self, messages: object, tools: object) -> Iterator[object]:
        step = self._script.pop(0) if self._script else "answer"
        if step == "dropped":
            yield "half"
        if step in ("transient", "dropped"):
            raise TransientModelError("overloaded")
        if step.startswith("limited"):
            raise limited(after=3600 if step == "limited-long" else 1)
        if step == "overflow":
            raise ContextOverflowError("too long")
        if step == "permanent":
            raise ModelError("no")
        if step == "bug":
            raise KeyError("bug")
        if step == "interrupt":
            raise KeyboardInterrupt
        if step == "cancel":
            self._cancel.cancel("user")
            raise TransientModelError("dropped by the cancellation")
        if step == "call":
            self.calls += 1
            yield asks(call(self.calls))
        else:
            yield "don"
            yield "e"
            yield DONE


@given(
    script=st.lists(FAULTS, max_size=12),
    attempts=st.integers(1, 4),
    cancel_at=st.one_of(st.none(), st.integers(0, 5)),
)
def test_whatever_fails_the_trace_is_complete_and_no_call_runs_twice(
    script: list[str], attempts: int, cancel_at: int | None
) -> None:
    cancel, probe = CancelToken(), Probe()
    waiter = Waits(
        lambda token: token.cancel("user") if len(waiter.waits) - 1 == cancel_at else None
    )
    runner = runner_of([], probe, max_turns=4, max_tool_calls=3, cancel=cancel)
    model = Random(script, cancel)
    policy = RetryPolicy(max_attempts=attempts, total_us=5 * SECOND)
    runner.model = RetryingModel(model, waiter, cancel, policy, most)  # type: ignore[arg-type]
    result = ends_well(runner.run("go"))
    started = [p["call_id"] for p in payloads(result, "tool.start")]
    assert len(started) == len(set(started)) == len(probe.ran)
    assert types(result).count("retry.wait") == len(waiter.waits)
    assert max(p["attempt"] for p in payloads(result, "model.request")) <= attempts
    if isinstance(result.error, CancelledError):
        assert result.stop_reason == "cancelled"
