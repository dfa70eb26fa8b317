"""Which lessons and exercises there are, read from the learner's suite: it alone decides.

An exercise is a method of `ExerciseTest` in `curriculum/tests/test_sNN.py`; its letter is in the
method's name, and what it grades is what it loads. Nothing of a lesson is imported for this.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from curriculum.grading.cli.faults import CommandError

ROOT = Path(__file__).resolve().parents[3]
LESSONS = "curriculum/lessons"


@dataclass(frozen=True)
class Exercise:
    """One exercise: its lesson's folder, its letter, the name it has in the learner's file."""

    lesson: str
    letter: str
    name: str
    test: str

    @property
    def short(self) -> str:
        """`s01.b`"""
        return f"{self.lesson[:3]}.{self.letter}"

    @property
    def file(self) -> str:
        """The learner's file, from the root of the checkout."""
        return f"{LESSONS}/{self.lesson}/exercises.py"


@dataclass(frozen=True)
class Lesson:
    """One lesson: its folder, its title, its exercises in order."""

    folder: str
    title: str
    exercises: tuple[Exercise, ...]

    @property
    def short(self) -> str:
        """`s01`"""
        return self.folder[:3]


def read_lessons(root: Path = ROOT) -> list[Lesson]:
    """All lessons of the checkout, in order. Raises CommandError if there are none."""
    lessons = [
        Lesson(folder.name, _title(root, folder.name), tuple(_exercises(root, folder.name)))
        for folder in sorted((root / LESSONS).glob("s[0-9][0-9]_*"))
        if folder.is_dir()
    ]
    if not lessons:
        raise CommandError(f"no lessons in {root / LESSONS}; run this from a checkout", 3)
    return lessons


def find(lessons: Sequence[Lesson], word: str) -> tuple[Lesson, Exercise | None]:
    """What `s01`, `1`, `s01_agent_loop`, `s01.b` or `s01.run_out_of_turns` names.

    Raises CommandError for anything else.
    """
    named, _, part = word.lower().partition(".")
    number = re.fullmatch(r"s?(\d{1,2})", named)
    short = f"s{int(number[1]):02}" if number else named
    lesson = next((les for les in lessons if short in (les.short, les.folder)), None)
    if lesson is None:
        known = ", ".join(les.short for les in lessons)
        raise CommandError(f"no lesson {word!r}; there are {known}")
    if not part:
        return lesson, None
    for exercise in lesson.exercises:
        if part in (exercise.letter, exercise.name.lower()):
            return lesson, exercise
    known = ", ".join(f"{exercise.short} ({exercise.name})" for exercise in lesson.exercises)
    raise CommandError(f"no exercise {word!r}; there are {known}")


def find_exercise(lessons: Sequence[Lesson], word: str) -> tuple[Lesson, Exercise]:
    """As `find`, for a command that needs one exercise."""
    lesson, exercise = find(lessons, word)
    if exercise is None:
        raise CommandError(f"which exercise of {lesson.short}? Say for example {lesson.short}.a")
    return lesson, exercise


def _title(root: Path, folder: str) -> str:
    page = root / "lessons" / "en" / f"{folder}.md"
    try:
        with page.open(encoding="utf-8") as file:
            return file.readline().removeprefix("#").partition("·")[2].strip() or folder
    except OSError:
        return folder[4:].replace("_", " ")


def _exercises(root: Path, folder: str) -> list[Exercise]:
    suite = root / "curriculum" / "tests" / f"test_{folder[:3]}.py"
    try:
        tree = ast.parse(suite.read_bytes(), suite.name)
    except OSError:
        return []
    except (SyntaxError, ValueError) as fault:
        where = f"curriculum/tests/{suite.name}"
        message = f"{where} is no Python ({fault}); restore it with: git checkout -- {where}"
        raise CommandError(message, 3) from None
    found = []
    for case in tree.body:
        if not (isinstance(case, ast.ClassDef) and case.name == "ExerciseTest"):
            continue
        for method in case.body:
            match = isinstance(method, ast.FunctionDef) and re.match(r"test_([a-z])_", method.name)
            if isinstance(method, ast.FunctionDef) and match:
                test = f"curriculum.tests.{suite.stem}.{case.name}.{method.name}"
                found.append(Exercise(folder, match[1], _loaded(method), test))
    return sorted(found, key=lambda exercise: exercise.letter)


def _loaded(method: ast.FunctionDef) -> str:
    """The second argument of the `load(LESSON, "name")` in the method."""
    for node in ast.walk(method):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "load"
            and isinstance(node.args[1], ast.Constant)
        ):
            return str(node.args[1].value)
    raise ValueError(f"{method.name} loads nothing")
