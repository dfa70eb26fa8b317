"""What may overlap: reads that stand together run in threads, everything else alone and in order.

Threads live here and nowhere else in the harness. A group is never larger than the number of
threads, so a recorded start is a real start. Outcomes are handed back in the order of the calls,
whichever ended first, and only the loop's own thread commits them.
"""

from __future__ import annotations

from _thread import start_new_thread
from contextlib import suppress
from queue import Empty, SimpleQueue

from curriculum.core.tools import ToolResult
from curriculum.core.values import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curriculum.core.messages import ToolCall
    from curriculum.core.seams import CancelToken
    from curriculum.core.tools import ToolBox

    Outcome = ToolResult | Exception
    Work = Callable[[], Outcome]

POLL_SECONDS = 0.1  # how late a lost wake-up, or Ctrl+C just before the wait, is noticed
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
        endings: SimpleQueue[None] = SimpleQueue()
        slots = [Slot(one, endings) for one in work]
        try:
            for slot in slots:
                self._start(slot)
            self._wait(slots, endings)
        except KeyboardInterrupt as fault:
            if self._cancel.cancelled:  # the second Ctrl+C, where a handler took the first
                return [slot.outcome_or(fault) for slot in slots]
            self._cancel.cancel("user")  # from here on no work begins
            try:
                self._wait([slot for slot in slots if slot.has_begun], endings)
            except KeyboardInterrupt as again:
                return [slot.outcome_or(again) for slot in slots]
        return [slot.outcome for slot in slots]

    # endregion

    # region: thread
    def _start(self, slot: Slot) -> None:
        try:
            start_new_thread(self._work, (slot,))
        except RuntimeError:  # no thread is to be had
            self._work(slot)

    def _work(self, slot: Slot) -> None:
        """What a thread does: its own work, its own slot, and nothing else."""
        slot.has_begun = True
        try:
            if not self._cancel.cancelled:
                slot.outcome = slot.work()
        except BaseException as fault:  # SystemExit too: it belongs to the loop's thread
            slot.outcome = fault  # type: ignore[assignment]
        slot.has_ended = True
        slot.endings.put(None)

    def _wait(self, slots: Sequence[Slot], endings: SimpleQueue[None]) -> None:
        """Return when all have ended. The queue only wakes us up; what counts is in the slots.

        Ctrl+C may come at any point here, so nothing is held that it could leave behind. (An
        interrupted Event, Condition or Thread.join can, in CPython.)
        """
        while not all([slot.has_ended for slot in slots]):
            with suppress(Empty):
                endings.get(timeout=POLL_SECONDS)

    # endregion


class Slot:
    """One call's work, and what came of it. Written by its thread, read when it has ended."""

    def __init__(self, work: Work, endings: SimpleQueue[None]) -> None:
        self.work = work
        self.endings = endings
        self.outcome: Outcome = NEVER_RAN
        self.has_begun = self.has_ended = False

    def outcome_or(self, fault: BaseException) -> Outcome:
        """The outcome, or the fault of a call that is still running."""
        is_running = self.has_begun and not self.has_ended
        return fault if is_running else self.outcome  # type: ignore[return-value]
