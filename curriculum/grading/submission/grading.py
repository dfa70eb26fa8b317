"""Grades one submission in a box: a result for every test, whatever the submission does.

What a grading needs is a value, `Work`: it can be done on another machine as well as on this one.

A result is `passed` only if a line said so that was signed with the word of this very run. What is
not said, in time, is a failure; what is signed and yet not what the judge says is tampering.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import subprocess
import tempfile
import time
from _blake2 import blake2b
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from curriculum.grading.cli.catalogue import Lesson
from curriculum.grading.cli.graded import BEGAN, LONGER, OUTCOMES, SECONDS, START_SECONDS
from curriculum.grading.submission.box import Box, stop
from curriculum.grading.submission.collect import collect, suspicious
from curriculum.grading.submission.isolation import LIMITS, best_box
from curriculum.grading.submission.lines import counter, understood

CODE = "from curriculum.grading.submission.judge import main; main()"
TAMPERED = "tampered"
MOST_TOLD = 1 << 20  # bytes of a child that says too much


@dataclass(frozen=True)
class Result:
    """One test: `name` is s01.a or that of a hidden test; `outcome` passed, failed, not started,
    not graded (it needs what is not installed), tampered (the submission has changed the grader).
    """

    name: str
    title: str
    outcome: str
    said: str = ""
    seconds: float = 0.0
    hidden: bool = False


@dataclass(frozen=True)
class Report:
    """A submission: its results, or the `fault` for which nothing could be graded."""

    submission: str
    results: tuple[Result, ...] = ()
    fault: str = ""
    notes: tuple[str, ...] = ()
    box: str = ""  # which box it ran in

    @property
    def passed(self) -> int:
        """How many tests have passed."""
        return sum(result.outcome == "passed" for result in self.results)

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        return {"format": "curriculum report 1", "passed": self.passed, **asdict(self)}


@dataclass(frozen=True)
class Terms:
    """What holds for every submission: lessons, the instructor's private tests as {name of the
    module: source}, whether it has to be in a box, seconds for each test instead of our limits."""

    lessons: tuple[Lesson, ...]
    hidden: Mapping[str, str] = field(default_factory=dict)
    isolated: bool = True
    seconds: float | None = None


@dataclass(frozen=True)
class Work:
    """A submission to grade: its name and the text of each lesson's exercises.py."""

    name: str
    texts: Mapping[str, bytes]
    terms: Terms


class NoBoxError(Exception):
    """Nothing of a submission is run where there is no box for it."""


@dataclass(frozen=True)
class _Test:
    name: str
    title: str
    test: str
    seconds: float
    hidden: bool = False


def work_of(path: Path, terms: Terms) -> Work:
    """What was handed in at `path`. Raises CommandError for what cannot be taken."""
    name = path.name or path.resolve().name  # of `.`
    return Work(name, collect(path, [lesson.folder for lesson in terms.lessons]), terms)


def grade(work: Work) -> Report:
    """Grade it here; never raises for what a submission is or does, NoBoxError without a box."""
    kind = best_box() if work.terms.isolated else LIMITS
    if not kind:
        raise NoBoxError("no box for submissions works here")
    notes = [f"{name}, {what}" for name in work.texts for what in suspicious(work.texts[name])]
    with tempfile.TemporaryDirectory(prefix="curriculum-") as folder:
        box = Box(Path(folder), kind)
        for name, text in work.texts.items():
            box.put(name, text)
        results = tuple(_results(box, work))
    return Report(work.name, results, notes=tuple(notes), box=kind)


def _results(box: Box, work: Work) -> Iterator[Result]:
    terms = work.terms
    for lesson in terms.lessons:
        tests = [
            _Test(ex.short, ex.name, ex.test, terms.seconds or LONGER.get(lesson.short, SECONDS))
            for ex in lesson.exercises
        ]
        if lesson.folder in work.texts:
            yield from run_tests(box, tests)
        else:
            yield from (Result(t.name, t.title, "not started", "not handed in") for t in tests)
    for name in terms.hidden:
        if name.startswith("test"):
            seconds = terms.seconds or 3 * SECONDS
            test = _Test(f"hidden.{name}", name, f"hidden_tests.{name}", seconds, True)
            yield from run_tests(box, [test], terms.hidden)


def run_tests(
    box: Box, tests: Sequence[_Test], hidden: Mapping[str, str] | None = None
) -> Iterator[Result]:
    """Results in order; a test that hangs or ends its process costs only itself."""
    waiting = list(tests)
    while waiting:
        results = list(_one_process(box, waiting, hidden or {}))
        yield from results
        del waiting[: len(results)]


def _one_process(box: Box, tests: Sequence[_Test], hidden: Mapping[str, str]) -> Iterator[Result]:
    """At least one result, and no more than there are tests; none after one that has tampered."""
    word = secrets.token_hex(16)
    reading, writing = os.pipe()
    try:
        process = box.start(CODE, [str(writing), *(t.test for t in tests)], writing)
    finally:
        os.close(writing)
    try:
        with contextlib.suppress(BrokenPipeError):
            assert process.stdin
            process.stdin.write(f"{word}\n{json.dumps(hidden)}".encode())
            process.stdin.close()
        lines = Lines(reading, word, process)
        for test in tests:
            began = time.monotonic()
            told = lines.next(began + START_SECONDS, test.test, (BEGAN, "failed"))
            if told and told[0] == BEGAN:
                began = time.monotonic()
                told = lines.next(began + test.seconds, test.test, (*OUTCOMES, TAMPERED))
            seconds = round(time.monotonic() - began, 2)
            outcome, said = told or ("failed", lines.why(test.seconds))
            said = said.strip("\n")
            yield Result(test.name, test.title, outcome, said, seconds, test.hidden)
            if told is None or outcome == TAMPERED:
                return
    finally:
        stop(process)
        os.close(reading)


class Lines:
    """The signed lines of the child; others are counted and thrown away."""

    def __init__(self, fd: int, word: str, process: subprocess.Popen[bytes]) -> None:
        self._fd, self._process = fd, process
        self._signer, self._counter = blake2b(key=word.encode(), digest_size=16), counter()
        self._rest, self._read, self._forged = b"", 0, 0
        self._late = False

    def next(self, until: float, test: str, expected: Sequence[str]) -> tuple[str, str] | None:
        """(outcome, said) of the next line; None if none comes in time, or ever."""
        while True:
            line, found, rest = self._rest.partition(b"\n")
            if found:
                self._rest = rest
                told = understood(self._signer, line)
                if told is None:
                    self._forged += 1
                    continue
                place, name, outcome, said = told
                is_next = place == next(self._counter)
                if is_next and ((name == test and outcome in expected) or not name):
                    return outcome if name else TAMPERED, said
                return TAMPERED, "the code under test has spoken for the grader"
            left = until - time.monotonic()
            ready = left > 0 and select.select([self._fd], [], [], left)[0]
            if not ready:
                self._late = True
                return None
            data = os.read(self._fd, 65536)
            self._read += len(data)
            if not data or self._read > MOST_TOLD:
                return None
            self._rest += data

    def why(self, seconds: float) -> str:
        """Why there is no result."""
        forged = f"; {self._forged} forged lines were thrown away" if self._forged else ""
        if self._late:
            return f"it did not come to an end within {seconds:g} s{forged}"
        if self._read > MOST_TOLD:
            return f"it wrote without end{forged}"
        code = self._process.poll()
        how = "" if code is None else f" (exit code {code})"
        return f"its process ended before there was a result{how}{forged}"
