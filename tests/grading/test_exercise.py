"""What a learner meets: skips that name the file, failures that name the line, no lost suite."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden import ROOT
from tests.prose.shell import handed_out

EXERCISES = {
    "s01_agent_loop": ["first_request", "run_out_of_turns", "CANCELLATION", "adapter"],
    "s02_streaming": ["deltas_of", "WordByWord", "STREAM_OUTCOMES", "MaskedStream"],
    "s03_bash_tool": ["pair_results", "WordCount", "RESULT_STATUS", "ReadFile"],
}
FIRST = "curriculum/lessons/s01_agent_loop/exercises.py"


class Checkout:
    """A copy of the package, graded by a bare Python as a learner would."""

    def __init__(self, root: Path) -> None:
        self.root = root
        ignore = shutil.ignore_patterns("__pycache__", "test_s0[4-9]*", "test_s1*")
        shutil.copytree(ROOT / "curriculum", root / "curriculum", ignore=ignore)
        for lesson in EXERCISES:  # whatever the learner here has done by now
            name = f"curriculum/lessons/{lesson}/exercises.py"
            (root / name).write_bytes(handed_out(ROOT, name))

    def grade(self, **env: str) -> str:
        """The verbose output of the learner's suite; its last line is the verdict."""
        run = subprocess.run(
            [sys.executable, "-S", "-m", "unittest", "discover", "-s", "curriculum/tests", "-v"],
            cwd=self.root,
            env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", **env},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert run.returncode == (0 if run.stderr.strip().splitlines()[-1][:2] == "OK" else 1)
        return run.stderr

    def edit(self, old: str, new: str) -> None:
        text = (self.root / FIRST).read_text("utf-8")
        assert text.count(old) == 1
        (self.root / FIRST).write_text(text.replace(old, new), "utf-8")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def verdict(output: str) -> str:
    return output.strip().splitlines()[-1]


def test_a_fresh_clone_skips_every_exercise_by_name(checkout: Checkout) -> None:
    output = checkout.grade()
    wanted = [
        f"not started: curriculum/lessons/{lesson}/exercises.py, {name}"
        for lesson, names in EXERCISES.items()
        for name in names
    ]
    assert sorted(re.findall(r"skipped '(.*)'", output)) == sorted(wanted)
    assert verdict(output) == f"OK (skipped={len(wanted)})"


def test_the_reference_is_green_and_nothing_is_skipped(checkout: Checkout) -> None:
    output = checkout.grade(CURRICULUM_SOLUTIONS="1")
    assert verdict(output) == "OK"
    assert "skipped" not in output


def test_a_syntax_error_names_file_and_line_and_loses_no_other_test(checkout: Checkout) -> None:
    (checkout.root / FIRST).write_text("import os\n\ndef first_request(runner:\n    pass\n")
    output = checkout.grade()
    assert f"AssertionError: {FIRST}, line 3: SyntaxError: '(' was never closed" in output
    assert output.count("Traceback") == 4
    assert "test_the_run_stops_as_completed" in output
    assert re.fullmatch(rf"FAILED \(failures=4(, skipped={count() - 4})?\)", verdict(output))


def count() -> int:
    return sum(len(names) for names in EXERCISES.values())


def test_an_import_error_names_file_and_line(checkout: Checkout) -> None:
    checkout.edit("\nfrom curriculum.core.model import Model\n", "\nimport numpy_of_mine\n")
    checkout.edit(
        'prompt.\n    """\n    raise NotImplementedError', 'prompt.\n    """\n    return 1'
    )
    output = checkout.grade()
    assert re.search(rf"AssertionError: {FIRST}, line \d+: ModuleNotFoundError: .*mine", output)
    assert re.fullmatch(r"FAILED \(failures=1, skipped=\d+\)", verdict(output))


def test_an_exit_at_import_is_a_failure_and_not_the_end(checkout: Checkout) -> None:
    with (checkout.root / FIRST).open("a") as file:
        file.write("\nCANCELLATION = []\nraise SystemExit(0)\n")
    output = checkout.grade()
    assert re.search(rf"AssertionError: {FIRST}, line \d+: SystemExit: 0", output)
    assert re.fullmatch(r"FAILED \(failures=1, skipped=\d+\)", verdict(output))


def test_not_implemented_inside_a_solution_is_a_failure(checkout: Checkout) -> None:
    checkout.edit(
        'prompt.\n    """\n    raise NotImplementedError',
        'prompt.\n    """\n    print(runner)\n    raise NotImplementedError',
    )
    output = checkout.grade()
    assert re.search(r"it is half done: NotImplementedError \(exercises.py, line \d+\)", output)
    assert re.fullmatch(r"FAILED \(failures=1, skipped=\d+\)", verdict(output))


def test_another_docstring_does_not_start_an_exercise(checkout: Checkout) -> None:
    checkout.edit("A. Inspect the request", "A. Note to myself: later")
    assert verdict(checkout.grade()).startswith("OK")


def test_an_exercise_under_another_name_is_missed(checkout: Checkout) -> None:
    checkout.edit("def first_request(", "def last_request(")
    output = checkout.grade()
    assert f"{FIRST} no longer defines first_request" in output
    assert re.fullmatch(r"FAILED \(failures=1, skipped=\d+\)", verdict(output))


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"x = 1\0\n", b"# coding: klingon\n"])
def test_a_file_that_is_not_text_fails_by_name(checkout: Checkout, content: bytes) -> None:
    (checkout.root / FIRST).write_bytes(content)
    output = checkout.grade()
    assert output.count(f"AssertionError: {FIRST}") == 4
    assert verdict(output).startswith("FAILED (failures=4")


def test_a_missing_file_says_how_to_restore_it(checkout: Checkout) -> None:
    (checkout.root / FIRST).unlink()
    output = checkout.grade()
    assert output.count(f"git checkout -- {FIRST}") == 4
    assert verdict(output).startswith("FAILED (failures=4")


def test_a_failure_shows_what_a_person_would_say_and_no_frames_of_the_grader(
    checkout: Checkout,
) -> None:
    checkout.edit(
        'prompt.\n    """\n    raise NotImplementedError', 'prompt.\n    """\n    return ()'
    )
    output = checkout.grade()
    assert "expected: the messages of the first request" in output
    assert 'look at:  lesson s01, "Run it and observe it"' in output
    assert "curriculum/grading" not in output


@pytest.mark.parametrize(
    ("line", "imported"),
    [
        ("from curriculum.lessons.s01_agent_loop.solutions import CANCELLATION", "solutions"),
        ("from .solutions import CANCELLATION", "solutions.CANCELLATION"),
        ("from . import solutions", "solutions"),
        ("import curriculum.grading.stream_outcomes", "curriculum.grading.stream_outcomes"),
        ("from curriculum.grading import masked_stream", "curriculum.grading.masked_stream"),
        ("import curriculum.tests.under_test", "curriculum.tests.under_test"),
    ],
)
def test_peeking_at_the_answers_is_a_failure(checkout: Checkout, line: str, imported: str) -> None:
    with (checkout.root / FIRST).open("a") as file:
        file.write(f"\nCANCELLATION = []\n{line}\n")
    output = checkout.grade()
    assert re.search(rf"{FIRST}, line \d+ imports .*{imported}.*; what is graded has", output)
    assert verdict(output).startswith("FAILED (failures=1, skipped=")


def test_kits_may_be_imported(checkout: Checkout) -> None:
    with (checkout.root / FIRST).open("a") as file:
        file.write("\nfrom curriculum.grading.model_conformance import check_model\n")
        file.write("from curriculum.grading.transition_table import check_table\n")
        file.write("CANCELLATION = []\n")
    assert "the table is empty; begin with the rows of the state 'ready'" in checkout.grade()
