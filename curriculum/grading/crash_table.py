"""Grader of s05 C: what processes leave on disk that really were killed, moment by moment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from curriculum.core.approval import ApprovalRequest, Decision
from curriculum.core.journal import Record
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import GoldenClock, Recorder
from curriculum.grading.killed_process import Tell, die, run_child
from curriculum.grading.mistakes import mistake, quote
from curriculum.grading.prediction_table import rows_to_grade
from curriculum.grading.scratch import scratch
from curriculum.sessions.store import SessionStore

__unittest = True

DESIGN = 's05, "Exercises", C'
SESSION = "session-1"

# At which record the process dies, and whether just after it (or just before).
DEATHS: Mapping[str, tuple[str, int, bool]] = {
    "nothing saved": ("user_input", 1, False),
    "input saved": ("user_input", 1, True),
    "call saved": ("model_response", 1, True),
    "refusal saved": ("tool_result", 1, True),
    "start saved": ("tool_start", 1, True),
    "tool has acted": ("tool_result", 1, False),
    "result saved": ("tool_result", 1, True),
    "answer saved": ("model_response", 2, True),
    "end saved": ("turn_end", 1, True),
}
COLUMNS = ("on disk", "ran", "recovery", "completed-only", "with-evidence")

Row = Mapping[str, object]


@dataclass(frozen=True)
class Wreck:
    """What one killed process left, and what opening it made of that."""

    on_disk: tuple[str, ...]
    refused: bool
    acted: int
    recovery: tuple[str, ...]
    completed_only: bool
    with_evidence: bool


class _Deadly:
    """A session store that ends its process before or after a certain record."""

    def __init__(self, store: SessionStore, moment: str) -> None:
        self._store = store
        self._kind, self._left, self._after = DEATHS[moment]

    def append(self, record: Record) -> int:
        self._left -= record.kind == self._kind
        is_last = not self._left and record.kind == self._kind
        if is_last and not self._after:
            die()
        position = self._store.append(record)
        if is_last:
            die()
        return position


class _Marker:
    """A tool with an effect: a line in a file."""

    definition = ToolDefinition("mark", "Leaves a mark.", {"type": "object"})

    def __init__(self, path: str) -> None:
        self._path = path

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({}, None)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        with open(self._path, "a") as file:
            file.write("acted\n")
        return ToolResult("completed", "acted")


class _Person:
    def __init__(self, is_yes: bool) -> None:
        self._is_yes = is_yes

    def decide(self, request: ApprovalRequest) -> Decision:
        return Decision("allow" if self._is_yes else "deny", "user", "user")


def observe_wreck(moment: str) -> Wreck:
    """Kill a process at that moment, then open its session under both rules."""
    with scratch() as folder:
        mark = os.path.join(folder, "mark")
        open(mark, "w").close()

        def work(tell: Tell) -> None:
            store = SessionStore.create(folder, SESSION, clock=GoldenClock())
            call = ToolCall("call-1", "mark")
            AgentRunner(
                ScriptedModel([ModelTurn(tool_calls=(call,)), ModelTurn("done")]),
                ToolBox([_Marker(mark)]),
                approver=_Person(moment != "refusal saved"),
                journal=_Deadly(store, moment),
                recorder=Recorder.golden(),
            ).turn("go")

        ended = run_child(work, "the run that is to be killed", DESIGN)
        if not ended.was_killed:
            raise RuntimeError(f"the process outlived {moment!r}")
        before = _words(folder)
        with SessionStore.open(folder, SESSION, rule="completed-only") as store:
            completed_only = bool(store.replay.messages)
        with SessionStore.open(folder, SESSION, rule="with-evidence") as store:
            with_evidence = bool(store.replay.messages)
        with open(mark) as file:
            acted = len(file.readlines())
        after = _words(folder)
        return Wreck(
            tuple(word.split(" ")[0] for word in before),
            "tool_result denied" in before,
            acted,
            tuple(after[len(before) :]),
            completed_only,
            with_evidence,
        )


def _words(folder: str) -> list[str]:
    """Kind and status of each record after the header."""
    import json

    with open(os.path.join(folder, "sessions", f"{SESSION}.jsonl"), "rb") as file:
        _, *records = [json.loads(line) for line in file]
    return [f"{r['kind']} {r['data'].get('status', '')}".strip() for r in records]


def observe_table() -> dict[str, dict[str, object]]:
    """The table that is true: what one can know of a moment is what all its lookalikes share."""
    wrecks = {moment: observe_wreck(moment) for moment in DEATHS}
    table: dict[str, dict[str, object]] = {}
    for moment, wreck in wrecks.items():
        same = [
            w for w in wrecks.values() if (w.on_disk, w.refused) == (wreck.on_disk, wreck.refused)
        ]
        counts = {w.acted for w in same}
        ran = "maybe" if len(counts) > 1 else "yes" if counts == {1} else "no"
        table[moment] = {
            "on disk": wreck.on_disk,
            "ran": ran,
            "recovery": wreck.recovery,
            "completed-only": wreck.completed_only,
            "with-evidence": wreck.with_evidence,
        }
    return table


def grade_crash_table(table: Mapping[str, Row]) -> None:
    """C. What was predicted against what killed processes leave, moment by moment."""
    good, findings = rows_to_grade(table, list(DEATHS), COLUMNS, DESIGN)
    real = observe_table()
    for moment in good:
        row = table[moment]
        for column in COLUMNS:
            mine, true = row[column], real[moment][column]
            if isinstance(mine, list):
                mine = tuple(mine)
            if (mine, type(mine)) != (true, type(true)):
                seen = f"killed processes show {true!r}"
                findings.append(f"{moment!r}: you say {column} {quote(mine)}, {seen}")
    if findings:
        raise mistake("rows that come true", "\n    - ".join(["", *findings]), DESIGN)
