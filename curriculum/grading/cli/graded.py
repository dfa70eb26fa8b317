"""Grades exercises in a child process, one at a time, each with a limit of time.

The child may hang, die or print without end: that is the learner's code. An exercise that takes
too long costs only itself; the ones after it are graded in a new child. Nothing is left running.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import IO

from curriculum.grading.cli.catalogue import ROOT, Exercise

OUTCOMES = ("passed", "failed", "not started", "not graded")
BEGAN = "began"
SECONDS = 20.0
# Kits that kill and restart processes hundreds of times need longer.
LONGER = {"s05": 60.0, "s06": 120.0}
START_SECONDS = 30.0  # for a child to begin, before the time of its exercise runs
WHERE_SECONDS = 5.0  # for a child that hangs to say where; most say it at once
PRINTED_BYTES = 4096


@dataclass(frozen=True)
class Grade:
    """What became of one exercise: `passed`, `failed`, `not started`, or `not graded` since
    something is not installed or the grader has failed; and what to tell the learner."""

    exercise: Exercise
    outcome: str
    said: str = ""
    printed: str = ""
    seconds: float = 0.0


def time_limit(exercise: Exercise) -> float:
    """Seconds that the exercise may take."""
    return LONGER.get(exercise.lesson[:3], SECONDS)


def grade_all(
    exercises: Sequence[Exercise], seconds: float | None = None
) -> Generator[Grade, None, None]:
    """Grade in order, each as soon as it is known. `seconds` replaces every limit.

    Closing the iterator stops the grading.
    """
    waiting = list(exercises)
    while waiting:
        done = 0
        with contextlib.closing(_one_child(waiting, seconds)) as grades:
            for grade in grades:
                done += 1
                yield grade
        del waiting[: max(done, 1)]


class _Child:
    """One child process that grades `exercises` in order."""

    def __init__(self, exercises: Sequence[Exercise]) -> None:
        self._reading, writing = os.pipe()
        self._printed: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - until close
        self._rest = b""
        words = [sys.executable, "-m", "curriculum.grading.cli.runner", str(writing)]
        try:
            self._process = subprocess.Popen(
                [*words, *(exercise.test for exercise in exercises)],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
                pass_fds=[writing],
                stdin=subprocess.DEVNULL,
                stdout=self._printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        finally:
            os.close(writing)

    def next_line(self, until: float) -> str | None:
        """The next line told; None if the child has ended. Raises TimeoutError at `until`."""
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._reading], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise TimeoutError
            read = os.read(self._reading, 65536)
            if not read:
                return None
            self._rest += read
        line, self._rest = self._rest.split(b"\n", 1)
        return line.decode(errors="replace")

    def where(self, file: str) -> str:
        """Where the learner's code is just now, as ` (exercises.py, line 7, in decide)`."""
        self._process.send_signal(signal.SIGUSR1)
        until = time.monotonic() + WHERE_SECONDS
        with contextlib.suppress(TimeoutError):
            while (line := self.next_line(until)) is not None:
                if match := re.search(rf'{re.escape(file)}", line (\d+) in (\w+)', line):
                    return f" ({file.rpartition('/')[2]}, line {match[1]}, in {match[2]})"
        return ""

    def take_printed(self) -> str:
        """What the code has printed since the last time; of much only the end."""
        size = self._printed.seek(0, os.SEEK_END)
        self._printed.seek(max(0, size - PRINTED_BYTES))
        text = self._printed.read().decode(errors="replace")
        self._printed.seek(0)
        self._printed.truncate()
        return ("... " if size > PRINTED_BYTES else "") + text

    def ended(self, until: float) -> str:
        """How the child ended, in words. Raises TimeoutError for one that has only closed files."""
        try:
            code = self._process.wait(max(0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        if code < 0:
            known = {number.value: number.name for number in signal.Signals}
            return f"the process was ended by {known.get(-code, f'signal {-code}')}"
        return f"the process ended with exit code {code}: does the code call os._exit?"

    def close(self) -> None:
        """Stop whatever is left of it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._reading)
        self._printed.close()


def _one_child(
    exercises: Sequence[Exercise], seconds: float | None
) -> Generator[Grade, None, None]:
    """Grades until all are done, or one takes the child with it."""
    child = _Child(exercises)
    try:
        for exercise in exercises:
            began, limit = time.monotonic(), START_SECONDS
            try:
                told = _heard(child, began + limit, (BEGAN, *OUTCOMES))
                if told and told[0] == BEGAN:  # the start of Python is not the learner's time
                    began, limit = time.monotonic(), seconds or time_limit(exercise)
                    told = _heard(child, began + limit, OUTCOMES)
                found = told or ("failed", _dead(exercise, child.ended(began + limit)))
            except TimeoutError:
                told = None
                found = "failed", _endless(exercise, limit, child.where(exercise.file))
            yield Grade(exercise, *found, child.take_printed(), time.monotonic() - began)
            if told is None:
                return
    finally:
        child.close()


def _heard(child: _Child, until: float, wanted: Sequence[str]) -> tuple[str, str] | None:
    """One of the wanted outcomes, and what to tell; None if the child has ended.

    What the learner's code wrote is passed over. Raises TimeoutError at `until`.
    """
    while (line := child.next_line(until)) is not None:
        try:
            told = json.loads(line)
            if (outcome := str(told["outcome"])) in wanted:
                return outcome, "" if outcome == BEGAN else str(told["said"])
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
    return None


def _dead(exercise: Exercise, how: str) -> str:
    return f"\n  expected: {exercise.name} to come to its end\n  but:      {how}"


def _endless(exercise: Exercise, limit: float, where: str) -> str:
    return (
        f"\n  expected: {exercise.name} to come to an end within {limit:g} s"
        f"\n  but:      it was still running{where}"
        "\n  look at:  is there a loop that nothing ends, or a wait for what never comes?"
    )
