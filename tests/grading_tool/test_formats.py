"""Reports for machines: each format holds every result, whatever text a submission puts in it."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from curriculum.grading.submission.formats import FORMATS, class_csv
from curriculum.grading.submission.grading import Report, Result
from tests.golden import ROOT
from tests.grading_tool.attacks import ATTACKS, HEAD

NASTY = "=cmd|'/C calc'!A0\x00\x1b[31m]]>\ud800<&\n\"quoted\","
REPORT = Report(
    "=student",
    (
        Result("s01.a", "first_request", "passed", "", 0.25),
        Result("s01.b", "run_out_of_turns", "failed", f"\n  expected: x\n  but: {NASTY}", 1.0),
        Result("s01.c", "CANCELLATION", "not started", "not handed in"),
        Result("hidden.test_more", "test_more", "tampered", NASTY, hidden=True),
    ),
)
FAULT = Report("broken", fault="no ZIP \x00")


def test_junit_counts_and_names_every_test() -> None:
    suite = ElementTree.fromstring(FORMATS["junit"](REPORT))
    counts = [suite.get(name) for name in ("tests", "failures", "skipped", "errors")]
    assert counts == ["4", "2", "1", "0"]
    kinds = [[child.tag for child in case] for case in suite]
    assert kinds == [[], ["failure"], ["skipped"], ["failure"]]
    assert suite[1][0].get("message") == "failed: expected: x"
    [error] = ElementTree.fromstring(FORMATS["junit"](FAULT))
    assert error[0].tag == "error"


def test_gradescope_gives_points_and_hides_the_hidden_tests() -> None:
    tests = json.loads(FORMATS["gradescope"](REPORT))["tests"]
    assert [test["score"] for test in tests] == [1.0, 0.0, 0.0, 0.0]
    assert [test["visibility"] for test in tests] == ["visible"] * 3 + ["hidden"]
    assert json.loads(FORMATS["gradescope"](FAULT))["score"] == 0.0


def test_json_holds_all_that_is_known() -> None:
    told = json.loads(FORMATS["json"](REPORT))
    assert told["passed"] == 1
    assert told["results"][1]["said"].endswith(NASTY)


def test_csv_is_no_formula_for_a_spreadsheet() -> None:
    for text in (FORMATS["csv"](REPORT), class_csv([REPORT, FAULT])):
        rows = list(csv.reader(io.StringIO(text)))
        assert rows[1][0] == "'=student"
        assert {len(row) for row in rows} == {len(rows[0])}


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "curriculum", "grade", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(("name", "code"), [("good", 0), ("wrong", 1)])
def test_the_command_grades_one_submission(name: str, code: int, tmp_path: Path) -> None:
    path = tmp_path / "work" / "s01_agent_loop" / "exercises.py"
    path.parent.mkdir(parents=True)
    path.write_text(HEAD + ATTACKS[name][0], "utf-8")
    done = command("s01.a", "--submission", str(tmp_path / "work"))
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.endswith(f"{1 - code} of 1 passed\n")
    report = tmp_path / "report.json"
    words = ["--format", "json", "--output", str(report)]
    assert command("s01.a", "--submission", str(tmp_path / "work"), *words).returncode == code
    [result] = json.loads(report.read_text())["results"]
    assert result["outcome"] == ATTACKS[name][1]


def test_what_is_no_submission_is_one_line_and_exit_code_3(tmp_path: Path) -> None:
    done = command("--submission", str(tmp_path / "none"))
    assert done.returncode == 3
    assert "is no folder, ZIP or git repository" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_workflow_for_a_classroom_is_printed() -> None:
    done = command("--workflow")
    assert done.returncode == 0
    assert "grade --submission ../submission" in done.stdout
    assert "persist-credentials: false" in done.stdout
