"""The graders of s10 are graded: the reference passes, each wrong solution is told why."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest

from curriculum.core.messages import ToolCall
from curriculum.core.parallel import ParallelReads
from curriculum.core.seams import CancelToken
from curriculum.core.tools import ToolBox
from curriculum.core.trace import Event
from curriculum.grading import s10
from curriculum.grading.batch_outcomes import SITUATIONS, grade_outcomes, observe_situation
from curriculum.grading.path_groups import grade_groups_by_path
from curriculum.grading.s10 import grade_overlaps, grade_reads_together
from curriculum.lessons.s10_concurrency import solutions


@pytest.fixture
def no_long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a wrong solution waits for in vain is waited for briefly."""
    monkeypatch.setattr(s10, "WAIT_SECONDS", 2)


def test_the_reference_passes() -> None:
    grade_overlaps(solutions.overlaps)
    grade_reads_together(solutions.ReadsTogether)
    assert solutions.OUTCOMES is not None
    grade_outcomes(solutions.OUTCOMES)
    grade_groups_by_path(solutions.groups_by_path)


# A


def by_batch(events: Sequence[Event]) -> set[frozenset[str]]:
    """All calls of one answer."""
    pairs, batch = set(), list[str]()
    for event in events:
        if event.type == "model.response":
            batch = []
        elif event.type == "tool.call":
            pairs |= {frozenset((str(event.payload["call_id"]), other)) for other in batch}
            batch.append(str(event.payload["call_id"]))
    return pairs


def neighbours_only(events: Sequence[Event]) -> set[frozenset[str]]:
    """Looks at the event before only."""
    starts = [e for e in events if e.type in ("tool.start", "tool.result")]
    return {
        frozenset((str(a.payload["call_id"]), str(b.payload["call_id"])))
        for a, b in pairwise(starts)
        if a.type == b.type == "tool.start"
    }


def from_the_call_on(events: Sequence[Event]) -> set[frozenset[str]]:
    """A call is taken to run from its proposal on."""
    running, pairs = set[str](), set[frozenset[str]]()
    for event in events:
        call_id = str(event.payload.get("call_id"))
        if event.type == "tool.call":
            pairs |= {frozenset((call_id, other)) for other in running}
            running.add(call_id)
        elif event.type == "tool.result":
            running.discard(call_id)
    return pairs


def finished_only(events: Sequence[Event]) -> set[frozenset[str]]:
    """Calls that are still open do not count."""
    ended = {str(e.payload["call_id"]) for e in events if e.type == "tool.result"}
    return {pair for pair in solutions.overlaps(events) if pair <= ended}


def with_itself(events: Sequence[Event]) -> set[frozenset[str]]:
    """A call runs at the same time as itself."""
    started = [str(e.payload["call_id"]) for e in events if e.type == "tool.start"]
    return solutions.overlaps(events) | {frozenset((call_id,)) for call_id in started}


def as_tuples(events: Sequence[Event]) -> Any:
    """Pairs that have an order."""
    return {tuple(pair) for pair in solutions.overlaps(events)}


def never_ends(events: Sequence[Event]) -> set[frozenset[str]]:
    """Results are not looked at."""
    return solutions.overlaps([event for event in events if event.type != "tool.result"])


WRONG_OVERLAPS: dict[Callable[[Sequence[Event]], Any], str] = {
    by_batch: "nothing but what ran at the same time",
    neighbours_only: "among the pairs",
    from_the_call_on: "nothing but what ran at the same time",
    finished_only: "among the pairs",
    with_itself: "nothing but what ran at the same time",
    as_tuples: "among the pairs",
    never_ends: "nothing but what ran at the same time",
    lambda events: sorted(map(sorted, solutions.overlaps(events))): "a set of frozensets",
}


@pytest.mark.parametrize("wrong", WRONG_OVERLAPS, ids=lambda wrong: wrong.__name__)
def test_wrong_overlaps_are_told_why(wrong: Callable[[Sequence[Event]], Any]) -> None:
    with pytest.raises(AssertionError, match=WRONG_OVERLAPS[wrong]):
        grade_overlaps(wrong)


# B


class OneByOne(solutions.ReadsTogether):
    """Groups, but no threads."""

    def run(self, work: Any) -> Any:
        return [run_one() for run_one in work]


class AsTheyEnd(solutions.ReadsTogether):
    """Outcomes in the order in which they came."""

    def run(self, work: Any) -> Any:
        outcomes, threads = [], []
        for one in work:
            thread = threading.Thread(target=lambda one=one: outcomes.append(one()))
            threads.append(thread)
            thread.start()
        for thread in threads:
            thread.join()
        return outcomes


class Unbounded(solutions.ReadsTogether):
    """As many as there are."""

    def __init__(self, threads: int) -> None:
        super().__init__(100)


class SortsThem(solutions.ReadsTogether):
    """All reads first."""

    def groups(self, calls: Any, tools: ToolBox) -> Any:
        reads = [call for call in calls if call.name in ("read", "look")]
        rest = [call for call in calls if call.name not in ("read", "look")]
        return super().groups([*reads, *rest], tools)


class OnlyTheSameTool(solutions.ReadsTogether):
    """Groups calls of one name."""

    def groups(self, calls: Any, tools: ToolBox) -> Any:
        groups: list[list[ToolCall]] = []
        for call in calls:
            tool = tools.get(call.name)
            is_read = tool is not None and tool.definition.parallel_safe
            last = groups[-1] if groups else []
            if is_read and last and last[0].name == call.name and len(last) < self._threads:
                last.append(call)
            else:
                groups.append([call])
        return groups


class UnknownIsHarmless(solutions.ReadsTogether):
    """What is not declared a write is a read."""

    def groups(self, calls: Any, tools: ToolBox) -> Any:
        groups: list[list[ToolCall]] = []
        for call in calls:
            harmless = groups and "write" not in (call.name, groups[-1][0].name)
            if harmless and len(groups[-1]) < self._threads:
                groups[-1].append(call)
            else:
                groups.append([call])
        return groups


class FirstFaultWins(solutions.ReadsTogether):
    """An exception of one ends all."""

    def run(self, work: Any) -> Any:
        with ThreadPoolExecutor(self._threads) as pool:
            return [future.result() for future in [pool.submit(one) for one in work]]


class LeavesThreads(solutions.ReadsTogether):
    """Waits for the outcomes and not for the threads."""

    def run(self, work: Any) -> Any:
        outcomes: dict[int, Any] = {}
        done, over = threading.Semaphore(0), threading.Event()

        def run_one(index: int) -> None:
            outcomes[index] = work[index]()
            done.release()
            over.wait(2)

        for index in range(len(work)):
            threading.Thread(target=run_one, args=[index], daemon=True).start()
        for _ in work:
            done.acquire()
        return [outcomes[index] for index in range(len(work))]


class DropsFailures(solutions.ReadsTogether):
    """Only results come back."""

    def run(self, work: Any) -> Any:
        return [one for one in super().run(work) if not isinstance(one, Exception)]


WRONG_SCHEDULERS = {
    OneByOne: "they ran one after the other",
    AsTheyEnd: "in the order of the work",
    Unbounded: "at most . calls in a group",
    SortsThem: "every call once, in order",
    OnlyTheSameTool: "neighbouring reads together",
    UnknownIsHarmless: "a call that is no known read to stand alone",
    FirstFaultWins: "a fault to be the outcome of its own call",
    LeavesThreads: "no thread left behind",
    DropsFailures: "one waited in vain|a bug",
}


@pytest.mark.usefixtures("no_long_waits")
@pytest.mark.parametrize("wrong", WRONG_SCHEDULERS)
def test_wrong_schedulers_are_told_why(wrong: type[solutions.ReadsTogether]) -> None:
    with pytest.raises(AssertionError, match=WRONG_SCHEDULERS[wrong]):
        grade_reads_together(wrong)


def test_the_scheduler_of_the_core_passes_too() -> None:
    grade_reads_together(lambda threads: ParallelReads(CancelToken(), threads))


# C


def changed(situation: str, fact: str, prediction: object) -> dict[str, dict[str, object]]:
    assert solutions.OUTCOMES is not None
    table = {name: dict(row) for name, row in solutions.OUTCOMES.items()}
    assert table[situation][fact] != prediction
    table[situation][fact] = prediction
    return table


WRONG_OUTCOMES: dict[str, tuple[object, str]] = {
    "a bug takes its neighbour along": (
        changed("a read beside one with a bug", "status", "not_executed"),
        "you predict status 'not_executed', the trace shows 'completed'",
    ),
    "a bug is a failure": (
        changed("the read with the bug", "status", "failed"),
        "you predict status 'failed', the trace shows 'unknown'",
    ),
    "a failure stops the batch": (
        changed("a write after a read that failed", "status", "not_executed"),
        "you predict status 'not_executed', the trace shows 'completed'",
    ),
    "a bug does not stop the batch": (
        changed("a write after a read with a bug", "starts", True),
        "you predict starts True, the trace shows False",
    ),
    "a cancelled run throws results away": (
        changed("a read whose neighbour cancels", "status", "unknown"),
        "you predict status 'unknown', the trace shows 'completed'",
    ),
    "the model reads on after a cancellation": (
        changed("a read whose neighbour cancels", "model reads it", True),
        "you predict model reads it True, the trace shows False",
    ),
    "an allowed call has started": (
        changed("a read whose neighbour is interrupted at the question", "starts", True),
        "you predict starts True, the trace shows False",
    ),
    "a denial is for the group": (
        changed("a read whose neighbour is denied", "status", "denied"),
        "you predict status 'denied', the trace shows 'completed'",
    ),
    "a third read is cancelled while it runs": (
        changed("a third read after two of which one cancels", "status", "unknown"),
        "you predict status 'unknown', the trace shows 'not_executed'",
    ),
    "a row left out": ({"a read between two writes": {}}, "no row for 'a read beside"),
    "a column left out": ({s: {} for s in SITUATIONS}, "the columns status, starts"),
}


@pytest.mark.parametrize("name", WRONG_OUTCOMES)
def test_wrong_outcomes_are_told_why(name: str) -> None:
    wrong, message = WRONG_OUTCOMES[name]
    with pytest.raises(AssertionError, match=message):
        grade_outcomes(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_situation_has_the_same_outcome_every_time(situation: str) -> None:
    assert len({str(observe_situation(situation, seed)) for seed in range(30)}) == 1


# D


def spelled(calls: Sequence[ToolCall], tools: ToolBox) -> Any:
    """Compares paths as text."""
    renamed = []
    for call in calls:
        try:
            path = json.loads(call.arguments)["path"]
            assert isinstance(path, str)
            arguments = json.dumps({"path": path.replace("/", "|").replace(".", ":")})
        except (ValueError, TypeError, KeyError, AssertionError, RecursionError):
            arguments = call.arguments
        renamed.append(ToolCall(call.call_id, call.name, arguments))
    by_id = {call.call_id: call for call in calls}
    return [[by_id[c.call_id] for c in g] for g in solutions.groups_by_path(renamed, tools)]


def reads_only(calls: Sequence[ToolCall], tools: ToolBox) -> Any:
    """The rule of the lesson."""
    return ParallelReads(CancelToken(), 100).groups(calls, tools)


def each_alone(calls: Sequence[ToolCall], tools: ToolBox) -> Any:
    """Safe."""
    return [[call] for call in calls]


def all_together(calls: Sequence[ToolCall], tools: ToolBox) -> Any:
    """Fast."""
    return [list(calls)] if calls else []


def first_that_fits(calls: Sequence[ToolCall], tools: ToolBox) -> Any:
    """A call goes into the earliest group without a conflict, before calls that it follows."""
    groups: list[list[ToolCall]] = []
    for call in calls:
        for group in groups:
            if len(solutions.groups_by_path([*group, call], tools)) == 1:
                group.append(call)
                break
        else:
            groups.append([call])
    return groups


def empty_first(calls: Sequence[ToolCall], tools: ToolBox) -> Any:
    """Opens a group before there is a call for it."""
    return [[], *solutions.groups_by_path(calls, tools)]


def only_writes_conflict(calls: Sequence[ToolCall], tools: ToolBox) -> Any:
    """A read beside a write of the same file is let pass."""
    groups: list[list[ToolCall]] = []
    written: set[object] = set()
    for call in calls:
        path, tool = solutions.file_of(call), tools.get(call.name)
        alone = path is None or tool is None
        is_write = tool is not None and not tool.definition.parallel_safe
        if alone or not groups or None in written or (is_write and path in written):
            groups.append([])
            written = {None} if alone else set()
        groups[-1].append(call)
        if is_write:
            written.add(path)
    return groups


def crashes_on_odd_arguments(calls: Sequence[ToolCall], tools: ToolBox) -> Any:
    """Trusts that arguments are what they should be."""
    for call in calls:
        json.loads(call.arguments)["path"].split("/")
    return solutions.groups_by_path(calls, tools)


WRONG_GROUPS: dict[Callable[..., Any], str] = {
    spelled: "in different groups: they name the same file",
    reads_only: "to join the group before it|nobody knows what one of them touches",
    each_alone: "to join the group before it",
    all_together: "in different groups",
    first_that_fits: "every call once, in order",
    empty_first: "no empty group",
    only_writes_conflict: "in different groups: they name the same file, and one writes it",
    crashes_on_odd_arguments: "groups_by_path to come to an end",
}


@pytest.mark.parametrize("wrong", WRONG_GROUPS, ids=lambda wrong: wrong.__name__)
def test_wrong_groups_are_told_why(wrong: Callable[..., Any]) -> None:
    with pytest.raises(AssertionError) as failure:
        grade_groups_by_path(wrong)
    assert re.search(WRONG_GROUPS[wrong], str(failure.value))
