"""Who forges a verdict, exchanges the grader for a moment or reads what is hidden does not pass."""

from __future__ import annotations

import os
import subprocess
import time
from _blake2 import blake2b
from pathlib import Path

import pytest

from curriculum.grading.cli.catalogue import ROOT, read_lessons
from curriculum.grading.cli.faults import CommandError
from curriculum.grading.submission.commands import chosen
from curriculum.grading.submission.grading import Lines, Report, Terms, grade, work_of
from curriculum.grading.submission.lines import signed

LESSON = "s10_concurrency"
STUB = "def overlaps(events):\n    raise NotImplementedError"
# Walks from a handler's frame to the judge's, and puts a line in front of its own.
SIGNALLED = """\
import os, signal
def overlaps(events):
    def handler(n, frame):
        while frame:
            if "tell" in frame.f_locals and "names" in frame.f_locals:
                TELL
                os._exit(0)
            frame = frame.f_back
    signal.signal(signal.SIGUSR1, handler)
    signal.raise_signal(signal.SIGUSR1)
    return set()
"""
FORGERY = 'frame.f_locals["tell"](frame.f_locals["names"][0], "passed")'


def graded(
    folder: Path, text: str, words: tuple[str, ...] = ("s10.a",), hidden: str = ""
) -> Report:
    stubs = (ROOT / "curriculum/lessons" / LESSON / "exercises.py").read_text("utf-8")
    path = folder / LESSON / "exercises.py"
    path.parent.mkdir()
    path.write_text(f"{stubs}\n\n{text}", "utf-8")
    lessons = tuple(chosen(read_lessons(), list(words)))
    tests = {"test_private": hidden} if hidden else {}
    return grade(work_of(folder, Terms(lessons, tests, seconds=60.0)))


def test_a_handler_of_a_signal_gets_no_frame_and_works(tmp_path: Path) -> None:
    [result] = graded(tmp_path, SIGNALLED.replace("TELL", FORGERY)).results
    assert (result.outcome, "has spoken" in result.said) == ("failed", False), result.said


HANDLERS = {"a function": "handler", "a place to keep it": "kept.__setitem__"}


@pytest.mark.parametrize("handler", HANDLERS.values(), ids=HANDLERS)
def test_whatever_hears_a_signal_is_called_with_its_number(handler: str, tmp_path: Path) -> None:
    text = (
        "import signal\nkept = {}\ndef handler(number, frame): kept[number] = frame\n"
        f"def overlaps(events):\n    signal.signal(signal.SIGUSR1, {handler})\n"
        "    signal.raise_signal(signal.SIGUSR1)\n    raise LookupError(kept)\n"
    )
    [result] = graded(tmp_path, text).results
    assert f"LookupError: {{{10}: None}}" in result.said


def test_memory_is_not_read_by_the_way_of_a_library(tmp_path: Path) -> None:
    text = (
        "import multiprocessing.sharedctypes, operator\n"
        "ct = operator.attrgetter('cty' + 'pes')(multiprocessing.sharedctypes)\n"
        "def overlaps(events): return ct.string_at(id(overlaps), 16)\n"
    )
    [result] = graded(tmp_path, text).results
    assert (result.outcome, "ctypes.string_at" in result.said) == ("tampered", True), result.said


def test_the_secrets_of_a_hidden_test_cannot_be_imported(tmp_path: Path) -> None:
    hidden = (
        'import unittest\nfrom curriculum.grading.exercise import load\nSECRET = {"q": 12345}\n'
        "class PrivateTest(unittest.TestCase):\n    def test_it(self):\n"
        f'        self.assertEqual(load("{LESSON}", "overlaps")([]), SECRET)\n'
    )
    told = "what is graded has to be your own", "No module named"
    ways = (
        "import hidden_tests.test_private as t\n    return dict(t.SECRET)",
        "import importlib\n    return importlib.import_module('hidden_'\n"
        "        'tests.test_private').SECRET",
    )
    for number, (way, said) in enumerate(zip(ways, told, strict=True)):
        folder = tmp_path / str(number)
        folder.mkdir()
        report = graded(folder, f"def overlaps(events):\n    {way}\n", hidden=hidden)
        assert [result.outcome for result in report.results] == ["failed", "failed"], report
        assert said in report.results[1].said


EXCHANGED = {
    "a grader, back in tearDown": """\
import curriculum.core
def overlaps(events):
    g, case = curriculum.grading.s10, curriculum.tests.test_s10.ExerciseTest
    real = g._check_overlaps
    def put_back(self):
        g._check_overlaps = real
        del case.tearDown
    g._check_overlaps = lambda *a: None; case.tearDown = put_back
    return set()
""",
    "a grader by stealth, back in tearDown": """\
import sys
def overlaps(events):
    g = sys.modules["curriculum.grading.s10"]
    case = sys.modules["curriculum.tests.test_s10"].ExerciseTest
    real = g._check_overlaps
    def put_back(self):
        g._check_overlaps = real
        del case.tearDown
    g._check_overlaps = lambda *a: None; case.tearDown = put_back
    return set()
""",
    "a grader's table, back in tearDown": """\
import sys
def overlaps(events):
    g = vars(sys.modules["curriculum.grading.s10"])
    case = sys.modules["curriculum.tests.test_s10"].ExerciseTest
    real = g["_check_overlaps"]
    def put_back(self):
        g["_check_overlaps"] = real
        del case.tearDown
    g["_check_overlaps"] = lambda *a: None; case.tearDown = put_back
    return set()
""",
    "a name in front of a builtin": """\
import sys
def overlaps(events):
    vars(sys.modules["curriculum.grading.s10"])["range"] = lambda *given: ()
    return set()
""",
    "a name in front of a builtin, back at once": """\
import sys
def overlaps(events):
    g = sys.modules["curriculum.grading.s10"]
    g.range = lambda *given: ()
    del g.range
    return set()
""",
    "unittest, back in tearDown": """\
import unittest
def overlaps(events):
    case = unittest.TestCase
    kept = {name: thing for name, thing in vars(case).items() if name.startswith("assert")}
    old = case.tearDown
    def put_back(self):
        for name, thing in kept.items(): setattr(case, name, thing)
        case.tearDown = old
    for name in kept: setattr(case, name, lambda *given, **named: None)
    case.tearDown = put_back
    return set()
""",
}


@pytest.mark.parametrize("way", EXCHANGED)
def test_a_grader_that_is_exchanged_for_a_moment_lets_nothing_pass(
    way: str, tmp_path: Path
) -> None:
    [result] = graded(tmp_path, EXCHANGED[way]).results
    wanted = "failed" if way == "a grader, back in tearDown" else "tampered"
    assert result.outcome == wanted, result


# Lines that are signed, but are not what the judge says at that place.
FORGED = {
    "an outcome that is none": (1, "test", "excellent", ""),
    "a second beginning": (1, "test", "began", ""),
    "of another test": (1, "other", "passed", ""),
    "of another place": (0, "test", "passed", ""),
    "without what is said": (1, "test", "passed"),
    "without a place": ("one", "test", "passed", ""),
}


@pytest.mark.parametrize("parts", FORGED.values(), ids=FORGED)
def test_a_signed_line_that_is_not_the_judges_is_tampering(parts: tuple[object, ...]) -> None:
    signer = blake2b(key=b"word", digest_size=16)
    data = b" ".join(str(part).encode().hex().encode() or b"-" for part in parts)
    mac = signer.copy()
    mac.update(data)
    lines = [
        signed(signer, 0, "test", "began", ""),
        f"{mac.hexdigest()} {data.decode()}\n".encode(),
    ]
    reading, writing = os.pipe()
    with subprocess.Popen(["true"]) as process, open(writing, "wb") as file:
        file.write(b"no line of ours\n\xff\n".join([b"", *lines]))
        file.flush()
        told = Lines(reading, "word", process)
        assert told.next(time.monotonic() + 60, "test", ("began",)) == ("began", "")
        outcome = told.next(time.monotonic() + 60, "test", ("passed", "failed"))
    os.close(reading)
    assert outcome == ("tampered", "the code under test has spoken for the grader")


def test_what_the_digest_does_not_see_is_not_graded(tmp_path: Path) -> None:
    graded(tmp_path, "")
    lesson = tmp_path / LESSON
    (tmp_path / "__pycache__").mkdir()
    lesson.rename(tmp_path / "__pycache__" / LESSON)
    with pytest.raises(CommandError, match="holds no exercises"):
        work_of(tmp_path, Terms(tuple(chosen(read_lessons(), ["s10.a"]))))
