"""Every exercise has three hints, and the suite alone says which exercises there are."""

from __future__ import annotations

import pytest

from curriculum.grading.cli.catalogue import ROOT, read_lessons
from curriculum.grading.cli.hints import LEVELS, read_hints
from curriculum.grading.cli.sources import solution_of

EXERCISES = [exercise for lesson in read_lessons() for exercise in lesson.exercises]


def test_every_lesson_has_four_exercises() -> None:
    counts = {lesson.short: len(lesson.exercises) for lesson in read_lessons()}
    assert counts.keys() >= {"s01", "s02", "s03", "s04", "s05", "s06"}
    assert set(counts.values()) == {4}


HINTED = [
    exercise
    for exercise in EXERCISES
    if (ROOT / "curriculum" / "lessons" / exercise.lesson / "hints.toml").exists()
]


def test_the_first_lessons_have_hints() -> None:
    assert {exercise.lesson[:3] for exercise in HINTED} >= {f"s0{n}" for n in range(1, 7)}


@pytest.mark.parametrize("exercise", HINTED, ids=lambda exercise: exercise.short)
def test_three_hints_that_differ_and_have_no_endless_lines(exercise) -> None:  # type: ignore[no-untyped-def]
    hints = read_hints(ROOT, exercise)
    assert len(hints) == len(set(hints)) == LEVELS
    for hint in hints:
        assert hint
        assert max(map(len, hint.splitlines())) <= 120


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.short)
def test_a_solution_is_whole_by_itself(exercise) -> None:  # type: ignore[no-untyped-def]
    text = solution_of(ROOT, exercise)
    space: dict[str, object] = {"__name__": "solution"}
    exec(compile("from __future__ import annotations\n" + text, exercise.short, "exec"), space)
    assert exercise.name in space
