"""Submissions in the box: none passes that has not earned it, and all leave nothing behind."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from curriculum.grading.cli.catalogue import ROOT, Lesson, read_lessons
from curriculum.grading.submission.box import OUTER_IDS, missing
from curriculum.grading.submission.commands import chosen
from curriculum.grading.submission.grading import Report, grade_submission
from tests.grading_tool.attacks import ATTACKS, GOOD, HEAD, body

A = ["s01.a"]


def lessons(words: Sequence[str]) -> list[Lesson]:
    return chosen(read_lessons(), words)


def handed_in(folder: Path, text: str, lesson: str = "s01_agent_loop") -> Path:
    path = folder / lesson / "exercises.py"
    path.parent.mkdir(parents=True)
    path.write_text(HEAD + text, "utf-8")
    return folder


def graded(path: Path, seconds: float = 3.0) -> Report:
    return grade_submission(path, lessons(A), seconds=seconds)


def left_over() -> list[str]:
    """Processes of any box that are still there."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if folder.stat().st_uid in OUTER_IDS and (folder / "cmdline").read_bytes():
                found.append(folder.name)
        except OSError:
            continue
    return found


def test_this_system_can_isolate_submissions() -> None:
    assert missing() == ""


@pytest.mark.parametrize("name", ATTACKS)
def test_a_submission_gets_what_it_has_earned_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    text, outcome, said = ATTACKS[name]
    report = graded(handed_in(tmp_path, text))
    [result] = report.results
    assert (result.outcome, report.fault) == (outcome, ""), result.said
    assert said in result.said
    deadline = time.monotonic() + 20
    while left_over() and time.monotonic() < deadline:
        pass  # what was killed is there until the kernel has taken it down
    assert left_over() == []


@pytest.mark.parametrize("lesson", [lesson.short for lesson in read_lessons()])
def test_the_reference_passes_in_the_box(lesson: str, tmp_path: Path) -> None:
    [one] = lessons([lesson])
    for folder in {one.folder, "s05_sessions"}:  # s06 builds on what was done in s05
        solutions = (ROOT / "curriculum/lessons" / folder / "solutions.py").read_text("utf-8")
        text = solutions.replace("from __future__ import annotations", "", 1)
        handed_in(tmp_path, text.replace("sessions.solutions", "sessions.exercises"), folder)
    report = grade_submission(tmp_path, lessons([lesson, "s05.a"]))
    outcomes = {r.name: (r.outcome, r.said) for r in report.results if r.name[:3] == lesson}
    assert outcomes == {exercise.short: ("passed", "") for exercise in one.exercises}


def test_a_zip_a_git_folder_and_a_folder_are_the_same(tmp_path: Path) -> None:
    folder = handed_in(tmp_path / "work", GOOD)
    archive = tmp_path / "work.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.write(folder / "s01_agent_loop/exercises.py", "top/s01_agent_loop/exercises.py")
    who = ["-c", "user.name=Learner", "-c", "user.email=learner@example.org"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "done"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "clone", "-q", "--bare", folder, bare], check=True)
    for path in (folder, archive, bare):
        assert [result.outcome for result in graded(path).results] == ["passed"], path


def test_a_link_out_of_the_submission_is_refused(tmp_path: Path) -> None:
    solutions = ROOT / "curriculum/lessons/s01_agent_loop/solutions.py"
    path = tmp_path / "one" / "s01_agent_loop" / "exercises.py"
    path.parent.mkdir(parents=True)
    path.symlink_to(solutions)
    assert "is a link; hand in the file itself" in graded(tmp_path / "one").fault
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "s01_agent_loop").symlink_to(solutions.parent)
    assert "holds no exercises" in graded(tmp_path / "two").fault
    archive = tmp_path / "three.zip"
    with zipfile.ZipFile(archive, "w") as file:
        entry = zipfile.ZipInfo("s01_agent_loop/exercises.py")
        entry.external_attr = 0o120777 << 16
        file.writestr(entry, str(solutions))
    assert "is a link" in graded(archive).fault


def test_a_pipe_and_a_huge_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "one" / "s01_agent_loop" / "exercises.py"
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    assert "is no regular file" in graded(tmp_path / "one").fault
    huge = tmp_path / "two.zip"
    with zipfile.ZipFile(huge, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("s01_agent_loop/exercises.py", b"#" * (1 << 28))
    assert "is larger than" in graded(huge).fault


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"x" * 100])
def test_what_is_no_submission_is_one_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "work.zip"
    path.write_bytes(content)
    assert graded(path).fault.count("\n") == 0
    assert "is no folder, ZIP or git repository" in graded(path).fault


def test_hidden_tests_are_run_and_marked(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "test_more.py").write_text(
        "import unittest\n"
        "from curriculum.grading.exercise import load\n\n\n"
        "class MoreTest(unittest.TestCase):\n"
        "    def test_it_is_callable(self) -> None:\n"
        "        self.assertTrue(callable(load('s01_agent_loop', 'first_request')))\n"
        "        self.assertTrue(load('s01_agent_loop', 'first_request').__doc__)\n"
    )
    folder = handed_in(tmp_path / "work", GOOD)
    report = grade_submission(folder, lessons(A), hidden)
    assert [(r.name, r.outcome, r.hidden) for r in report.results] == [
        ("s01.a", "passed", False),
        ("hidden.test_more", "failed", True),
    ]


def test_nothing_outside_can_be_reached_not_even_on_this_machine(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)\nreturn ()"
        [result] = graded(handed_in(tmp_path, body(code))).results
    assert "ConnectionRefusedError" in result.said


def test_the_instructor_is_told_what_no_solution_needs(tmp_path: Path) -> None:
    report = graded(handed_in(tmp_path, "import gc\n" + GOOD))
    assert report.notes == ("s01_agent_loop, line 2: gc",)
