"""One way to do each exercise of s10. Look after you have tried."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence

from curriculum.core.messages import ToolCall
from curriculum.core.tools import ToolBox, ToolResult
from curriculum.core.trace import Event


# region: overlaps
def overlaps(events: Sequence[Event]) -> set[frozenset[str]]:
    """A. A call that starts overlaps with every call that is running at that moment."""
    running: set[str] = set()
    pairs: set[frozenset[str]] = set()
    for event in events:
        call_id = str(event.payload.get("call_id"))
        if event.type == "tool.start":
            pairs |= {frozenset((call_id, other)) for other in running}
            running.add(call_id)
        elif event.type == "tool.result":
            running.discard(call_id)
    return pairs


# endregion


# region: reads_together
class ReadsTogether:
    """B. A thread for each, a slot for each outcome."""

    def __init__(self, threads: int) -> None:
        self._threads = threads

    def groups(self, calls: Sequence[ToolCall], tools: ToolBox) -> list[list[ToolCall]]:
        groups: list[list[ToolCall]] = []
        room = 0  # in the last group
        for call in calls:
            tool = tools.get(call.name)
            is_read = tool is not None and tool.definition.parallel_safe
            if is_read and room:
                groups[-1].append(call)
                room -= 1
            else:
                groups.append([call])
                room = self._threads - 1 if is_read else 0
        return groups

    def run(
        self, work: Sequence[Callable[[], ToolResult | Exception]]
    ) -> list[ToolResult | Exception]:
        outcomes: list[ToolResult | Exception] = [RuntimeError("never ran")] * len(work)

        def run_one(index: int) -> None:
            try:
                outcomes[index] = work[index]()
            except Exception as fault:
                outcomes[index] = fault

        threads = [threading.Thread(target=run_one, args=[n]) for n in range(len(work))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return outcomes


# endregion


# region: outcomes
def row(status: str, *, starts: bool, read: bool) -> dict[str, object]:
    """One row of the table."""
    return {"status": status, "starts": starts, "model reads it": read}


OUTCOMES: Mapping[str, Mapping[str, object]] | None = {
    "a read beside one that fails": row("completed", starts=True, read=True),
    "a read beside one with a bug": row("completed", starts=True, read=False),
    "the read with the bug": row("unknown", starts=True, read=False),
    "a write after a read that failed": row("completed", starts=True, read=True),
    "a write after a read with a bug": row("not_executed", starts=False, read=False),
    "a third read after two of which one cancels": row("not_executed", starts=False, read=False),
    "a read whose neighbour cancels": row("completed", starts=True, read=False),
    "a read whose neighbour is denied": row("completed", starts=True, read=True),
    "a read whose neighbour is interrupted at the question": row(
        "not_executed", starts=False, read=False
    ),
    "a read between two writes": row("completed", starts=True, read=True),
}
# endregion


# region: groups_by_path
def file_of(call: ToolCall) -> str | None:
    """The file that the call names, in one spelling; None if nobody can tell."""
    try:
        fields = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return None
    path = fields.get("path") if isinstance(fields, dict) else None
    if not isinstance(path, str) or ".." in path.split("/"):
        return None
    return "/".join(name for name in path.split("/") if name not in ("", "."))


def groups_by_path(calls: Sequence[ToolCall], tools: ToolBox) -> list[list[ToolCall]]:
    """D. For the open group, what it reads and writes. None closes the group to all others."""
    groups: list[list[ToolCall]] = []
    reads: set[str] = set()
    writes: set[str] = set()
    is_open = False
    for call in calls:
        tool, path = tools.get(call.name), file_of(call)
        if tool is None or path is None:
            groups.append([call])
            is_open = False
            continue
        is_read = tool.definition.parallel_safe
        disturbs = path in writes or (path in reads and not is_read)
        if not is_open or disturbs:
            groups.append([])
            reads, writes, is_open = set(), set(), True
        groups[-1].append(call)
        (reads if is_read else writes).add(path)
    return groups


# endregion
