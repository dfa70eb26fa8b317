"""Grader of s05 B: a journal on disks that fail, forget, and were cut off before."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from curriculum.core.errors import JournalError
from curriculum.core.journal import Record
from curriculum.core.loop import AgentRunner, RunResult
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.grading.journal_conformance import check_journal, plain
from curriculum.grading.journal_under_test import (
    FAULTS,
    ClosableJournal,
    Fault,
    FaultyDisk,
    ForgetfulDisk,
    records_of_turn,
)
from curriculum.grading.mistakes import attempt, mistake, quote, raise_findings
from curriculum.grading.scratch import scratch
from curriculum.sessions.disk import Disk, SystemDisk

__unittest = True

STEPS = 's05, "Step by step"'
INVARIANTS = 's05, "Invariants"'
KINDS = (
    *("user_input", "model_response", "tool_start", "tool_result"),
    *("model_response", "turn_end"),
)


Make = Callable[[str, Disk], ClosableJournal]


class JsonlUnderTest:
    """The harness for the journal conformance kit around a journal of JSON lines."""

    lacks: Mapping[str, str] = {"one at a time": "the exercise asks for no lock"}

    def __init__(self, make: Make) -> None:
        self._make = make

    def open(self, folder: str) -> ClosableJournal:
        return self._make(os.path.join(folder, "journal.jsonl"), SystemDisk())

    def records(self, folder: str) -> Sequence[Record]:
        path = os.path.join(folder, "journal.jsonl")
        return read_lines(path) if os.path.exists(path) else []


def read_lines(path: str) -> list[Record]:
    """The records of a file of JSON lines; a torn tail is none."""
    with open(path, "rb") as file:
        *lines, _ = file.read().split(b"\n")
    records = []
    for number, line in enumerate(lines):
        try:
            fields = json.loads(line)
            records.append(Record(fields["kind"], fields["turn_id"], fields["data"]))
        except (ValueError, KeyError, TypeError) as fault:
            expected = 'every line to be {"kind": ..., "turn_id": ..., "data": ...}'
            saw = f"line {number + 1} is {quote(line)} ({type(fault).__name__}: {fault})"
            raise mistake(expected, saw, STEPS) from None
    return records


def grade_jsonl_journal(make: Make) -> None:
    """B. Steps of one append, faults in a run, a power cut, torn tails; then the kit."""
    with attempt("JsonlJournal", STEPS):
        _in_folder(partial(_check_steps, make))
        for fault in FAULTS:
            for number in range(len(KINDS)):
                _in_folder(partial(_check_fault, make, fault, number))
        for count in range(1, len(KINDS) + 1):
            _in_folder(partial(_check_power_cut, make, count))
        _in_folder(partial(_check_torn, make))
        _in_folder(partial(_check_cut, make))
    raise_findings("JsonlJournal", check_journal(JsonlUnderTest(make)))


def _in_folder(check: Callable[[str], None]) -> None:
    with scratch() as folder:
        check(os.path.join(folder, "journal.jsonl"))


class _Counting(FaultyDisk):
    """Also keeps the order of what was asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[str] = []

    def write(self, fd: int, data: bytes) -> int:
        self.steps.append("write")
        return super().write(fd, data)

    def sync(self, fd: int) -> None:
        self.steps.append("sync")
        super().sync(fd)

    def sync_data(self, fd: int) -> None:
        self.steps.append("sync")
        super().sync_data(fd)


def _check_steps(make: Make, path: str) -> None:
    """One write, then one sync, then the return; a line is whole, and its own."""
    disk = _Counting()
    journal = make(path, disk)
    for number, record in enumerate(records_of_turn(1)):
        disk.steps, disk.writes = [], []
        position = journal.append(record)
        if position != number:
            raise mistake(f"append to return position {number}", quote(position), STEPS)
        if disk.steps != ["write", "sync"]:
            saw = f"the disk was asked to {', '.join(disk.steps) or 'do nothing'}"
            raise mistake("one write, then one sync, for each record", saw, STEPS)
        if disk.writes[0].count(b"\n") != 1 or not disk.writes[0].endswith(b"\n"):
            raise mistake("one line that ends in LF", quote(disk.writes[0]), STEPS)
    journal.close()


class _Armed:
    """The journal under test; before the n-th record its disk is made to fail."""

    def __init__(
        self, journal: ClosableJournal, disk: FaultyDisk, fault: Fault, number: int
    ) -> None:
        self.kept: list[Record] = []
        self._journal, self._disk, self._fault, self._number = journal, disk, fault, number

    def append(self, record: Record) -> int | None:
        if len(self.kept) == self._number:
            self._disk.fault = self._fault
        position = self._journal.append(record)
        self.kept.append(record)
        return position


class _Echo:
    """A tool that counts how often it has acted."""

    definition = ToolDefinition("echo", "Gives back its arguments.", {"type": "object"})

    def __init__(self) -> None:
        self.acted = 0

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({"arguments": arguments}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        self.acted += 1
        return ToolResult("completed", str(prepared.action))


def _check_fault(make: Make, fault: Fault, number: int, path: str) -> None:
    """A run whose n-th record meets a fault: it ends there, and memory is what was kept."""
    disk, echo = FaultyDisk(), _Echo()
    journal = make(path, disk)
    armed = _Armed(journal, disk, fault, number)
    turns = [ModelTurn(tool_calls=(ToolCall("call-1", "echo", '{"a":1}'),)), ModelTurn("done")]
    runner = AgentRunner(ScriptedModel(turns), ToolBox([echo], ["echo"]), journal=armed)
    result = runner.run("go")
    what = f"when the disk has the fault {fault!r} at record {number} ({KINDS[number]})"
    _check_end(result, path, what)
    kept = tuple(record.kind for record in armed.kept)
    if kept != KINDS[:number]:
        raise mistake(f"{what} nothing kept but {KINDS[:number]}", f"it kept {kept}", INVARIANTS)
    roles = {"user_input": "user", "model_response": "assistant", "tool_result": "tool"}
    wanted = [roles[kind] for kind in kept if kind in roles]
    found = [message.role for message in result.messages]
    if found != wanted:
        raise mistake(f"{what} the messages {wanted}", f"there are {found}", INVARIANTS)
    if echo.acted != (number > KINDS.index("tool_start")):
        raise mistake(f"{what} no act without a start on disk", "the tool has acted", INVARIANTS)
    _check_refusal(journal, disk, what)
    journal.close()
    _check_reopened(make, path, armed.kept, what)


def _check_end(result: RunResult, path: str, what: str) -> None:
    payloads = [event.payload for event in result.events if event.type == "error"]
    kind = payloads[0]["kind"] if payloads else "none"
    if result.stop_reason != "failed" or kind != "journal":
        saw = f"stop reason {result.stop_reason!r}, error kind {kind!r}"
        raise mistake(f"{what} the run to end with an error of the kind journal", saw, INVARIANTS)
    if path not in str(payloads[0]["message"]):
        saw = quote(payloads[0]["message"])
        raise mistake(f"{what} a message that names the file", saw, STEPS)
    if not isinstance(result.error, JournalError) or result.error.__cause__ is not None:
        saw = f"another exception: {quote(result.error and result.error.__cause__)}"
        raise mistake(f"{what} append to raise JournalError itself", saw, STEPS)


def _check_refusal(journal: ClosableJournal, disk: FaultyDisk, what: str) -> None:
    disk.writes = []
    try:
        journal.append(records_of_turn(9)[0])
    except JournalError:
        if disk.writes:
            saw = f"it wrote {quote(disk.writes[0])}"
            raise mistake(f"{what} nothing written ever after", saw, INVARIANTS) from None
    else:
        raise mistake(f"{what} every later record refused", "the next one was taken", INVARIANTS)


def _check_reopened(make: Make, path: str, kept: Sequence[Record], what: str) -> None:
    """Open the file again: what was acknowledged is there, and the next record is its own line."""
    journal, more = make(path, SystemDisk()), records_of_turn(7)[0]
    position = journal.append(more)
    journal.close()
    found = [plain(record) for record in read_lines(path)]
    if found[: len(kept)] != [plain(record) for record in kept]:
        saw = f"there are {len(found) - 1}"
        raise mistake(f"{what} all {len(kept)} acknowledged records", saw, INVARIANTS)
    if found[-1] != plain(more) or position != len(found) - 1:
        saw = f"position {position} of {len(found)} lines, the last one {quote(found[-1])}"
        raise mistake(f"{what} the next record on a line of its own", saw, INVARIANTS)
    if len(found) > len(kept) + 2:
        raise mistake(f"{what} no record twice", f"there are {len(found)} lines", INVARIANTS)


def _check_power_cut(make: Make, count: int, path: str) -> None:
    """Acknowledged, then the power goes: on a disk that keeps only what was synced."""
    disk = ForgetfulDisk(os.path.dirname(path))
    journal, records = make(path, disk), records_of_turn(1)[:count]
    for record in records:
        journal.append(record)
    disk.cut_power()
    if not os.path.exists(path):
        expected = f"{count} acknowledged records to outlive a power cut"
        saw = "the file is gone: its bytes were synced, its name in the directory was not"
        raise mistake(expected, saw, INVARIANTS)
    _check_reopened(make, path, records, f"after a power cut, with {count} acknowledged,")


def _check_torn(make: Make, path: str) -> None:
    """Every byte at which the last record can be cut off."""
    journal, records = make(path, SystemDisk()), records_of_turn(1)[:3]
    for record in records:
        journal.append(record)
    journal.close()
    with open(path, "rb") as file:
        content = file.read()
    start = content.rfind(b"\n", 0, -1) + 1
    for size in range(start, len(content) + 1):
        with open(path, "wb") as file:
            file.write(content[:size])
        kept = records if size == len(content) else records[:2]
        what = f"with a file that was cut off {size - start} bytes into its last record"
        _check_reopened(make, path, kept, what)


class _AtFirstWrite(ForgetfulDisk):
    """Remembers what of the file would have outlived a power cut before the first write."""

    left: bytes | None = None

    def write(self, fd: int, data: bytes) -> int:
        if self.left is None:
            self.left = self.kept(fd)
        return super().write(fd, data)


def _check_cut(make: Make, path: str) -> None:
    """A tail that is cut off but may come back could end up in front of the next record."""
    journal, records = make(path, SystemDisk()), records_of_turn(1)[:2]
    for record in records:
        journal.append(record)
    journal.close()
    with open(path, "rb") as file:
        whole = file.read()
    with open(path, "ab") as file:
        file.write(whole[: len(whole) // 3])
    disk = _AtFirstWrite(os.path.dirname(path))
    journal = make(path, disk)
    journal.append(records[0])
    journal.close()
    if disk.left != whole:
        expected = (
            "the cut of a torn tail to be on stable storage before the next record is written"
        )
        saw = "had the power gone there, the tail would be back: the truncate was not synced"
        raise mistake(expected, saw, INVARIANTS)
