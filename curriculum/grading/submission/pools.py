"""Where submissions are graded: in boxes on this machine, or in boxes on a Dask cluster.

Either way takes work and gives reports as they come, in any order, and writes nothing. A worker of
a cluster is sent the texts that were handed in and sends back the report: it reads no file of ours,
and it grades only in a box as good as here and with the same graders.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol

from curriculum.experiments.cluster import (
    CONNECT_SECONDS,
    GONE,
    ClusterError,
    Connection,
)
from curriculum.grading.cli.faults import NO_FILE, CommandError
from curriculum.grading.submission.digests import digest_of_graders
from curriculum.grading.submission.grading import Report, Work, grade
from curriculum.grading.submission.isolation import best_box

Ended = tuple[Work, Report | Exception]


class Pool(Protocol):
    """A way to grade."""

    def run(self, works: Iterable[Work]) -> Generator[Ended, None, None]:
        """All of it, each with its report, or with the reason why it could not be graded."""


class Here:
    """On this machine, so many at the same time: each thread waits for the processes of a box."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def run(self, works: Iterable[Work]) -> Generator[Ended, None, None]:
        waiting = iter(works)
        running: dict[Future[Report], Work] = {}
        with ThreadPoolExecutor(self._jobs) as pool:
            try:
                while True:
                    for work in itertools.islice(waiting, 2 * self._jobs - len(running)):
                        running[pool.submit(grade, work)] = work
                    if not running:
                        return
                    done = wait(running, return_when=FIRST_COMPLETED).done
                    for future in [one for one in running if one in done]:  # as they were begun
                        yield running.pop(future), _report_of(future)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


class Cluster:
    """The workers of a Dask scheduler. What a lost worker had begun is graded by another one."""

    def __init__(self, address: str, isolated: bool, jobs: int = 1) -> None:
        """`jobs` processes if the address is `local`.

        Raises CommandError if the cluster is not there, or not fit for it.
        """
        self._address, self._isolated = address, isolated
        try:
            self._cluster = Connection(address, jobs)
        except ClusterError as fault:
            raise CommandError(str(fault), NO_FILE) from None
        self._client = self._cluster.client
        try:
            self._check()
        except BaseException:
            self._cluster.close()
            raise

    def _check(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=CONNECT_SECONDS)
            told = self._client.run(_about_worker)
        except TimeoutError:
            raise self._unfit("the scheduler has no workers; start some") from None
        except Exception as fault:  # of any kind, wrapped by distributed
            raise self._unfit(f"a worker has not what it takes: {fault}") from None
        for worker, (box, digest) in sorted(told.items()):
            if digest != digest_of_graders():
                raise self._unfit(f"worker {worker} has another version of the curriculum")
            if self._isolated and not box:
                raise self._unfit(f"submissions cannot be isolated on worker {worker}")

    def _unfit(self, why: str) -> CommandError:
        return CommandError(f"--dask {self._address}: {why}", NO_FILE)

    def run(self, works: Iterable[Work]) -> Generator[Ended, None, None]:
        waiting, digest = iter(works), digest_of_graders()
        running: dict[Any, Work] = {}
        try:
            while True:
                room = 2 * self._threads() + 1 - len(running)
                for work in itertools.islice(waiting, max(0, room)):
                    # Each call is its own: the same work for another instructor is not ours.
                    running[self._cluster.submit(_grade_there, work, digest, pure=False)] = work
                if not running:
                    return
                future = self._cluster.next_ended()
                yield running.pop(future), _report_of(future)
        finally:
            self._cluster.close()

    def _threads(self) -> int:
        """Of all workers just now; they come and go. Raises CommandError if the scheduler went."""
        gone = "the scheduler is gone; what was graded is kept, so say the same again later"
        if self._client.status != "running":
            raise self._unfit(gone)
        try:
            return sum(self._client.nthreads().values())
        except GONE:
            raise self._unfit(gone) from None


def _report_of(future: Any) -> Report | Exception:
    """One that could not be graded costs only itself."""
    try:
        report: Report = future.result()
        return report
    except Exception as fault:
        return fault


def _about_worker() -> tuple[str, str]:
    """On a worker: which box works there, and which graders it has."""
    return best_box(), digest_of_graders()


def _grade_there(work: Work, digest: str) -> Report:
    """On a worker; it may have come later than the check."""
    if digest_of_graders() != digest:
        raise RuntimeError("the worker has another version of the curriculum")
    return grade(work)
