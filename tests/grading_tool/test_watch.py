"""`watch`: a save is graded at once, only what it has changed, and a hang does not stop it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence

import pytest

from curriculum.grading.cli import watching as watching_module
from curriculum.grading.cli.catalogue import Exercise, read_lessons
from curriculum.grading.cli.graded import Grade
from curriculum.grading.cli.progress import Progress
from curriculum.grading.cli.watching import Watch
from tests.grading_tool.desk import DONE_A, DONE_B, FIRST, Desk


@pytest.fixture
def watching(desk: Desk, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    """Watches the lessons that the test names by a parameter: all of them without one."""
    process = subprocess.Popen(
        [sys.executable, "-m", "curriculum", "watch", *getattr(request, "param", [])],
        cwd=desk.root,
        env=desk.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def read_until(process: subprocess.Popen[str], mark: str) -> str:
    """What it prints up to the line that holds `mark`."""
    assert process.stdout
    text = ""
    for line in process.stdout:
        text += line
        if mark in line:
            return text
    raise AssertionError(f"it ended: {text}")


def test_a_save_shows_its_grade_and_progress_keeps_it(
    desk: Desk, watching: subprocess.Popen[str]
) -> None:
    assert "save a file to see its grade" in read_until(watching, "watching")
    desk.solve("first_request", DONE_A)
    assert "s01.a  passed" in read_until(watching, "next:")
    desk.solve("run_out_of_turns", "return None")
    text = read_until(watching, "next:")
    assert "s01.b  not yet" in text
    assert "expected: the RunResult" in text
    assert "1 of 12 exercises passed" in desk.ok()
    watching.send_signal(signal.SIGINT)
    assert watching.wait(timeout=60) == 130


@pytest.mark.parametrize("watching", [["s02"]], indirect=True)
def test_a_lesson_that_is_named_is_graded_at_the_start(watching: subprocess.Popen[str]) -> None:
    text = read_until(watching, "next: s02.a, deltas_of in ")
    assert "s02.d  -" in text
    assert "s01" not in text


def test_without_the_package_it_says_what_to_install(desk: Desk) -> None:
    done = desk.run("watch")
    assert done.returncode == 3
    assert "needs the package watchfiles" in done.stderr
    assert done.stderr.count("\n") == 1


def test_only_what_a_save_has_changed_is_graded_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    graded: list[str] = []

    def spy(exercises: Sequence[Exercise]) -> Iterator[Grade]:
        graded.append(" ".join(exercise.letter for exercise in exercises))
        yield from (Grade(exercise, "not started") for exercise in exercises)

    monkeypatch.setattr(watching_module, "grade_all", spy)
    [lesson] = [lesson for lesson in read_lessons(desk.root) if lesson.short == "s01"]
    watch = Watch(desk.root, Progress(desk.root))
    watch.grade(lesson)
    desk.solve("first_request", DONE_A)
    watch.grade(lesson)
    desk.solve("run_out_of_turns", DONE_B)
    watch.grade(lesson)
    watch.grade(lesson)
    path = desk.root / FIRST
    path.write_text(path.read_text("utf-8").replace(DONE_A, "return helper()"), "utf-8")
    watch.grade(lesson)
    with path.open("a", encoding="utf-8") as file:
        file.write("\n\ndef helper():\n    return ()\n")
    watch.grade(lesson)
    assert graded == ["a b c d", "a", "b", "a", "a"]
    assert capsys.readouterr().out.count("s01.d  -") == 6
