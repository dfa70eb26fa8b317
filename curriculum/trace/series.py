"""A long row of numbers in little room: kept whole while short, then ever coarser."""

from __future__ import annotations

BARS = "▁▂▃▄▅▆▇█"


class Series:
    """At most `room` sums over equal runs of the numbers that were added. `room` is even.

    When it is full, neighbours are added together, so the sum of all is always exact.
    """

    def __init__(self, room: int = 48) -> None:
        self._room = room
        self._run = 1  # how many numbers a sum holds
        self._sums: list[int] = []
        self.count = 0

    def add(self, number: int) -> None:
        """The next number of the row."""
        if self.count % self._run == 0:
            if len(self._sums) == self._room:
                halves = zip(self._sums[::2], self._sums[1::2], strict=True)
                self._sums = [one + other for one, other in halves]
                self._run *= 2
            self._sums.append(0)
        self._sums[-1] += number
        self.count += 1

    @property
    def mean(self) -> float:
        """The mean of all numbers; 0 of none."""
        return sum(self._sums) / self.count if self.count else 0.0

    @property
    def means(self) -> list[float]:
        """The mean of each run, in order."""
        full = [total / self._run for total in self._sums]
        rest = self.count % self._run
        if rest:
            full[-1] = self._sums[-1] / rest
        return full

    def sparkline(self) -> str:
        """The means as bars, the highest at the top; empty for an empty row."""
        means = self.means
        most = max(means, default=0)
        steps = len(BARS) - 1
        return "".join(BARS[round(mean / most * steps) if most else 0] for mean in means)
