"""What graders say of a fault: whose it is, and in which line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from curriculum.grading import mistakes
from curriculum.grading.mistakes import attempt, graders_own, mistake, place


def defined_in(path: Path, text: str) -> Callable[..., object]:
    """The function `work` of a file with that text."""
    space: dict[str, object] = {"json": json}
    exec(compile(text, str(path), "exec"), space)
    work = space["work"]
    assert callable(work)
    return work


def fault_of(work: Callable[..., object], *given: object) -> BaseException:
    try:
        work(*given)
    except Exception as fault:
        frames = fault.__traceback__
        return fault.with_traceback(frames and frames.tb_next)  # without this very frame
    raise AssertionError("nothing was raised")


def test_a_fault_inside_the_standard_library_is_told_with_the_learners_line(tmp_path: Path) -> None:
    text = "def work(data):\n    return json.loads(data)\n"
    fault = fault_of(defined_in(tmp_path / "exercises.py", text), "{")
    assert place(fault) == " (exercises.py, line 2)"
    assert graders_own(fault) == ""


def test_the_learners_line_comes_before_that_of_what_it_has_called(tmp_path: Path) -> None:
    helper = defined_in(tmp_path / "helper.py", "def work():\n    raise OSError\n")
    mine = defined_in(tmp_path / "exercises.py", "\n\ndef work(called):\n    called()\n")
    assert place(fault_of(mine, helper)) == " (exercises.py, line 4)"
    assert place(fault_of(helper)) == " (helper.py, line 2)"


def test_a_fault_of_a_grader_is_its_own_until_the_learners_code_has_run(tmp_path: Path) -> None:
    text = "def work(called=None):\n    called() if called else json.loads('{')\n"
    grader = defined_in(mistakes.GRADING / "s99.py", text)
    told = graders_own(fault_of(grader))
    assert told.startswith("the grader itself has failed, on what it was given: JSONDecodeError: ")
    assert told.endswith(" (s99.py, line 2)")
    mine = defined_in(tmp_path / "exercises.py", "def work():\n    raise OSError\n")
    assert graders_own(fault_of(grader, mine)) == ""


def test_neither_a_mistake_nor_a_fault_without_a_grader_is_the_graders(tmp_path: Path) -> None:
    grader = defined_in(mistakes.GRADING / "s99.py", "def work():\n    assert 1 > 2, 'told'\n")
    assert graders_own(fault_of(grader)) == ""
    hidden = defined_in(Path("<test_hidden>"), "def work():\n    None.content\n")
    assert graders_own(fault_of(hidden)) == ""


def test_who_takes_all_memory_is_not_told_that_the_grader_has_failed() -> None:
    grader = defined_in(mistakes.GRADING / "s99.py", "def work():\n    raise MemoryError\n")
    assert graders_own(fault_of(grader)) == ""


@pytest.mark.parametrize("saw", ["None", "\n    - one\n    - two"])
def test_no_line_of_a_mistake_ends_in_blanks(saw: str) -> None:
    lines = str(mistake("much", saw, "s01")).splitlines()
    assert lines == [line.rstrip() for line in lines]


def test_an_attempt_tells_what_was_raised_in_the_learners_file(tmp_path: Path) -> None:
    mine = defined_in(tmp_path / "exercises.py", "def work():\n    raise KeyError('x')\n")
    told = r"it raised KeyError: 'x' \(exercises.py, line 2\)"
    with pytest.raises(AssertionError, match=told), attempt("work", "s01"):
        mine()
