"""A conformance kit for durable journals: whatever implements `Journal` can be put through it.

A small harness (`journal_under_test`) opens the journal in a folder and reads what it holds. The
journal itself works in child processes that are killed in the middle of their work, or run into a
limit: what was acknowledged has to be there afterwards, whole and in order, and nothing else.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Sequence

from curriculum.core.errors import JournalError
from curriculum.core.journal import Record
from curriculum.core.values import as_data
from curriculum.grading.journal_moments import MOMENTS, run_until
from curriculum.grading.journal_under_test import JournalUnderTest, records_of_turn
from curriculum.grading.killed_process import Tell, die, run_child
from curriculum.grading.mistakes import collect, mistake, place, quote
from curriculum.grading.scratch import scratch

__unittest = True

STEPS = 's05, "Step by step"'
INVARIANTS = 's05, "Invariants"'
FILE_LIMIT_BYTES = 256 * 1024


def check_journal(under_test: JournalUnderTest) -> list[str]:
    """Put a journal through all checks that apply. Returns what is wrong: nothing, if it conforms.

    Each check has a new folder.
    """
    checks = _Checks(under_test).all()
    if unknown := under_test.lacks.keys() - checks.keys():
        raise ValueError(f"lacks names no check of this kit: {sorted(unknown)}")
    return collect({n: c for n, c in checks.items() if n not in under_test.lacks}, STEPS)


class _Checks:
    """One method a check."""

    def __init__(self, under_test: JournalUnderTest) -> None:
        self._under_test = under_test

    def all(self) -> dict[str, Callable[[], None]]:
        """The checks by name, from the plain to the violent."""
        checks = {
            "kept": self.kept,
            "positions": self.positions,
            "not JSON": self.not_json,
            "kept at once": self.kept_at_once,
            "killed": self.killed,
            "no room": self.no_room,
            "one at a time": self.one_at_a_time,
            "save points": self.save_points,
        }
        return {name: self._in_folder(check) for name, check in checks.items()}

    def _in_folder(self, check: Callable[[str], None]) -> Callable[[], None]:
        def run() -> None:
            with scratch() as folder:
                check(folder)

        return run

    def _append(self, folder: str, records: Sequence[Record]) -> list[object]:
        """Open, append, close; returns the positions."""
        journal = self._under_test.open(folder)
        try:
            return [journal.append(record) for record in records]
        finally:
            journal.close()

    def _holds(self, folder: str) -> list[Record]:
        records = list(self._under_test.records(folder))
        if wrong := next((r for r in records if not isinstance(r, Record)), None):
            raise mistake("records() to give Records", quote(wrong), STEPS)
        return records

    def kept(self, folder: str) -> None:
        records = [*records_of_turn(1), *records_of_turn(2, size=70_000)]
        self._append(folder, records)
        _same("the records that were appended", records, self._holds(folder))
        more = records_of_turn(3)
        self._append(folder, more)
        _same("old and new records after a second opening", records + more, self._holds(folder))

    def positions(self, folder: str) -> None:
        found = [
            *self._append(folder, records_of_turn(1)),
            *self._append(folder, records_of_turn(2)),
        ]
        last = -1
        for position in found:
            if type(position) is not int:
                expected = "append to return the record's position, an int"
                raise mistake(expected, quote(position), STEPS)
            if position <= last:
                expected = "positions from 0 that grow, also after a second opening"
                raise mistake(expected, quote(found), STEPS)
            last = position

    def not_json(self, folder: str) -> None:
        journal = self._under_test.open(folder)
        try:
            journal.append(Record("user_input", "turn-1", {"content": object()}))
        except Exception:
            is_refused = True
        else:
            is_refused = False
        finally:
            journal.close()
        if not is_refused:
            raise mistake("a record that JSON cannot hold to be refused", "it was taken", STEPS)
        _same("nothing of a refused record", [], self._holds(folder))

    def kept_at_once(self, folder: str) -> None:
        records = records_of_turn(1)
        for count in range(1, len(records) + 1):
            where = os.path.join(folder, str(count))
            os.mkdir(where)

            def work(tell: Tell, where: str = where, count: int = count) -> None:
                journal = self._under_test.open(where)
                for record in records[:count]:
                    journal.append(record)
                die()

            run_child(work, "append", STEPS)
            what = f"{count} acknowledged records when the process is killed right after the last"
            _same(what, records[:count], self._holds(where))

    def killed(self, folder: str) -> None:
        """A process that only appends, killed from outside after so many acknowledgements."""
        for count in (1, 2, 7, 20):
            where = os.path.join(folder, str(count))
            os.mkdir(where)

            def work(tell: Tell, where: str = where) -> None:
                journal = self._under_test.open(where)
                for record in _stream(12):
                    journal.append(record)
                    tell("kept")

            ended = run_child(work, "append", STEPS, until=count)
            _prefix(_stream(12), self._holds(where), len(ended.told), "a kill")
            before = self._holds(where)
            later = records_of_turn(99)
            self._append(where, later)
            after = self._holds(where)
            _same("the records from before the kill, unchanged", before, after[: len(before)])
            _same("the records after the kill", later, after[-len(later) :])

    def no_room(self, folder: str) -> None:
        """The system refuses to let any file grow beyond a limit: as good as a full disk."""

        def work(tell: Tell) -> None:
            journal = self._under_test.open(folder)
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT_BYTES, hard))
            for record in (stream := iter(_stream(40, size=4000))):
                try:
                    journal.append(record)
                except Exception as fault:
                    tell(f"{type(fault).__name__}: {fault}{place(fault)}")
                    tell(isinstance(fault, JournalError))
                    break
                tell("kept")
            else:
                raise AssertionError("the journal says that it has kept more than there is room")
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))  # there is room again
            try:
                journal.append(next(stream))
            except Exception:
                tell("refused")
            else:
                tell("taken")

        *kept, said, is_journal_error, later = run_child(work, "append", STEPS).told
        if not is_journal_error:
            raise mistake("JournalError when there is no room", str(said), STEPS)
        if later == "taken":
            expected = "no record to be taken after one that could not be kept"
            raise mistake(expected, "the next one was taken: there is a gap", INVARIANTS)
        _prefix(_stream(40, size=4000), self._holds(folder), len(kept), "a full disk")

    def one_at_a_time(self, folder: str) -> None:
        """A second process is told, and writes nothing; when the first is killed, it may."""
        records = records_of_turn(1)

        def holder(tell: Tell) -> None:
            journal = self._under_test.open(folder)
            journal.append(records[0])
            tell(run_child(second, "a second process", STEPS).told[0])
            die()

        def second(tell: Tell) -> None:
            try:
                self._under_test.open(folder).append(records[0])
            except JournalError:
                tell("refused")
            else:
                tell("taken")

        ended = run_child(holder, "append", STEPS)
        if ended.told != ("refused",):
            expected = "a second process to be refused with JournalError while the first is open"
            raise mistake(expected, "both have written", INVARIANTS)
        _same("only the record of the first process", records[:1], self._holds(folder))
        if run_child(second_turn(self, folder), "opening after a kill", STEPS).told != ("kept",):
            expected = "the journal to be free as soon as its holder is dead"
            raise mistake(expected, "it is still refused", INVARIANTS)

    def save_points(self, folder: str) -> None:
        """A real run, killed where the next step begins: the step before it has to be on disk."""
        for moment, kinds in MOMENTS.items():
            where = os.path.join(folder, moment.replace(" ", "-"))
            os.mkdir(where)

            def work(tell: Tell, where: str = where, moment: str = moment) -> None:
                run_until(moment, self._under_test.open(where))

            run_child(work, "a run", STEPS)
            found = tuple(record.kind for record in self._holds(where))
            if found != kinds:
                raise mistake(f"{moment}, on disk: {kinds}", f"on disk: {found}", INVARIANTS)


def second_turn(checks: _Checks, folder: str) -> Callable[[Tell], None]:
    """Work for a child: open what a killed process left, and go on."""

    def work(tell: Tell) -> None:
        try:
            checks._append(folder, records_of_turn(2))
        except JournalError:
            tell("refused")
        else:
            tell("kept")

    return work


def _stream(turns: int, size: int = 10) -> list[Record]:
    return [record for number in range(turns) for record in records_of_turn(number, size)]


def _prefix(stream: list[Record], found: list[Record], kept: int, after: str) -> None:
    """All acknowledged records, at most the one in flight besides, and nothing else."""
    if len(found) < kept:
        saw = f"there are {len(found)}"
        raise mistake(f"all {kept} acknowledged records after {after}", saw, INVARIANTS)
    _same(f"whole records in their order after {after}", stream[: len(found)], found)
    if len(found) > kept + 1:
        saw = f"there are {len(found)}"
        raise mistake(f"at most one record beyond the {kept} acknowledged", saw, INVARIANTS)


def _same(what: str, wanted: Sequence[Record], found: Sequence[Record]) -> None:
    if len(wanted) != len(found):
        saw = f"it holds {len(found)} records, not {len(wanted)}"
        raise mistake(f"{what} to be in the journal", saw, INVARIANTS)
    for number, (one, other) in enumerate(zip(wanted, found, strict=True)):
        if plain(one) != plain(other):
            saw = f"record {number} is {quote(other)}, not {quote(one)}"
            raise mistake(f"{what} to be in the journal", saw, INVARIANTS)


def plain(record: Record) -> object:
    """A record as plain data, so that a tuple equals a list and any mapping a dict."""
    return _plain(as_data(record))


def _plain(thing: object) -> object:
    if hasattr(thing, "items"):
        return {key: _plain(field) for key, field in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [_plain(item) for item in thing]
    return thing
