"""Runs an experiment on a Dask cluster and kills one of its workers after so many runs."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from curriculum.experiments.commands import run
from curriculum.experiments.plan import Task, load_experiment
from curriculum.experiments.pool import Dask, Ended


class Deadly:
    """The cluster, until so many runs have ended; then with one worker less."""

    def __init__(self, pool: Dask, victim: int, after: int) -> None:
        self._pool, self._victim, self._after = pool, victim, after

    def run(self, tasks: Sequence[Task], is_recorded: bool) -> Iterator[Ended]:
        for number, ended in enumerate(self._pool.run(tasks, is_recorded), 1):
            if number == self._after:
                os.kill(self._victim, signal.SIGKILL)
            yield ended


if __name__ == "__main__":
    file, out, address, victim, after = sys.argv[1:]
    pool = Deadly(Dask(address, 1), int(victim), int(after))
    sys.exit(run(load_experiment(file), Path(out), pool, False))
