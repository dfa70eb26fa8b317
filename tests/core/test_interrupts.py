"""Ctrl+C at any moment: the run ends as every run does, and the record is whole."""

from __future__ import annotations

import gc
import random
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from curriculum.core.messages import Message, ModelTurn
from curriculum.core.tools import RunningCall
from tests.core.parts import Answers, Probe, SpyJournal, asks, call, ends_well, runner_of, statuses

SCRIPT = [
    asks(call(0), call(1), text="one"),
    ModelTurn(chunks=("two ", "pieces"), tool_calls=(call(2),)),
    ModelTurn("done"),
]


@pytest.fixture(autouse=True)
def no_callbacks() -> Iterator[None]:
    """Hypothesis looks at each collection of garbage; what a signal raises there, Python drops."""
    kept = list(gc.callbacks)
    gc.callbacks.clear()
    yield
    gc.callbacks.extend(kept)


@contextmanager
def ctrl_c_after(seconds: float) -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("seed", range(8))
def test_ctrl_c_at_a_random_moment_tears_nothing(seed: int) -> None:
    rng = random.Random(seed)
    interrupted = 0
    for _ in range(100):
        journal, probe = SpyJournal(), Probe()
        runner = runner_of(SCRIPT, probe, granted=False, approver=Answers(), journal=journal)
        try:
            with ctrl_c_after(rng.uniform(1e-5, 8e-4)):
                result = runner.run("go")
        except KeyboardInterrupt:  # before the run began, or after it had ended
            kinds = [event.type for event in runner.recorder.events]
            assert not kinds or kinds[-1] == "session.stop"
            continue
        ends_well(result)
        interrupted += result.stop_reason == "cancelled"
        kinds = [record.kind for record in journal.records]
        assert kinds.count("tool_result") == len(statuses(result))
        assert kinds[-1] == "turn_end"
    assert interrupted > 0


def test_the_handler_is_pythons_own_around_foreign_code_and_afterwards() -> None:
    seen: list[object] = []

    class Looks:
        def respond(self, messages: Sequence[Message], tools: object) -> ModelTurn:
            seen.append(signal.getsignal(signal.SIGINT))
            return asks(call(0)) if len(seen) == 1 else ModelTurn("done")

    def act(_: RunningCall) -> None:
        seen.append(signal.getsignal(signal.SIGINT))

    journal = SpyJournal()
    within: list[object] = []
    journal.look = lambda _: within.append(signal.getsignal(signal.SIGINT))
    runner = runner_of([], Probe(act=act), journal=journal)
    runner.model = Looks()
    ends_well(runner.run("go"))
    assert set(seen) == {signal.default_int_handler}
    assert signal.default_int_handler not in within
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_between_two_steps_is_a_cancellation_by_the_user() -> None:
    journal = SpyJournal()
    journal.look = lambda record: (
        signal.raise_signal(signal.SIGINT) if record.kind == "tool_start" else None
    )
    runner = runner_of(SCRIPT, Probe(), journal=journal)
    result = ends_well(runner.run("go"))
    assert (result.stop_reason, runner.cancel.by) == ("cancelled", "user")
    assert [record.kind for record in journal.records][-1] == "turn_end"


def test_a_handler_of_somebody_else_is_left_alone() -> None:
    mine = lambda *_: None  # noqa: E731
    before = signal.signal(signal.SIGINT, mine)
    try:
        journal = SpyJournal()
        journal.look = lambda _: pytest.fail("replaced") if _is_not(mine) else None
        ends_well(runner_of([ModelTurn("x")], journal=journal).run("go"))
        assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)


def _is_not(handler: object) -> bool:
    return signal.getsignal(signal.SIGINT) is not handler


def test_a_run_in_another_thread_has_no_ctrl_c_to_look_after() -> None:
    results = []
    thread = threading.Thread(target=lambda: results.append(runner_of(SCRIPT, Probe()).run("go")))
    thread.start()
    thread.join()
    assert ends_well(results[0]).stop_reason == "completed"
