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

from curriculum.grading.mistakes import graders_own, place

Fault = tuple[type[BaseException], BaseException, TracebackType]
Tell = Callable[[dict[str, str]], None]


RANKS = ("", "passed", "not started", "not graded", "failed")


class Outcome(unittest.TestResult):
    """Keeps one word for what became of a test, and what there is to say about it.

    Of several tests the worst counts, of those the first; if there was none, nothing has passed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._rank, self._said = 0, "no test was run to its end"

    @property
    def outcome(self) -> str:
        return RANKS[self._rank] or "failed"

    @property
    def said(self) -> str:
        return self._said

    def note(self, outcome: str, said: str = "") -> None:
        """One test ended like that."""
        rank = RANKS.index(outcome)
        if rank > self._rank:
            self._rank, self._said = rank, said

    def addSuccess(self, test: unittest.TestCase) -> None:
        self.note("passed")

    def addExpectedFailure(self, test: unittest.TestCase, err: object) -> None:
        self.note("passed")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        self.note("failed", "it was expected to fail, and did not")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        # The suite skips a stub; whatever else it skips, it could not grade, and says why.
        is_stub = reason.startswith("not started")
        self.note("not started" if is_stub else "not graded", reason)

    def addFailure(self, test: unittest.TestCase, err: object) -> None:
        self._add(err)

    def addError(self, test: unittest.TestCase, err: object) -> None:
        self._add(err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: object) -> None:
        if err is not None:
            self._add(err)

    def _add(self, err: object) -> None:
        fault = err[1] if isinstance(err, tuple) else err
        assert isinstance(fault, BaseException)
        said = str(fault)
        if ours := graders_own(fault):
            self.note("not graded", ours)
            return
        if not isinstance(fault, AssertionError):
            said = f"{type(fault).__name__}: {fault}{place(fault)}"
        self.note("failed", said)


def run_test(name: str, tell: Tell) -> None:
    """Run the one test of that name, and tell its outcome."""
    tell({"test": name, "outcome": "began"})
    result = Outcome()
    try:
        unittest.defaultTestLoader.loadTestsFromName(name).run(result)
    except SystemExit as fault:
        result.note("failed", f"it called sys.exit({fault.code!r})")
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
