"""The grader of s06 D and its kit are graded: each wrong store is told why."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from curriculum.core.errors import JournalError
from curriculum.core.journal import Record
from curriculum.core.messages import Message
from curriculum.core.values import as_data, replace
from curriculum.grading.crash_conformance import check_store
from curriculum.grading.killed_process import die, run_child
from curriculum.grading.store_crashes import OwnStore, grade_store
from curriculum.grading.store_under_test import LineKiller
from curriculum.lessons.s05_sessions.solutions import JsonlJournal, json_lines
from curriculum.lessons.s06_recovery.solutions import Store, open_calls, recover, replay
from curriculum.sessions.disk import SystemDisk

CHECKS = (
    *("replay", "save points", "acknowledgement"),
    *("between lines", "torn write", "killed recovery"),
)


def test_the_reference_passes() -> None:
    grade_store(Store)


class CompletedOnly(Store):
    """The other rule: what did not complete is not told."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        ended = [r.turn_id for r in self._records if r.data.get("status") == "interrupted"]
        self._messages = replay(r for r in self._records if r.turn_id not in ended)


class TellsEveryTurn(Store):
    """Also those in which no tool was asked for."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self._messages = [
            message
            for record in self._records
            for message in replay([record, Record("turn_end", "", {"status": "completed"})])
        ]


class NeverRecovers(Store):
    """Opens what is there, and leaves it open."""

    def __init__(self, folder: str) -> None:
        super().__init__(os.path.join(folder))
        path = os.path.join(folder, "session.jsonl")
        kept = [r for r in json_lines(path) if r.data.get("status") != "interrupted"]
        lines = [json.dumps(as_data(r)).encode() + b"\n" for r in kept]
        Path(path).write_bytes(b"".join(lines))
        self._records = kept
        self._messages = replay(kept)


class RecoversInMemory(Store):
    """What it closes is closed for this process only; the disk never hears of it."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self._is_open = True

    def _keep(self, record: Record) -> int:
        if hasattr(self, "_is_open"):
            return super()._keep(record)
        self._records.append(record)
        return 0


class SaysNotExecuted(Store):
    def _keep(self, record: Record) -> int:
        if record.data.get("status") == "unknown":
            data = {**record.data, "status": "not_executed"}
            record = Record(record.kind, record.turn_id, data)
        return super()._keep(record)


class NobodyAsks(Store):
    """Goes on without an acknowledgement."""

    def append(self, record: Record) -> int:
        return self._keep(record)


class ForgetsTheAnswer(Store):
    """An acknowledgement that lives as long as the process."""

    def acknowledge(self, call_id: str) -> None:
        kind: Any = "outcome_acknowledged"
        self._records.append(Record(kind, "", {"call_id": call_id}))


class WritesLate(Store):
    """Keeps a record in memory, and on disk when the next one comes."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self._late: list[Record] = []

    def append(self, record: Record) -> int:
        if record.kind == "user_input" and self.unacknowledged:
            raise JournalError("acknowledge first")
        for late in self._late:
            self._journal.append(late)
        self._late = [record]
        self._records.append(record)
        return len(self._records) - 1


class Rewrites(Store):
    """Writes the whole file anew each time: for a moment there is nothing in it."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, "session.jsonl")
        self._records = json_lines(self._path) if os.path.exists(self._path) else []
        for record in recover(self._records):
            self._keep(record)
        self._messages = replay(self._records)

    def _keep(self, record: Record) -> int:
        self._records.append(record)
        with open(self._path, "w") as file:
            for kept in self._records:
                file.write(json.dumps(as_data(kept), default=dict) + "\n")
                file.flush()
        return len(self._records) - 1

    def close(self) -> None:
        pass


class TrustsAMarker(Store):
    """A file says that a turn is open. It is taken away a moment before the turn has its end."""

    def __init__(self, folder: str) -> None:
        path = os.path.join(folder, "session.jsonl")
        self._marker = Path(folder, "open")
        self._journal = JsonlJournal(path, SystemDisk())
        self._records = json_lines(path)
        if self._marker.exists():
            for record in recover(self._records):
                self._keep(record)
        self._messages = replay(self._records)

    def _keep(self, record: Record) -> int:
        if record.kind == "user_input":
            self._marker.touch()
        elif record.kind == "turn_end":
            self._marker.unlink(missing_ok=True)
        return super()._keep(record)


class GluesTheTail(Store):
    """Takes what was torn for the beginning of the next record."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, "session.jsonl")
        self._file = open(self._path, "a+b", buffering=0)  # noqa: SIM115
        self._records = json_lines(self._path)
        for record in recover(self._records):
            self._keep(record)
        self._messages = replay(self._records)

    def _keep(self, record: Record) -> int:
        line = json.dumps(as_data(record), default=dict).encode() + b"\n"
        try:
            if self._file.write(line) != len(line):
                raise JournalError("a short write")
        except OSError as fault:
            raise JournalError(str(fault)) from None
        self._records.append(record)
        return len(self._records) - 1

    def close(self) -> None:
        self._file.close()


class EndsFirst(Store):
    """Ends the turn before its calls have results: killed in between, it cannot tell any more."""

    def __init__(self, folder: str) -> None:
        path = os.path.join(folder, "session.jsonl")
        if os.path.exists(path):
            records = json_lines(path)
            for record in reversed(recover(records)):
                with open(path, "ab") as file:
                    file.write(json.dumps(as_data(record), default=dict).encode() + b"\n")
        super().__init__(folder)


class LosesAResult(Store):
    """One open call a turn is what everybody tests."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        told: list[Message] = []
        for message in self._messages:
            if not all('"not_executed"' in both.content for both in (message, *told[-1:])):
                told.append(message)
        self._messages = told


class RecoversOnce(Store):
    """A file says that recovery is done. It is there a moment before that is true."""

    def __init__(self, folder: str) -> None:
        path = os.path.join(folder, "session.jsonl")
        marker = Path(folder, "recovered")
        self._journal = JsonlJournal(path, SystemDisk())
        self._records = json_lines(path)
        owed = recover(self._records)
        if not marker.exists():
            if owed:
                marker.touch()
            for record in owed:
                self._keep(record)
        self._messages = replay(self._records)


class Crashes(Store):
    @property
    def messages(self) -> Sequence[Message]:
        assert not open_calls(self._records[:-3]), "this cannot happen"
        return self._messages


class MarksResults(Store):
    """Changes what the model is told."""

    @property
    def messages(self) -> Sequence[Message]:
        return [
            replace(message, content="marked") if message.role == "tool" else message
            for message in self._messages
        ]


WRONG: dict[str, tuple[type[Store], str, str]] = {
    "the other rule": (CompletedOnly, "replay", "message .* to be"),
    "tells every turn": (TellsEveryTurn, "replay", "one more"),
    "never recovers": (NeverRecovers, "replay", "message .* to be"),
    "recovers in memory only": (RecoversInMemory, "acknowledgement", "acknowledge"),
    "says not_executed": (SaysNotExecuted, "save points", "'unknown'"),
    "nobody asks": (NobodyAsks, "acknowledgement", "a user_input to be refused while "),
    "forgets the answer": (ForgetsTheAnswer, "acknowledgement", "acknowledge"),
    "writes late": (WritesLate, "save points", "message .* to be"),
    "rewrites": (Rewrites, "between lines", "message .* to be"),
    "trusts a marker": (TrustsAMarker, "between lines", "message .* to be"),
    "glues the tail": (GluesTheTail, "torn write", "it raised"),
    "ends first": (EndsFirst, "replay", "it raised|message"),
    "loses a result": (LosesAResult, "save points", "message .* to be"),
    "recovers once": (RecoversOnce, "killed recovery", "message .* to be"),
    "marks results": (
        MarksResults,
        "replay",
        r"message 2: the content of a tool message to be the JSON of its result\n"
        ".*you have 'marked'",
    ),
    "crashes": (Crashes, "replay", "it failed an assert|AssertionError"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_stores_are_told_why(name: str) -> None:
    wrong, check, message = WRONG[name]
    under_test = OwnStore(wrong)
    under_test.lacks = {other: "not the one that is tried" for other in CHECKS if other != check}
    [finding] = check_store(under_test)
    assert finding.startswith(f"{check}:")
    assert re.search(message, finding)


def test_a_wrong_store_is_graded_as_one() -> None:
    with pytest.raises(AssertionError, match=r"Store fails \d checks\nreplay:"):
        grade_store(NeverRecovers)


def test_a_check_that_is_lacking_must_exist() -> None:
    under_test = OwnStore(Store)
    under_test.lacks = {"telepathy": "not built in"}
    with pytest.raises(ValueError, match="telepathy"):
        check_store(under_test)


def test_the_killer_counts_the_lines_of_the_store_only() -> None:
    def two_lines() -> int:
        text = json.dumps({"a": [1, 2, 3]})
        return len(text)

    with LineKiller() as killer:
        two_lines()
    assert killer.count == 2


def test_a_child_tells_until_it_is_killed() -> None:
    def work(tell: Any) -> None:
        tell(1)
        tell([2, "three"])
        die()

    ended = run_child(work, "work", "nowhere")
    assert (ended.was_killed, ended.told) == (True, (1, [2, "three"]))


def test_a_child_is_killed_from_outside_when_it_has_told_enough() -> None:
    def work(tell: Any) -> None:
        for number in range(10**9):
            tell(number)

    ended = run_child(work, "work", "nowhere", until=3)
    assert ended.was_killed
    assert ended.told[:3] == (0, 1, 2)


def test_a_child_that_raises_is_a_mistake_with_its_place() -> None:
    def work(tell: Any) -> None:
        raise KeyError("lost")

    with pytest.raises(AssertionError, match=r"KeyError: 'lost' \(test_s06_store.py, line \d+\)"):
        run_child(work, "work", "nowhere")
