"""What the tests of experiments share: a small experiment, and the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from curriculum.experiments.plan import Experiment, Task, read_experiment
from curriculum.experiments.settings import Value, complete

SMALL = """
name = "small"
question = "Is it small?"
repetitions = 3
seed = 5
[settings.model]
steps = 2
[matrix.fault]
drop_percent = [0, 50]
[matrix.retry]
attempts = [1, 3]
[report]
x = "fault.drop_percent"
metrics = ["completed", "requests"]
"""
ROOT = Path(__file__).resolve().parents[2]


def experiment(text: str = SMALL, folder: Path = Path()) -> Experiment:
    """The experiment that the text describes."""
    return read_experiment(text, "small.toml", folder)


def task_of(**settings: Value) -> Task:
    """One run; `retry__attempts=3` is the setting `retry.attempts`."""
    given = {name.replace("__", "."): value for name, value in settings.items()}
    return Task("run-1", (), 1, 11, complete(given))


def command(
    *arguments: str, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """`python -m curriculum.experiments ...`, run to its end."""
    return subprocess.run(
        [sys.executable, "-m", "curriculum.experiments", *arguments],
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def python(program: str) -> subprocess.CompletedProcess[str]:
    """A program of Python's, run to its end in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
