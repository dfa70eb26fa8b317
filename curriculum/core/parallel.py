"""What may overlap: reads that stand together run in threads, everything else alone and in order.

Threads live here and nowhere else in the harness. A group is never larger than the number of
threads, so a recorded start is a real start. Outcomes are handed back in the order of the calls,
whichever ended first, and only the loop's own thread commits them.
"""

from __future__ import annotations

import threading

from curriculum.core.tools import ToolResult
from curriculum.core.values import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curriculum.core.messages import ToolCall
    from curriculum.core.seams import CancelToken
    from curriculum.core.tools import ToolBox

    Outcome = ToolResult | Exception
    Work = Callable[[], Outcome]

POLL_SECONDS = 0.1  # how late Ctrl+C may be noticed
NEVER_RAN = ToolResult(
    "failed", reason="cancelled", notes=("cancelled before it did anything; nothing ran",)
)


class ParallelReads:
    """Runs neighbouring calls of tools declared `parallel_safe` at the same time.

    `cancel` is the runner's own token: Ctrl+C raises it, the running reads see it and are waited
    for, and what they came to is recorded. A second Ctrl+C stops waiting; those calls end as
    `unknown`. `threads` bounds how many calls run at once.
    """

    def __init__(self, cancel: CancelToken, threads: int = 4) -> None:
        if threads < 1:
            raise ValueError(f"threads must be at least 1, not {threads}")
        self._cancel = cancel
        self._threads = threads

    # region: groups
    def groups(self, calls: Sequence[ToolCall], tools: ToolBox) -> list[list[ToolCall]]:
        """Neighbouring reads together; a write waits for what is before it, and is waited for."""
        groups: list[list[ToolCall]] = []
        open_group: list[ToolCall] = []
        for call in calls:
            tool = tools.get(call.name)
            may_overlap = tool is not None and tool.definition.parallel_safe
            if may_overlap and 0 < len(open_group) < self._threads:
                open_group.append(call)
                continue
            group = [call]
            groups.append(group)
            open_group = group if may_overlap else []
        return groups

    # endregion

    # region: run
    def run(self, work: Sequence[Work]) -> list[Outcome]:
        """Run one group; the outcomes stand in the order of the work."""
        if len(work) == 1:
            return [work[0]()]  # a write is never in a thread that could outlive the turn
        outcomes: list[Outcome] = [NEVER_RAN] * len(work)
        ended = [threading.Event() for _ in work]
        gate = threading.Event()

        def run_one(index: int) -> None:
            gate.wait()
            try:
                if not self._cancel.cancelled:
                    outcomes[index] = work[index]()
            except BaseException as fault:  # SystemExit too: it belongs to the loop's thread
                outcomes[index] = fault  # type: ignore[call-overload]
            ended[index].set()

        threads = [
            threading.Thread(target=run_one, args=[index], name=f"read-{index}", daemon=True)
            for index in range(len(work))
        ]
        try:
            alone = _start(threads)
            gate.set()
            for index in alone:
                run_one(index)
            _wait(threads, ended)
        except KeyboardInterrupt:
            self._cancel.cancel("user")
            gate.set()
            try:
                _wait(threads, ended)
            except KeyboardInterrupt as again:
                return [
                    outcome if end.is_set() else again  # type: ignore[misc]
                    for outcome, end in zip(outcomes, ended, strict=True)
                ]
        return outcomes

    # endregion


def _start(threads: Sequence[threading.Thread]) -> list[int]:
    """Start what the system lets us start; returns the others."""
    for index, thread in enumerate(threads):
        try:
            thread.start()
        except RuntimeError:  # no thread is to be had
            return list(range(index, len(threads)))
    return []


def _wait(threads: Sequence[threading.Thread], ended: Sequence[threading.Event]) -> None:
    """Wait for every call that began, then for its thread.

    An interrupted `Thread.join` takes the thread for ended (CPython 3.11), so the calls say
    themselves that they have. A signal that comes just before the wait does not end it, so the
    wait is cut into pieces.
    """
    begun = [n for n, thread in enumerate(threads) if thread.ident is not None]
    for n in begun:
        while not ended[n].wait(POLL_SECONDS):
            pass
    for n in begun:
        threads[n].join()
