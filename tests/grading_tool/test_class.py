"""A class of generated submissions, good, wrong, broken and hostile: `make class` grades 200."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from curriculum.grading.cli.catalogue import read_lessons
from curriculum.grading.cli.faults import CommandError
from curriculum.grading.submission import pools
from curriculum.grading.submission.classes import grade_class
from curriculum.grading.submission.commands import chosen
from curriculum.grading.submission.grading import Report, Terms, Work
from curriculum.grading.submission.pools import Here
from curriculum.grading.submission.shown import Show
from tests.golden import ROOT
from tests.grading_tool.attacks import ATTACKS, HEAD

SIZE = int(os.environ.get("CLASS_SIZE", "12"))
TERMS = Terms(tuple(chosen(read_lessons(), ["s01.a"])))
QUICK = replace(TERMS, seconds=5.0)  # for a class in which some have no end
FEW = ("good", "wrong", "exit 0", "unittest patched")


def generate(folder: Path, size: int, names: tuple[str, ...] = tuple(ATTACKS)) -> dict[str, str]:
    """Submissions, each a variation of an attack; returns the outcome that each has earned."""
    outcomes = {}
    for number in range(size):
        name = names[number % len(names)]
        text, outcome, _ = ATTACKS[name]
        student = f"student-{number:03}"
        path = folder / student / "s01_agent_loop" / "exercises.py"
        path.parent.mkdir(parents=True)
        path.write_text(f"{HEAD}# {student}\n{text}", "utf-8")
        outcomes[student] = outcome
    return outcomes


def outcomes_in(output: Path) -> dict[str, str]:
    with (output / "class.csv").open(encoding="utf-8") as file:
        return {row["submission"]: row["s01.a"] for row in csv.DictReader(file)}


def test_every_submission_gets_what_it_has_earned(tmp_path: Path) -> None:
    earned = generate(tmp_path / "class", SIZE)
    (tmp_path / "class" / "broken.zip").write_bytes(b"no archive")
    (tmp_path / "class" / "link").symlink_to("/etc")
    shown: list[int] = []
    reports = grade_class(
        tmp_path / "class",
        tmp_path / "out",
        QUICK,
        Here(2),
        lambda done, count, r: shown.append(done),
    )
    assert shown == list(range(1, SIZE + 3))
    assert outcomes_in(tmp_path / "out") == {**earned, "broken.zip": "", "link": ""}
    assert [report.submission for report in reports if report.fault] == ["broken.zip", "link"]


def test_a_class_goes_on_where_it_stopped_and_grades_again_what_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate(tmp_path / "class", 4, FEW)
    graded: list[str] = []
    real = pools.grade

    def spy(work: Work) -> Report:
        graded.append(work.name)
        if len(graded) == 3:
            raise KeyboardInterrupt
        return real(work)

    monkeypatch.setattr(pools, "grade", spy)

    def run() -> None:
        grade_class(tmp_path / "class", tmp_path / "out", TERMS, Here(1), lambda *given: None)

    with pytest.raises(KeyboardInterrupt):
        run()
    kept = {path.name for path in (tmp_path / "out").glob("*.json")}
    assert {"student-000.json", "student-001.json"} <= kept
    stopped = len(graded)
    run()
    assert graded[stopped:][0] == "student-002"
    again = len(graded)
    run()
    assert graded[again:] == []
    path = tmp_path / "class" / "student-001" / "s01_agent_loop" / "exercises.py"
    path.write_text(HEAD + ATTACKS["good"][0], "utf-8")
    run()
    assert graded[again:] == ["student-001"]
    assert outcomes_in(tmp_path / "out")["student-001"] == "passed"


def test_a_fault_of_the_grader_itself_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate(tmp_path / "class", 2, ("good",))

    def run() -> list[Report]:
        return grade_class(
            tmp_path / "class", tmp_path / "out", TERMS, Here(2), lambda *given: None
        )

    real = pools.grade

    def fails(work: Work) -> Report:
        if work.name == "student-000":
            raise OSError("no space left")
        return real(work)

    monkeypatch.setattr(pools, "grade", fails)
    assert [report.fault for report in run()] == ["OSError: no space left", ""]
    assert outcomes_in(tmp_path / "out") == {"student-000": "", "student-001": "passed"}
    monkeypatch.setattr(pools, "grade", real)
    assert [report.fault for report in run()] == ["", ""]  # it was not the submission's fault


def test_odd_names_cost_nothing_and_each_has_its_own_report(tmp_path: Path) -> None:
    names = [b"bad\xff", b"n" * 240, b"n" * 241, b"class", b"=cmd|x", b"two\nlines"]
    for name in names:
        path = os.path.join(os.fsencode(tmp_path), b"all", name, b"s01_agent_loop")
        os.makedirs(path)
        with open(os.path.join(path, b"exercises.py"), "w") as file:
            file.write(HEAD + ATTACKS["good"][0])

    def run() -> list[Report]:
        output = tmp_path / "out"
        return grade_class(tmp_path / "all", output, TERMS, Here(2), lambda *given: None, "csv")

    assert [report.passed for report in run()] == [1] * len(names)
    outcomes = outcomes_in(tmp_path / "out")
    assert list(outcomes.values()) == ["passed"] * len(names)
    assert {"bad\\udcff", "class", "'=cmd|x", "two\nlines"} <= outcomes.keys()
    assert len(list((tmp_path / "out").glob("*.csv"))) == len(names) + 1
    assert len(list((tmp_path / "out").glob("*.json"))) == len(names)


def test_one_grader_writes_to_a_folder_and_an_interrupted_one_keeps_the_table(
    tmp_path: Path,
) -> None:
    generate(tmp_path / "class", 1, ("good",))

    def run(show: Show) -> None:
        grade_class(tmp_path / "class", tmp_path / "out", TERMS, Here(1), show)

    def second(done: int, count: int, report: Report) -> None:
        with pytest.raises(CommandError, match="another grader writes to"):
            run(lambda *given: None)
        raise KeyboardInterrupt

    run(lambda *given: None)
    table = (tmp_path / "out" / "class.csv").read_text()
    with pytest.raises(KeyboardInterrupt):
        run(second)
    assert (tmp_path / "out" / "class.csv").read_text() == table


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "curriculum", "grade-class", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_command_tells_each_submission_and_writes_the_reports(tmp_path: Path) -> None:
    generate(tmp_path / "class", 2, FEW)
    words = [str(tmp_path / "class"), "--lessons", "s01.a", "--format", "gradescope"]
    done = command(*words)
    assert done.returncode == 0
    assert "2/2" in done.stderr
    assert "student-000: 1 of 1 passed" in done.stderr
    output = tmp_path / "class-reports"
    assert done.stdout.startswith("2 submissions: 0 not graded, 0 changed the grader")
    assert outcomes_in(output) == {"student-000": "passed", "student-001": "failed"}
    points = json.loads((output / "student-000.gradescope").read_text())["tests"]
    assert [test["score"] for test in points] == [1.0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{}/none"], "cannot be read: No such file"),
        (["{}"], "holds no submissions"),
        (["{}", "--jobs", "0"], "--jobs must be at least 1"),
        (["{}", "--jobs", "1000000"], "at most 256"),
        (["{}", "--output", "{}/out"], "is inside"),
    ],
)
def test_a_class_that_cannot_be_graded_is_one_line(
    words: list[str], said: str, tmp_path: Path
) -> None:
    done = command(*[word.format(tmp_path) for word in words])
    assert done.returncode in (2, 3)
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
