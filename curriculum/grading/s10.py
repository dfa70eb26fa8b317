"""Graders of s10 A and B: traces of overlapping calls, a scheduler that runs reads together."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise

from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.seams import Scheduler
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import Event, GoldenClock, Ids, Recorder
from curriculum.grading.mistakes import attempt, mistake, quote

__unittest = True

OBSERVE = 's10, "Run it and observe it"'
STEPS = 's10, "Step by step"'
INVARIANTS = 's10, "Invariants"'
DEEP = 's10, "Deep dive"'

WAIT_SECONDS = 5  # only ever waited for by a solution that is wrong
WORK_SECONDS = 0.2  # how long a work lasts that a scheduler might not wait for

Pairs = set[frozenset[str]]
Groups = Sequence[Sequence[ToolCall]]


def grade_overlaps(overlaps: Callable[[Sequence[Event]], Pairs]) -> None:
    """A. Calls that start and end in random order, read as a whole and at every beginning."""
    for seed in range(20):
        # Every other trace has a clock that stands still: what comes first is the sequence's word.
        events = _story(random.Random(seed), step_us=seed % 2 * 1000)
        for size in range(len(events) + 1):
            _check_overlaps(overlaps, events[:size])


def _story(rng: random.Random, step_us: int) -> list[Event]:
    """Events of calls in a possible order, `step_us` apart; some never start."""
    recorder = Recorder(GoldenClock(step_us=step_us), Ids(), "scripted")

    def emit(type: str, **payload: object) -> None:
        recorder.emit(type, actor_kind="harness", actor_id="agent", payload=payload)

    emit("session.start")
    for batch in range(rng.randrange(1, 3)):
        ids = [f"call {batch} {n}" for n in range(rng.randrange(1, 9))]
        emit("model.response", status="completed")
        for call_id in ids:
            emit("tool.call", call_id=call_id)
        waiting, running = list(ids), list[str]()
        while waiting or running:
            step = rng.choice(["start", "start", "refuse", "output", "end", "end"])
            if step in ("start", "refuse") and waiting:
                call_id = waiting.pop(0)
                if step == "start":
                    emit("tool.start", call_id=call_id)
                    running.append(call_id)
                else:
                    emit("tool.result", call_id=call_id, status="denied")
            elif running:
                call_id = rng.choice(running)
                if step == "output":
                    emit("tool.output", call_id=call_id, text="so")
                elif step == "end":
                    running.remove(call_id)
                    emit("tool.result", call_id=call_id, status="completed")
    return recorder.events


def _check_overlaps(overlaps: Callable[[Sequence[Event]], Pairs], events: Sequence[Event]) -> None:
    span: dict[str, list[float]] = {}
    for event in events:
        call_id = str(event.payload.get("call_id"))
        if event.type == "tool.start":
            span[call_id] = [event.sequence, float("inf")]
        elif event.type == "tool.result" and call_id in span:
            span[call_id][1] = event.sequence
    wanted = {
        frozenset((one, other))
        for one, (start, _) in span.items()
        for other, (begin, end) in span.items()
        if begin < start < end
    }
    with attempt("overlaps", OBSERVE):
        got = overlaps(events)
    if not isinstance(got, (set, frozenset)):
        raise mistake("a set of frozensets of two call_ids", quote(got), OBSERVE)
    story = [f"{e.type} {e.payload['call_id']}" for e in events if "call_id" in e.payload]
    story = [line for line in story if line.startswith(("tool.start", "tool.result"))]
    if len({event.elapsed_us for event in events}) < len(events):
        story.append("all at one moment of the clock, so the sequence tells")
    for missing in sorted(map(sorted, wanted - got)):
        raise mistake(f"{missing} among the pairs, as in {story}", quote(got), OBSERVE)
    for extra in sorted(map(sorted, got - wanted)):
        raise mistake(f"nothing but what ran at the same time in {story}", f"{extra}", OBSERVE)


class Probe:
    """A tool named `name`; `act` is told the call."""

    def __init__(
        self, name: str, is_read: bool, act: Callable[[RunningCall], ToolResult] | None = None
    ) -> None:
        self.definition = ToolDefinition(name, "A probe.", {"type": "object"}, is_read)
        self._act = act or (lambda running: ToolResult("completed", running.call_id))

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({"arguments": arguments}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        return self._act(call)


def grade_reads_together(make: Callable[[int], Scheduler]) -> None:
    """B. Groups of random batches; work that only ends together; a run behind a real runner."""
    with attempt("ReadsTogether", STEPS):
        for seed in range(40):
            _check_groups(make, random.Random(seed))
        for threads in (2, 3, 7):
            _check_together(make(threads), threads)
        _check_order(make(2))
        _check_faults(make(3))
        _check_waits_for_all(make(3))
        _check_behind_runner(make)


def _check_groups(make: Callable[[int], Scheduler], rng: random.Random) -> None:
    tools = ToolBox([Probe("read", True), Probe("look", True), Probe("write", False)])
    names = [rng.choice(["read", "read", "look", "write", "fiction"]) for _ in range(10)]
    calls = [ToolCall(f"c{n}", name) for n, name in enumerate(names)]
    threads = rng.randrange(1, 5)
    got = make(threads).groups(calls, tools)
    shown = [[call.name for call in group] for group in got]
    if [call for group in got for call in group] != calls:
        raise mistake(f"every call once, in order: {names}", f"the groups {shown}", INVARIANTS)
    for group in shown:
        if len(group) > threads:
            raise mistake(f"at most {threads} calls in a group", f"{shown}", INVARIANTS)
        if len(group) > 1 and not {*group} <= {"read", "look"}:
            raise mistake("a call that is no known read to stand alone", f"{shown}", INVARIANTS)
        if not group:
            raise mistake("no empty group", f"{shown}", INVARIANTS)
    for before, after in pairwise(shown):
        both_read = {before[-1], after[0]} <= {"read", "look"}
        if both_read and len(before) < threads:
            expected = f"neighbouring reads together, up to {threads}"
            raise mistake(expected, f"{shown}", INVARIANTS)


def _check_together(scheduler: Scheduler, size: int) -> None:
    barrier = threading.Barrier(size, timeout=WAIT_SECONDS)

    def meet() -> ToolResult | Exception:
        try:
            barrier.wait()
        except threading.BrokenBarrierError as fault:
            return fault
        return ToolResult("completed", "met")

    before = threading.active_count()
    outcomes = scheduler.run([meet] * size)
    if any(isinstance(outcome, Exception) for outcome in outcomes):
        expected = f"{size} reads of one group, that wait for each other, to meet"
        saw = "one waited in vain: they ran one after the other, or too few at a time"
        raise mistake(expected, saw, STEPS)
    if threading.active_count() > before:
        raise mistake("no thread left behind", f"{threading.active_count()} threads", STEPS)


def _check_order(scheduler: Scheduler) -> None:
    second_ended = threading.Event()

    def slow() -> ToolResult | Exception:
        if not second_ended.wait(WAIT_SECONDS):
            return TimeoutError("the second never ended")
        return ToolResult("completed", "first")

    def quick() -> ToolResult | Exception:
        second_ended.set()
        return ToolResult("completed", "second")

    outcomes = scheduler.run([slow, quick])
    said = [outcome.output for outcome in outcomes if isinstance(outcome, ToolResult)]
    if said != ["first", "second"]:
        expected = "the outcomes in the order of the work, ['first', 'second']"
        raise mistake(expected, f"{quote(outcomes)}: the second ended first", INVARIANTS)
    if scheduler.run([quick]) != [ToolResult("completed", "second")]:
        raise mistake("a group of one to run too", quote(scheduler.run([quick])), STEPS)


def _check_faults(scheduler: Scheduler) -> None:
    bug, told = ZeroDivisionError("a bug"), ValueError("told")

    def raises() -> ToolResult | Exception:
        raise bug

    work: list[Callable[[], ToolResult | Exception]]
    work = [raises, lambda: ToolResult("completed", "kept"), lambda: told]
    before = threading.active_count()
    try:
        outcomes = scheduler.run(work)
    except Exception as fault:
        saw = f"run raised {fault!r}: the other outcomes are lost"
        raise mistake("a fault to be the outcome of its own call", saw, INVARIANTS) from fault
    if list(outcomes) != [bug, ToolResult("completed", "kept"), told]:
        expected = f"[{bug!r}, the result of the second, {told!r}]"
        raise mistake(expected, quote(outcomes), INVARIANTS)
    if threading.active_count() > before:
        expected = "no thread left behind, also when a work raises"
        raise mistake(expected, f"{threading.active_count() - before} more", STEPS)


def _check_waits_for_all(scheduler: Scheduler) -> None:
    """Neither a fault of another nor any time ends the wait for a work.

    To wait a second for a thread is to wait no time here, so that nobody has to work for longer.
    """
    returned, bug, kept = threading.Event(), ZeroDivisionError("a bug"), "kept"
    strangers, join = set(threading.enumerate()), threading.Thread.join

    def slow() -> ToolResult | Exception:
        returned.wait(WORK_SECONDS)
        return ToolResult("completed", kept)

    def raises() -> ToolResult | Exception:
        raise bug

    def hasty(thread: threading.Thread, timeout: float | None = None) -> None:
        join(thread, timeout if timeout is None or thread in strangers else 0)

    threading.Thread.join = hasty  # type: ignore[assignment,method-assign]
    try:
        outcomes = list(scheduler.run([slow, raises, slow]))
    finally:
        threading.Thread.join = join  # type: ignore[method-assign]
        returned.set()
    wanted = [ToolResult("completed", kept), bug, ToolResult("completed", kept)]
    if outcomes != wanted:
        expected = "every work to be waited for, as long as it takes, also when another one raises"
        raise mistake(expected, f"it was given up: {quote(outcomes)}", INVARIANTS)


def _check_behind_runner(make: Callable[[int], Scheduler]) -> None:
    lock, order = threading.Lock(), list[str]()

    def act(running: RunningCall) -> ToolResult:
        with lock:
            order.append(running.call_id)
        return ToolResult("completed", running.call_id)

    names = ["read", "read", "read", "write", "write", "read"]
    calls = tuple(ToolCall(f"c{n}", name) for n, name in enumerate(names))
    model = ScriptedModel([ModelTurn(tool_calls=calls), ModelTurn("done")])
    tools = ToolBox([Probe("read", True, act), Probe("write", False, act)], ["read", "write"])
    run = AgentRunner(model, tools, scheduler=make(2)).run("go")
    results = [e.payload["call_id"] for e in run.events if e.type == "tool.result"]
    wanted = [call.call_id for call in calls]
    if run.stop_reason != "completed" or results != wanted:
        saw = f"stop {run.stop_reason}, results {results}"
        raise mistake(f"a completed run with results {wanted}", saw, INVARIANTS)
    if order[3:] != ["c3", "c4", "c5"] or sorted(order[:3]) != ["c0", "c1", "c2"]:
        expected = "writes to run after the reads before them, alone and in order"
        raise mistake(expected, f"the order {order} for {names}", INVARIANTS)
