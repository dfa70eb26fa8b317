"""Where runs are done: in this process, in a pool of processes, or on a Dask cluster.

Each way takes tasks and gives outcomes as they come, and none of them writes anything. A run whose
worker dies is given to another one; after three deaths it is told as a fault.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.connection import wait as wait_for
from typing import Protocol

from curriculum.experiments.cluster import GONE, ClusterError, Connection
from curriculum.experiments.interrupts import deaf_children
from curriculum.experiments.perform import Outcome, perform
from curriculum.experiments.plan import Task
from curriculum.experiments.settings import ExperimentError

DEATHS = 3


class Fault:
    """A run that came to nothing, and why."""

    def __init__(self, run_id: str, why: str) -> None:
        self.run_id, self.why = run_id, why


Ended = tuple[Task, Outcome | Fault]


class Pool(Protocol):
    """A way to do runs."""

    def run(self, tasks: Sequence[Task], is_recorded: bool) -> Iterator[Ended]:
        """Every task with what came of it, in any order."""


def attempt(task: Task, is_recorded: bool) -> Outcome | Fault:
    """One run; a bug in it is told, not raised: the others go on."""
    try:
        return perform(task, is_recorded)
    except Exception as fault:
        return Fault(task.run_id, f"{type(fault).__name__}: {fault}")


class Here:
    """One after the other, in this process."""

    def run(self, tasks: Sequence[Task], is_recorded: bool) -> Iterator[Ended]:
        for task in tasks:
            yield task, attempt(task, is_recorded)


# region: processes
class Processes:
    """A pool of processes on this machine. They end when this process does, however it ends."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def run(self, tasks: Sequence[Task], is_recorded: bool) -> Iterator[Ended]:
        deaths = dict.fromkeys((task.run_id for task in tasks), 0)
        waiting = list(reversed(tasks))
        while waiting:
            ended: set[str] = set()
            try:
                for one in self._until_broken(waiting, is_recorded):
                    ended.add(one[0].run_id)
                    yield one
            except BrokenProcessPool:
                # Nobody knows whose worker it was: all that were begun count a death.
                begun = waiting[-2 * self._jobs :]
                waiting = [task for task in waiting if task.run_id not in ended]
                for task in begun:
                    deaths[task.run_id] += task.run_id not in ended
                for task in [task for task in waiting if deaths[task.run_id] >= DEATHS]:
                    waiting.remove(task)
                    yield task, Fault(task.run_id, f"its worker died, {DEATHS} times")
            else:
                return

    def _until_broken(self, tasks: Sequence[Task], is_recorded: bool) -> Iterator[Ended]:
        left = list(tasks)
        spawn = multiprocessing.get_context("spawn")
        with deaf_children():
            pool = ProcessPoolExecutor(self._jobs, spawn, follow_parent)
        with pool:
            running: dict[Future[Outcome | Fault], Task] = {}
            try:
                while left or running:
                    while left and len(running) < 2 * self._jobs:
                        task = left.pop()
                        with deaf_children():  # it starts a process if none is free
                            future = pool.submit(attempt, task, is_recorded)
                        running[future] = task
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in sorted(done, key=lambda f: running[f].run_id):
                        yield running[future], future.result()
                        del running[future]
            except BaseException:  # nobody waits any more for what was not begun
                pool.shutdown(cancel_futures=True)
                raise


def follow_parent() -> None:
    """In a worker: end with the process that started it, also if that one was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait_for([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


# endregion


# region: dask
class Dask:
    """A Dask cluster: the address of its scheduler, or `local` for one on this machine.

    The workers need this package, and nothing of this machine: they are sent a task and send back
    its row and trace. A run whose worker was lost is done again elsewhere.
    """

    def __init__(self, address: str, jobs: int) -> None:
        self._address, self._jobs = address, jobs

    def run(self, tasks: Sequence[Task], is_recorded: bool) -> Iterator[Ended]:
        try:
            cluster = Connection(self._address, self._jobs)
        except ClusterError as fault:
            raise ExperimentError(str(fault), 69) from None
        call = partial(attempt, is_recorded=is_recorded)
        try:
            left = {
                cluster.submit(call, task, key=f"{task.run_id}-{task.seed}", retries=DEATHS): task
                for task in tasks
            }
            while left:
                future = cluster.next_ended()
                task = left.pop(future)
                broken = future.exception()
                if broken is None:
                    yield task, future.result()
                else:
                    yield task, Fault(task.run_id, f"{type(broken).__name__}: {broken}")
        except GONE:
            raise ExperimentError(
                f"--dask {self._address}: the scheduler was lost; run it again to go on", 69
            ) from None
        finally:
            cluster.close()


# endregion
