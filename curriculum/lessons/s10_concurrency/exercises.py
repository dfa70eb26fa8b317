"""Exercises of s10. Edit this file only; grade it with

    python3 -m curriculum grade s10

An exercise that is still as you found it is skipped. `solutions.py` holds one way to do each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from curriculum.core.messages import ToolCall
from curriculum.core.tools import ToolBox, ToolResult
from curriculum.core.trace import Event


# region: overlaps
def overlaps(events: Sequence[Event]) -> set[frozenset[str]]:
    """A. Read a trace: which calls ran at the same time?

    Return every pair of call_ids, as a frozenset of two, such that both calls had started and
    neither had its result yet. `events` may be only the beginning of a trace.

    Accepted for traces of calls that overlap, follow one another, never start, or are still open.
    """
    raise NotImplementedError


# endregion


# region: reads_together
class ReadsTogether:
    """B. A scheduler of your own, for the seam in `curriculum/core/seams.py`.

    groups  cuts the calls, in their order: neighbours whose tools are declared `parallel_safe`
            stand together, at most `threads` in a group; every other call, also one whose tool the
            box does not have, stands alone
    run     runs one group's work, all of it at the same time, and returns the outcomes in the order
            of the work, whichever ended first. A work that raises (it should not) does not lose the
            others: its exception is its outcome. No thread is left behind

    Accepted when the groups are those, what runs together really does, and a run behind an
    AgentRunner commits its results in call order.
    """

    def __init__(self, threads: int) -> None:
        raise NotImplementedError

    def groups(self, calls: Sequence[ToolCall], tools: ToolBox) -> Sequence[Sequence[ToolCall]]:
        raise NotImplementedError

    def run(
        self, work: Sequence[Callable[[], ToolResult | Exception]]
    ) -> Sequence[ToolResult | Exception]:
        raise NotImplementedError


# endregion


# region: outcomes
OUTCOMES: Mapping[str, Mapping[str, object]] | None = None
"""C. What becomes of a call in a batch: replace None by a dict with a row for each of these.

The scheduler is ParallelReads with two threads. All calls are of one answer, in the order named;
everything is granted, except where a question is mentioned.

    "a read beside one that fails"            its neighbour's result is a failure
    "a read beside one with a bug"            its neighbour's execute raises
    "the read with the bug"                   its own execute raises, its neighbour completes
    "a write after a read that failed"        the read's result is a failure
    "a write after a read with a bug"         the read's execute raises
    "a third read after two of which one cancels"
                                              the first read raises the cancel token
    "a read whose neighbour cancels"          the second read waits until the first has raised the
                                              token, and completes all the same
    "a read whose neighbour is denied"        the approver denies the first, and allows the second
    "a read whose neighbour is interrupted at the question"
                                              the first was allowed; Ctrl+C at the second's question
    "a read between two writes"               all three work

A row is a dict with these columns:

    "status"          status of its tool.result
    "starts"          is there a tool.start: True or False
    "model reads it"  does a later request of this run show the result: True or False

Accepted when every prediction is what the trace of a real run shows.
"""
# endregion


# region: groups_by_path
def groups_by_path(calls: Sequence[ToolCall], tools: ToolBox) -> list[list[ToolCall]]:
    """D. Let writes overlap too, where they cannot disturb each other.

    Cut the calls, in their order, into groups that may run together. Two calls may not share a
    group if they name the same file and one of the two is a write. A call joins the group before
    it unless it disturbs one of that group; then it opens the next one.

    A call names a file if its arguments are a JSON object with a string `path`; spellings that walk
    to the same file (`x/a`, `./x/a`, `x//a`) are one. A call that names no file, whose path has a
    `..` in it (through a link that may lead anywhere), or whose tool the box does not have, stands
    alone: nobody knows what it touches. A read is a call of a tool that is declared
    `parallel_safe`.

    Accepted when no group can hold a conflict, none is smaller than it has to be, and running
    groups in any inner order comes to what running one call after the other does.
    """
    raise NotImplementedError


# endregion
