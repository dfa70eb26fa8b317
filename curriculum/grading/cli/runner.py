"""Run in a child process: grades exercises by the learner's suite, and tells each outcome.

`python -m curriculum.grading.cli.runner FD TEST...` writes one JSON object a line to FD: `began`
before a test, then its outcome. What the learner's code prints goes wherever the parent has sent
it. SIGUSR1 writes where the code is just now to FD as well, for a parent that has lost patience.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import unittest
from collections.abc import Callable
from types import TracebackType

from curriculum.grading.mistakes import place

Fault = tuple[type[BaseException], BaseException, TracebackType]
Tell = Callable[[dict[str, str]], None]


class Outcome(unittest.TestResult):
    """Keeps one word for what became of a test, and what there is to say about it."""

    def __init__(self) -> None:
        super().__init__()
        self.outcome, self.said = "passed", ""

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        # The suite skips a stub; whatever else it skips, it could not grade, and says why.
        self.outcome = "not started" if reason.startswith("not started") else "not graded"
        self.said = reason

    def addFailure(self, test: unittest.TestCase, err: object) -> None:
        self._add("failed", err)

    def addError(self, test: unittest.TestCase, err: object) -> None:
        self._add("failed", err)

    def _add(self, outcome: str, err: object) -> None:
        fault = err[1] if isinstance(err, tuple) else err
        assert isinstance(fault, BaseException)
        self.outcome = outcome
        self.said = str(fault)
        if not isinstance(fault, AssertionError):
            self.said = f"{type(fault).__name__}: {fault}{place(fault)}"


def run_test(name: str, tell: Tell) -> None:
    """Run the one test of that name, and tell its outcome."""
    tell({"test": name, "outcome": "began"})
    result = Outcome()
    try:
        unittest.defaultTestLoader.loadTestsFromName(name).run(result)
    except SystemExit as fault:
        result.outcome, result.said = "failed", f"it called sys.exit({fault.code!r})"
    sys.stdout.flush()
    tell({"test": name, "outcome": result.outcome, "said": result.said})


def main() -> None:
    """Grade the tests that the command line names."""
    fd, *names = sys.argv[1:]
    told = os.fdopen(int(fd), "w", buffering=1, encoding="utf-8", errors="backslashreplace")
    faulthandler.register(signal.SIGUSR1, told, all_threads=False)
    for name in names:
        run_test(name, lambda line: print(json.dumps(line), file=told, flush=True))


if __name__ == "__main__":
    main()
