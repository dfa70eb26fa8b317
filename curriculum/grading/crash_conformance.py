"""A crash-test kit for stores: whatever is `Recoverable` can be put through it.

The store works in child processes that are killed at every save point of real runs, between the
lines of its own code, in the middle of a write, and in its recovery. Opened again it has to tell
what was acknowledged, to claim nothing that nobody saw, and to come to the same every time.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from curriculum.core.errors import JournalError
from curriculum.core.journal import Record
from curriculum.grading.crash_runs import Death, deaths, run_and_die
from curriculum.grading.killed_process import Tell, die, run_child
from curriculum.grading.mistakes import collect, mistake, quote
from curriculum.grading.scratch import scratch
from curriculum.grading.session_records import batch, conversation
from curriculum.grading.session_replay import Shown, expected, one_of, same, shown
from curriculum.grading.store_under_test import LineKiller, StoreUnderTest

__unittest = True

STEPS = 's06, "Step by step"'
INVARIANTS = 's06, "Invariants"'
Spot = TypeVar("Spot")
TURN = (
    Record("user_input", "turn-x", {"content": "go on"}),
    Record("model_response", "turn-x", {"content": "yes", "tool_calls": []}),
    Record("turn_end", "turn-x", {"status": "completed"}),
)
MOST_SPOTS = 40  # of one kind in one check; they are spread evenly over all there are


def check_store(under_test: StoreUnderTest) -> list[str]:
    """Put a store through all checks that apply. Returns what is wrong: nothing, if it conforms."""
    checks = _Checks(under_test).all()
    if unknown := under_test.lacks.keys() - checks.keys():
        raise ValueError(f"lacks names no check of this kit: {sorted(unknown)}")
    return collect({n: c for n, c in checks.items() if n not in under_test.lacks}, STEPS)


class _Checks:
    """One method a check."""

    def __init__(self, under_test: StoreUnderTest) -> None:
        self._under_test = under_test

    def all(self) -> dict[str, Callable[[], None]]:
        """The checks by name, from the plain to the violent."""
        return {
            "replay": self.replay,
            "save points": self.save_points,
            "acknowledgement": self.acknowledgement,
            "between lines": self.between_lines,
            "torn write": self.torn_write,
            "killed recovery": self.killed_recovery,
        }

    def _reopen(self, folder: str, what: str) -> Shown:
        """What the store tells when it is opened, in a process of its own; twice the same."""

        def work(tell: Tell) -> None:
            for _ in range(2):
                store = self._under_test.open(folder)
                tell([shown(store.messages), list(store.unacknowledged)])
                store.close()

        first, second = run_child(work, f"opening {what}", STEPS).told
        if first != second:
            saw = f"first {quote(first)}, then {quote(second)}"
            raise mistake(f"{what} the same again when it is opened again", saw, INVARIANTS)
        assert isinstance(first, list)
        return Shown(first[0], first[1])

    def _append(self, folder: str, records: Sequence[Record]) -> None:
        """Keep records, then be gone without a word."""

        def work(tell: Tell) -> None:
            store = self._under_test.open(folder)
            for record in records:
                store.append(record)
            die()

        run_child(work, "append", STEPS)

    def replay(self) -> None:
        """Whole conversations, and every beginning of one, without a kill in between."""
        records = conversation(random.Random(3))
        for size in range(len(records) + 1):
            with scratch() as folder:
                self._append(folder, records[:size])
                what = f"after {size} records"
                same(expected(records[:size]), self._reopen(folder, what), what)

        def go_on(tell: Tell) -> None:
            store = self._under_test.open(folder)
            before = shown(store.messages)
            for record in TURN:
                store.append(record)
            tell(shown(store.messages) == before)
            die()

        with scratch() as folder:
            self._append(folder, records)
            if run_child(go_on, "append", STEPS).told != (True,):
                wanted = "messages of the turns that had ended when the store was opened"
                raise mistake(wanted, "a turn that came later is among them", STEPS)

    def save_points(self) -> None:
        """Real runs, killed before and after every record and right after the tool has acted."""
        for calls in (1, 2, 3):
            for death in deaths(calls):
                with scratch() as folder:
                    self._check_death(folder, calls, death)

    def _check_death(self, folder: str, calls: int, death: Death) -> None:
        store, world = os.path.join(folder, "store"), os.path.join(folder, "world")
        os.mkdir(store)

        def work(tell: Tell) -> None:
            run_and_die(self._under_test.open(store), world, calls, death, tell)

        ended = run_child(work, "a run", STEPS)
        acted = _acted(world)
        what = f"in a turn with {calls} calls that was killed {death}"
        found = self._reopen(store, what)
        if _acted(world) != acted:
            raise mistake(f"{what} nothing to run again", "the tool has acted", INVARIANTS)
        kept = [Record(*told) for told in ended.told if isinstance(told, list)]
        same(expected(kept), found, what)
        for message in found.messages:
            if message[0] == "tool":
                _, call_id, status, _ = message
                if status == "not_executed" and call_id in acted:
                    saw = "it says not_executed, and the tool has acted"
                    raise mistake(f"{what} the truth about {call_id}", saw, INVARIANTS)

    def acknowledgement(self) -> None:
        """An unknown outcome stands in the way until it is acknowledged, and then never again."""
        records = batch(2)
        unknown = [str(record.data["call_id"]) for record in records[-2:]]

        def refused(tell: Tell) -> None:
            store = self._under_test.open(folder)
            try:
                store.append(TURN[0])
            except JournalError:
                tell(list(store.unacknowledged))
            else:
                tell("taken")
            die()

        def acknowledge(tell: Tell) -> None:
            store = self._under_test.open(folder)
            store.acknowledge(unknown[0])
            tell(list(store.unacknowledged))
            die()

        with scratch() as folder:
            self._append(folder, records)
            what = "after two starts without a result"
            while unknown:
                for _ in range(2):
                    told = run_child(refused, "append", STEPS).told[0]
                    if told != unknown:
                        wanted = f"{what} a user_input to be refused while {unknown} are unknown"
                        saw = "it was taken" if told == "taken" else f"unacknowledged: {told}"
                        raise mistake(wanted, saw, INVARIANTS)
                told = run_child(acknowledge, "acknowledge", STEPS).told[0]
                del unknown[0]
                if told != unknown:
                    wanted = f"once one is acknowledged, {unknown} to be unknown"
                    raise mistake(wanted, quote(told), STEPS)
            self._append(folder, TURN)
            what = "after two acknowledgements and one more turn"
            same(expected(records, TURN), self._reopen(folder, what), what)

    def between_lines(self) -> None:
        """Killed at one line of the store's code after the other, while it keeps a record."""
        records = conversation(random.Random(2), turns=2)

        def count(tell: Tell) -> None:
            with scratch() as folder:
                store = self._under_test.open(folder)
                for record in records:
                    with LineKiller() as killer:
                        store.append(record)
                    tell(killer.count)

        counts = [int(str(lines)) for lines in run_child(count, "append", STEPS).told]
        spots = [(n, line) for n, lines in enumerate(counts) for line in range(1, lines + 1)]
        for number, line in _spread(spots):
            with scratch() as folder:
                self._check_spot(folder, records, number, LineKiller(line))

    def _check_spot(
        self, folder: str, records: Sequence[Record], number: int, killer: LineKiller
    ) -> None:
        def work(tell: Tell) -> None:
            store = self._under_test.open(folder)
            for record in records[:number]:
                store.append(record)
            with killer:
                store.append(records[number])
            die()  # the last line was the end of it

        run_child(work, "append", STEPS)
        what = f"killed while it kept record {number} ({records[number].kind})"
        found = self._reopen(folder, what)
        one_of(expected(records[:number]), expected(records[: number + 1]), found, what)

    def torn_write(self) -> None:
        """The system takes only the first bytes of a record; then the process is killed."""
        records = conversation(random.Random(3))
        number = next(n for n, record in enumerate(records) if record.kind == "tool_start")
        for room in _spread(list(range(0, 400, 13))):
            with scratch() as folder:

                def work(tell: Tell, folder: str = folder, room: int = room) -> None:
                    store = self._under_test.open(folder)
                    for record in records[:number]:
                        store.append(record)
                    most = _largest(folder) + room
                    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
                    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
                    try:
                        store.append(records[number])
                    except JournalError:
                        tell("refused")
                    die()

                ended = run_child(work, "append", STEPS)
                what = f"with room for {room} bytes of a tool_start"
                found = self._reopen(folder, what)
                before, after = expected(records[:number]), expected(records[: number + 1])
                one_of(before if ended.told else after, after, found, what)

    def killed_recovery(self) -> None:
        """Killed at one line after the other while it opens what a kill has left."""
        records = conversation(random.Random(5))
        starts = [n for n, record in enumerate(records, 1) if record.kind == "tool_start"]
        kept = records[: starts[-1]]
        with scratch() as base:
            wreck = os.path.join(base, "wreck")
            os.mkdir(wreck)
            self._append(wreck, kept)
            lines = self._lines_of_recovery(shutil.copytree(wreck, os.path.join(base, "counted")))
            for line in _spread(range(1, lines + 1)):
                folder = shutil.copytree(wreck, os.path.join(base, str(line)))

                def work(tell: Tell, folder: str = folder, line: int = line) -> None:
                    with LineKiller(line):
                        self._under_test.open(folder)
                    die()

                run_child(work, "opening", STEPS)
                what = f"when recovery itself was killed (line {line} of {lines})"
                same(expected(kept), self._reopen(folder, what), what)

    def _lines_of_recovery(self, folder: str) -> int:
        """How many lines of the store's code one opening runs."""

        def count(tell: Tell) -> None:
            with LineKiller() as killer:
                self._under_test.open(folder)
            tell(killer.count)

        return int(str(run_child(count, "opening", STEPS).told[0]))


def _acted(world: str) -> list[str]:
    """The calls that have acted, by the traces that they left in the world."""
    if not os.path.exists(world):
        return []
    with open(world) as file:
        return file.read().split()


def _largest(folder: str) -> int:
    """The size of the largest file below the folder, in bytes."""
    paths = (os.path.join(base, name) for base, _, names in os.walk(folder) for name in names)
    return max(map(os.path.getsize, paths), default=0)


def _spread(spots: Sequence[Spot]) -> Iterator[Spot]:
    """At most MOST_SPOTS of them, the first and the last among them."""
    if len(spots) <= MOST_SPOTS:
        yield from spots
        return
    for number in range(MOST_SPOTS):
        yield spots[number * (len(spots) - 1) // (MOST_SPOTS - 1)]
