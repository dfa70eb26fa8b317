"""Reads overlap, writes do not; results are committed in call order, whatever happens."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.core import parallel
from curriculum.core.errors import CancelledError
from curriculum.core.loop import RunResult
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.parallel import ParallelReads, Slot
from curriculum.core.seams import CancelToken
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import Recorder
from tests.core.parts import Probe, asks, call, ends_well, payloads, runner_of, statuses, types

WAIT_SECONDS = 60  # only ever waited for by a test that is about to fail


class Read(Probe):
    """A probe that is declared a read; `act` is told which call it is."""

    def __init__(self, act: Callable[[RunningCall], object] | None = None, name: str = "read"):
        super().__init__(name, act)
        self.definition = ToolDefinition(name, "A test read.", {"type": "object"}, True)


def run_calls(
    calls: Sequence[ToolCall],
    *tools: Probe,
    cancel: CancelToken | None = None,
    threads: int = 4,
    **seams: object,
) -> RunResult:
    cancel = cancel or CancelToken()
    script = [asks(*calls), ModelTurn("done")]
    scheduler = ParallelReads(cancel, threads)
    runner = runner_of(script, *tools, cancel=cancel, scheduler=scheduler, **seams)
    return ends_well(runner.run("go"))


def reads(count: int) -> list[ToolCall]:
    return [call(number, "read") for number in range(1, count + 1)]


def test_reads_that_stand_together_run_at_the_same_time() -> None:
    together = threading.Barrier(3, timeout=WAIT_SECONDS)  # passes only if all three are there

    def act(running: RunningCall) -> None:
        together.wait()

    assert list(statuses(run_calls(reads(3), Read(act))).values()) == ["completed"] * 3


def test_results_are_in_call_order_whichever_ends_first() -> None:
    second_is_done = threading.Event()

    def act(running: RunningCall) -> ToolResult:
        if running.call_id == "call-1":
            assert second_is_done.wait(WAIT_SECONDS)
        else:
            second_is_done.set()
        return ToolResult("completed", f"of {running.call_id}")

    result = run_calls(reads(2), Read(act))
    assert [(p["call_id"], p["output"]) for p in payloads(result, "tool.result")] == [
        ("call-1", "of call-1"),
        ("call-2", "of call-2"),
    ]
    assert [message.call_id for message in result.messages if message.role == "tool"] == [
        "call-1",
        "call-2",
    ]


def test_never_more_calls_at_once_than_threads() -> None:
    lock, now, most = threading.Lock(), 0, 0
    pair = threading.Barrier(2, timeout=WAIT_SECONDS)

    def act(running: RunningCall) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        pair.wait()
        with lock:
            now -= 1
        pair.wait()

    result = run_calls(reads(6), Read(act), threads=2)
    assert most == 2
    kinds = [kind.removeprefix("tool.") for kind in types(result) if kind.startswith("tool.")]
    assert kinds == ["call"] * 6 + ["start", "start", "result", "result"] * 3


def test_unless_told_four_reads_run_at_once() -> None:
    calls = reads(6)
    groups = ParallelReads(CancelToken()).groups(calls, ToolBox([Read()]))
    assert groups == [calls[:4], calls[4:]]


KINDS = st.lists(st.sampled_from(["read", "write", "fiction"]), max_size=12)


@given(KINDS, st.integers(1, 5))
def test_groups_are_neighbours_in_order_and_writes_alone(kinds: list[str], threads: int) -> None:
    calls = [call(number, kind) for number, kind in enumerate(kinds)]
    groups = ParallelReads(CancelToken(), threads).groups(calls, ToolBox([Read(), Probe("write")]))
    assert [one for group in groups for one in group] == calls
    for group in groups:
        assert 1 <= len(group) <= threads
        assert len(group) == 1 or {one.name for one in group} == {"read"}
    for before, after in pairwise(groups):
        joinable = before[-1].name == after[0].name == "read"
        assert not joinable or len(before) == threads


def test_a_write_waits_for_the_reads_before_it_and_is_waited_for() -> None:
    order: list[str] = []
    lock = threading.Lock()

    def act(running: RunningCall) -> None:
        with lock:
            order.append(running.call_id)

    names = ["read", "read", "write", "write", "read", "read"]
    calls = [call(number, name) for number, name in enumerate(names)]
    write = Probe("write", act)
    run_calls(calls, Read(act), write)
    assert set(order[:2]) == {"call-0", "call-1"}
    assert order[2:4] == ["call-2", "call-3"]
    assert set(order[4:]) == {"call-4", "call-5"}
    assert len(write.ran) == 2


def test_a_write_runs_in_the_thread_of_the_loop() -> None:
    seen: list[threading.Thread] = []
    run_calls([call(1, "write")], Probe("write", lambda _: seen.append(threading.current_thread())))
    assert seen == [threading.current_thread()]


def test_one_failure_does_not_lose_the_results_of_the_others() -> None:
    def act(running: RunningCall) -> ToolResult:
        if running.call_id == "call-2":
            raise ZeroDivisionError("a bug")
        return ToolResult("completed", "kept")

    result = run_calls([*reads(3), call(4, "write")], Read(act), Probe("write"))
    assert result.stop_reason == "failed"
    assert statuses(result) == {
        "call-1": "completed",
        "call-3": "completed",
        "call-2": "unknown",
        "call-4": "not_executed",
    }


def test_a_failed_result_stops_nobody() -> None:
    def act(running: RunningCall) -> ToolResult:
        return ToolResult("failed" if running.call_id == "call-1" else "completed", "said")

    result = run_calls([*reads(2), call(3, "write")], Read(act), Probe("write"))
    assert result.stop_reason == "completed"
    assert list(statuses(result).values()) == ["failed", "completed", "completed"]


def test_a_bug_that_is_no_exception_ends_the_run_with_the_others_kept() -> None:
    def act(running: RunningCall) -> None:
        if running.call_id == "call-1":
            raise SystemExit(3)

    cancel = CancelToken()
    runner = runner_of([asks(*reads(2))], Read(act), cancel=cancel, scheduler=ParallelReads(cancel))
    with pytest.raises(SystemExit):
        runner.run("go")
    results = [e.payload for e in runner.recorder.events if e.type == "tool.result"]
    assert [(p["call_id"], p["status"]) for p in results] == [
        ("call-2", "completed"),
        ("call-1", "unknown"),
    ]
    assert runner.recorder.events[-1].type == "session.stop"


# Cancellation


def test_a_raised_token_stops_what_has_not_begun() -> None:
    cancel = CancelToken()
    write = Probe("write")
    calls = [*reads(2), call(3, "write"), call(4, "read")]
    result = run_calls(calls, Read(lambda _: cancel.cancel("policy")), write, cancel=cancel)
    assert result.stop_reason == "cancelled"
    assert statuses(result)["call-3"] == statuses(result)["call-4"] == "not_executed"
    assert write.ran == []


def interrupt_when(ready: threading.Event) -> threading.Thread:
    """Sends one Ctrl+C to the main thread as soon as `ready` is set."""

    def send() -> None:
        assert ready.wait(WAIT_SECONDS)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


def wait_for_cancel(running: RunningCall) -> None:
    """Until the interrupt has come through."""
    end = time.monotonic() + WAIT_SECONDS
    while not running.cancel.cancelled:
        assert time.monotonic() < end


def test_an_interrupt_while_reads_run_is_cancelled_joined_and_recorded() -> None:
    cancel, running_now = CancelToken(), threading.Event()
    in_reads = threading.Barrier(2, action=running_now.set, timeout=WAIT_SECONDS)

    ended: set[str] = set()

    def act(running: RunningCall) -> ToolResult:
        in_reads.wait()
        wait_for_cancel(running)
        ended.add(running.call_id)
        if running.call_id == "call-1":
            return ToolResult("failed", "stopped half-way", reason="cancelled")
        return ToolResult("completed", "was done all the same")

    sender = interrupt_when(running_now)
    write = Probe("write")
    result = run_calls([*reads(2), call(3, "write")], Read(act), write, cancel=cancel)
    sender.join()
    assert result.stop_reason == "cancelled"
    assert statuses(result) == {
        "call-1": "failed",
        "call-2": "completed",
        "call-3": "not_executed",
    }
    assert payloads(result, "tool.result")[0]["output"] == "stopped half-way"
    assert write.ran == []
    assert payloads(result, "cancel.request") == [{"by": "user"}]
    assert ended == {"call-1", "call-2"}


def test_a_second_interrupt_stops_waiting_for_a_read_that_does_not_listen() -> None:
    cancel, running_now, over = CancelToken(), threading.Event(), threading.Event()
    heard, is_over = threading.Event(), threading.Event()
    in_reads = threading.Barrier(2, action=running_now.set, timeout=WAIT_SECONDS)
    late: list[BaseException] = []

    def act(running: RunningCall) -> ToolResult:
        in_reads.wait()
        wait_for_cancel(running)
        heard.set()
        assert over.wait(WAIT_SECONDS)
        try:
            running.output("stdout", "too late")
        except Exception as fault:
            late.append(fault)
        if len(late) == 2:
            is_over.set()
        return ToolResult("completed", "deaf")

    senders = [interrupt_when(running_now), interrupt_when(heard)]
    result = run_calls(reads(2), Read(act), cancel=cancel)
    count = len(result.events)
    over.set()
    assert is_over.wait(WAIT_SECONDS)  # what comes after the end is refused, not recorded
    for sender in senders:
        sender.join()
    assert result.stop_reason == "cancelled"
    assert set(statuses(result).values()) == {"unknown"}
    assert len(result.events) == count


def test_a_second_interrupt_keeps_what_has_ended() -> None:
    cancel, asked, over = CancelToken(), threading.Event(), threading.Event()
    [one, two] = [threading.Event(), threading.Event()]

    def quick() -> ToolResult:
        one.set()
        return ToolResult("completed", "kept")

    def deaf() -> ToolResult:
        two.set()
        over.wait(WAIT_SECONDS)
        return ToolResult("completed")

    class Interrupting(ParallelReads):
        """Ctrl+C twice, each time that it waits and the quick one has ended."""

        def _wait(self, slots: Sequence[Slot], endings: object) -> None:
            assert one.wait(WAIT_SECONDS)
            assert two.wait(WAIT_SECONDS)
            while not slots[0].has_ended:
                pass
            asked.set()
            raise KeyboardInterrupt

    outcomes = Interrupting(cancel).run([quick, deaf])
    over.set()
    assert asked.is_set()
    assert cancel.by == "user"
    assert outcomes[0] == ToolResult("completed", "kept")
    assert isinstance(outcomes[1], KeyboardInterrupt)


def test_a_call_whose_group_is_cancelled_before_it_begins_says_so() -> None:
    cancel = CancelToken()
    cancel.cancel()
    [one, two] = ParallelReads(cancel).run([lambda: ToolResult("completed")] * 2)
    assert one == two
    assert isinstance(one, ToolResult)
    assert (one.status, one.reason) == ("failed", "cancelled")


def test_without_threads_to_be_had_the_calls_run_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start, started = parallel.start_new_thread, list[object]()

    def one_only(function: Callable[..., object], args: tuple[object, ...]) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(function)
        start(function, args)

    monkeypatch.setattr(parallel, "start_new_thread", one_only)
    result = run_calls(reads(3), Read())
    assert list(statuses(result).values()) == ["completed"] * 3


def test_two_reads_that_raise_the_cancellation_leave_a_valid_trace() -> None:
    cancel = CancelToken()

    def act(running: RunningCall) -> None:
        raise CancelledError("told to stop")

    result = run_calls(reads(2), Read(act), cancel=cancel)
    assert result.stop_reason == "cancelled"
    assert set(statuses(result).values()) == {"unknown"}


def test_at_least_one_thread() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ParallelReads(CancelToken(), 0)


# The record


def test_live_output_from_threads_does_not_break_the_trace() -> None:
    """Many threads at once, each with many pieces: numbering, ids and order stay whole."""
    lines: list[str] = []
    recorder = Recorder.golden(lambda event: lines.append(event.to_line()))
    together = threading.Barrier(8, timeout=WAIT_SECONDS)

    def act(running: RunningCall) -> None:
        together.wait()
        for number in range(200):
            running.output("stdout", f"{number}\n")

    result = run_calls(reads(8), Read(act), threads=8, recorder=recorder)
    outputs = payloads(result, "tool.output")
    assert len(outputs) == 1600
    for one in reads(8):
        mine = [p["index"] for p in outputs if p["call_id"] == one.call_id]
        assert mine == list(range(200))
    assert [event.to_line() for event in result.events] == lines


def test_a_sink_that_fails_in_a_thread_is_called_once_and_ends_the_run() -> None:
    told: list[int] = []

    def sink(event: object) -> None:
        told.append(threading.get_ident())
        if told[-1] != threading.main_thread().ident:
            raise OSError("disk full")

    def act(running: RunningCall) -> None:
        running.output("stdout", "a")
        running.output("stdout", "b")

    result = run_calls(reads(2), Read(act), recorder=Recorder.golden(sink))
    assert result.error is not None
    assert result.error.kind == "trace"
    assert len([ident for ident in told if ident != threading.main_thread().ident]) == 1


# Any batch

OUTCOMES = ["works", "fails", "raises", "talks", "cancels"]
BATCHES = st.lists(
    st.tuples(st.sampled_from(["read", "read", "read", "write"]), st.sampled_from(OUTCOMES)),
    min_size=1,
    max_size=8,
)


@given(BATCHES, st.integers(1, 4))
def test_any_batch_leaves_a_complete_trace_and_runs_no_write_twice(
    batch: list[tuple[str, str]], threads: int
) -> None:
    cancel, ran, lock = CancelToken(), [], threading.Lock()

    class Planned(Probe):
        def __init__(self, name: str) -> None:
            super().__init__(name)
            self.definition = ToolDefinition(name, "", {"type": "object"}, name == "read")

        def execute(self, prepared: Prepared, running: RunningCall) -> ToolResult:
            with lock:
                ran.append(running.call_id)
            what = prepared.action
            if what == "raises":
                raise ZeroDivisionError("a bug")
            if what == "cancels":
                cancel.cancel("policy")
            if what == "talks":
                running.output("stdout", "so\n")
            return ToolResult("failed" if what == "fails" else "completed", str(what))

    calls = [ToolCall(f"c-{n}", name, what) for n, (name, what) in enumerate(batch)]
    result = run_calls(calls, Planned("read"), Planned("write"), cancel=cancel, threads=threads)
    assert len(ran) == len(set(ran))
    writes = [one.call_id for one in calls if one.name == "write"]
    assert [one for one in ran if one in writes] == [one for one in writes if one in ran]
    started = [p["call_id"] for p in payloads(result, "tool.start")]
    assert set(ran) <= set(started)
    for call_id, status in statuses(result).items():
        assert (call_id in started) == (status != "not_executed")
    outcome_order = [c for c, s in statuses(result).items() if s not in ("unknown", "not_executed")]
    assert outcome_order == [one.call_id for one in calls if one.call_id in outcome_order]
