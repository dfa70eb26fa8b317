"""What a campaign has found: the share that was killed, and who has survived."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.mutation.mutants import Mutant
from tests.mutation.survivors import Identity

LEAST_SHARE = 0.9
KILLED = ("killed", "timeout")


@dataclass(frozen=True)
class Findings:
    """`verdicts` by the names of the mutants tried; `listed` has the reasons of known survivors.

    `total` is how many mutants there are, tried or not.
    """

    tried: Sequence[Mutant]
    verdicts: Mapping[str, str]
    listed: Mapping[Identity, str]
    total: int

    @property
    def alive(self) -> list[Mutant]:
        return [mutant for mutant in self.tried if self.verdicts[mutant.name] not in KILLED]

    @property
    def unlisted(self) -> list[Mutant]:
        return [mutant for mutant in self.alive if mutant.identity not in self.listed]

    @property
    def share(self) -> float:
        """Killed, of those tried. A survivor with a good reason has survived all the same."""
        return 1 - len(self.alive) / len(self.tried)

    def lines(self) -> Iterator[str]:
        """The report, part by part: who survived, who is listed for nothing, the numbers."""
        for mutant in self.unlisted:
            yield f"survived: {mutant.function}\n{mutant.diff}\n"
        for mutant in self.tried:
            if self.verdicts[mutant.name] == "timeout":
                yield f"hung: {mutant.function}\n{mutant.change}\n"
        living = {mutant.identity for mutant in self.alive}
        for mutant in self.tried:
            if mutant.identity in self.listed and mutant.identity not in living:
                yield f"killed by now, and still listed: {mutant.function}\n{mutant.change}\n"
        counts = Counter(self.verdicts[mutant.name] for mutant in self.tried)
        yield ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
        killed, tried = len(self.tried) - len(self.alive), len(self.tried)
        share = f"{killed} of {tried} mutants killed: {self.share:.1%}"
        if tried < self.total:
            low, high = wilson(killed, tried)
            share += f" (of {self.total} there are; 95% interval {low:.1%} to {high:.1%})"
        unlisted = len(self.unlisted)
        yield f"{share}; survivors: {len(self.alive) - unlisted} listed, {unlisted} not"


def wilson(killed: int, tried: int, z: float = 1.96) -> tuple[float, float]:
    """The 95% interval of a share that was found in a random sample."""
    share, square = killed / tried, z * z / tried
    middle = (share + square / 2) / (1 + square)
    half = z * math.sqrt(share * (1 - share) / tried + square / (4 * tried)) / (1 + square)
    return middle - half, middle + half
