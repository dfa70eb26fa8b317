"""Real runs over a store that end in the death of their process, at a save point or in the tool."""

from __future__ import annotations

from dataclasses import dataclass

from curriculum.core.journal import Record
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import Recorder
from curriculum.grading.killed_process import Tell, die
from curriculum.grading.store_under_test import Recoverable


@dataclass(frozen=True)
class Death:
    """When the process dies: before or after a record. Before a result, the tool has acted."""

    when: str
    number: int  # of the record, from 0

    def __str__(self) -> str:
        return f"{self.when} record {self.number}"


def deaths(calls: int) -> list[Death]:
    """Before and after each record of a turn with so many calls."""
    records = 2 + 2 * calls + 2
    return [Death(when, number) for number in range(records) for when in ("before", "after")]


class _Deadly:
    """A journal that tells what it was told is kept, and ends its process at one record."""

    def __init__(self, store: Recoverable, death: Death, tell: Tell) -> None:
        self._store, self._death, self._tell = store, death, tell
        self._number = 0

    def append(self, record: Record) -> int | None:
        if self._death == Death("before", self._number):
            die()
        position = self._store.append(record)
        self._tell([record.kind, record.turn_id, record.data])
        if self._death == Death("after", self._number):
            die()
        self._number += 1
        return position


class _Mark:
    """A tool whose effect is a word in a file: the id of its call."""

    definition = ToolDefinition("mark", "Leaves a mark.", {"type": "object"})

    def __init__(self, world: str) -> None:
        self._world = world

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({}, None)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        with open(self._world, "a") as file:
            file.write(f"{call.call_id}\n")
        return ToolResult("completed", "marked")


def run_and_die(store: Recoverable, world: str, calls: int, death: Death, tell: Tell) -> None:
    """One turn with so many calls. Each record is told when it is kept."""
    batch = tuple(ToolCall(f"call-{number}", "mark") for number in range(calls))
    model = ScriptedModel([ModelTurn("", batch), ModelTurn("done")])
    journal = _Deadly(store, death, tell)
    tools = ToolBox([_Mark(world)], ["mark"])
    result = AgentRunner(model, tools, journal=journal, recorder=Recorder.golden()).turn("mark")
    raise result.error or RuntimeError(f"the run outlived {death}")
