"""Which ids were seen, in memory that does not grow with the file.

Counted ids (`event-1`, `event-2`, ...) are kept as ranges. All others are kept in a set up to a
bound, and beyond it in a private temporary database that disappears with this object.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right

MOST_RANGES = 4096
MOST_IN_MEMORY = 50_000


class _Ranges:
    """The numbers seen of one prefix, as sorted ranges `first[i]..last[i]`."""

    def __init__(self) -> None:
        self.first: list[int] = []
        self.last: list[int] = []

    def __contains__(self, number: int) -> bool:
        at = bisect_right(self.first, number) - 1
        return at >= 0 and number <= self.last[at]

    def joins(self, number: int) -> bool:
        """Whether the number stands right beside a range."""
        return number - 1 in self or number + 1 in self

    def add(self, number: int) -> int:
        """Add a number that is not there yet; returns how many ranges there are more."""
        at = bisect_right(self.first, number) - 1
        joins_left = at >= 0 and self.last[at] == number - 1
        joins_right = at + 1 < len(self.first) and self.first[at + 1] == number + 1
        if joins_left and joins_right:
            self.last[at] = self.last.pop(at + 1)
            del self.first[at + 1]
            return -1
        if joins_left:
            self.last[at] = number
        elif joins_right:
            self.first[at + 1] = number
        else:
            self.first.insert(at + 1, number)
            self.last.insert(at + 1, number)
            return 1
        return 0


class _Spill:
    """Any texts: first in memory, then on disk."""

    def __init__(self) -> None:
        self._recent: set[str] = set()
        self._database: sqlite3.Connection | None = None

    def __contains__(self, text: str) -> bool:
        if text in self._recent:
            return True
        if self._database is None:
            return False
        row = self._database.execute("SELECT 1 FROM seen WHERE id = ?", (text,)).fetchone()
        return row is not None

    def add(self, text: str) -> None:
        self._recent.add(text)
        if len(self._recent) < MOST_IN_MEMORY:
            return
        if self._database is None:
            # An empty name is SQLite's private temporary file: nobody else can open it.
            self._database = sqlite3.connect("", isolation_level=None)
            self._database.execute("PRAGMA journal_mode = OFF")
            self._database.execute("PRAGMA synchronous = OFF")
            self._database.execute("CREATE TABLE seen (id TEXT PRIMARY KEY) WITHOUT ROWID")
            self._database.execute("BEGIN")
        rows = ((text,) for text in sorted(self._recent))
        self._database.executemany("INSERT INTO seen VALUES (?)", rows)
        self._recent.clear()

    def close(self) -> None:
        if self._database is not None:
            self._database.close()


class IdSet:
    """A set of ids that only grows.

    `expected` is the id that would continue the latest range: a caller in a hurry compares with
    it and calls `extend`, everyone else calls `add`.
    """

    def __init__(self) -> None:
        self._prefixes: dict[str, _Ranges] = {}
        self._count = 0
        self._others = _Spill()
        self._put_aside = False  # whether a counted id is among the others
        self.expected: str | None = None
        self._prefix = ""
        self._run = _Ranges()
        self._at = self._number = self._limit = 0

    def extend(self) -> None:
        """Add `expected`."""
        number = self._number = self._number + 1
        self.expected = f"{self._prefix}{number + 1}" if number < self._limit else None

    def _settle(self) -> None:
        """Write down how far the latest range has come."""
        if self._run.last:
            self._run.last[self._at] = self._number

    def add(self, text: str) -> bool:
        """Add an id; False if it was there already."""
        if text == self.expected:
            self.extend()
            return True
        self._settle()
        prefix, number = _split(text)
        ranges = self._prefixes.get(prefix)
        if number < 0:
            return self._add_other(text)
        if (ranges and number in ranges) or (self._put_aside and text in self._others):
            return False
        if self._count >= MOST_RANGES and not (ranges and ranges.joins(number)):
            # The latest range could run over this id: from now on every id is looked up.
            self._put_aside, self.expected = True, None
            return self._add_other(text)
        if ranges is None:
            ranges = self._prefixes[prefix] = _Ranges()
        self._count += ranges.add(number)
        self._follow(prefix, ranges, number)
        return True

    def _add_other(self, text: str) -> bool:
        if text in self._others:
            return False
        self._others.add(text)
        return True

    def _follow(self, prefix: str, ranges: _Ranges, number: int) -> None:
        """Expect the id after this one, as long as it does not run into the next range."""
        self._prefix, self._run = prefix, ranges
        self._at = at = bisect_right(ranges.first, number) - 1
        self._number = ranges.last[at]
        after = ranges.first[at + 1] if at + 1 < len(ranges.first) else 10**15
        self._limit = after - 2
        free = ranges.last[at] == number <= self._limit and not self._put_aside
        self.expected = f"{prefix}{number + 1}" if free else None

    def __contains__(self, text: str) -> bool:
        self._settle()
        prefix, number = _split(text)
        ranges = self._prefixes.get(prefix)
        return (ranges is not None and number in ranges) or text in self._others

    def close(self) -> None:
        """Give back what is on disk."""
        self._others.close()


def _split(text: str) -> tuple[str, int]:
    """An id as prefix and number; the number is -1 where the digits do not say it canonically."""
    prefix = text.rstrip("0123456789")
    digits = text[len(prefix) :]
    if not digits or len(digits) > 15 or (digits[0] == "0" and digits != "0"):
        return text, -1
    return prefix, int(digits)
