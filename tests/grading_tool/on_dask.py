"""Grades a class on a Dask cluster and kills one of its workers when so many reports are there."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from curriculum.grading.submission.classes import grade_class
from curriculum.grading.submission.grading import Report
from curriculum.grading.submission.pools import Cluster
from tests.grading_tool.test_class import QUICK

if __name__ == "__main__":
    folder, output, address, victim, after = sys.argv[1:]

    def show(done: int, count: int, report: Report) -> None:
        print(report.submission, flush=True)
        if done == int(after):
            os.kill(int(victim), signal.SIGKILL)

    grade_class(Path(folder), Path(output), QUICK, Cluster(address, True), show)
