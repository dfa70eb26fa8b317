"""What the learner sees: plain lines, with a little colour where the terminal shows it.

All text that comes from the learner's code passes `escape` before it is printed.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

from curriculum.core.visible import escape
from curriculum.grading.cli.catalogue import ROOT, Exercise, Lesson, read_lessons
from curriculum.grading.cli.faults import program
from curriculum.grading.cli.graded import Grade
from curriculum.grading.cli.progress import Progress
from curriculum.grading.cli.sources import is_started

GREEN, RED, YELLOW, DIM, BOLD = "32", "31", "33", "2", "1"
MARKS = {
    "passed": ("passed", GREEN),
    "failed": ("not yet", RED),
    "not started": ("-", DIM),
    "not graded": ("?", YELLOW),
}
PRINTED_LINES = 12


def paint(text: str, style: str) -> str:
    """`text` in that style, if standard output is a terminal that shows it."""
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return text if plain or not sys.stdout.isatty() else f"\033[{style}m{text}\033[0m"


def show_grade(grade: Grade) -> None:
    """One exercise: its verdict, and for a failure what a person would say."""
    exercise = grade.exercise
    word, style = MARKS[grade.outcome]
    was_run = grade.outcome in ("passed", "failed")
    timing = f" {grade.seconds:6.2f} s" if was_run else ""
    print(f"{exercise.short}  {paint(f'{word:7}', style)} {exercise.name}{paint(timing, DIM)}")
    if grade.outcome == "not graded":
        print(textwrap.indent(f"not graded: {escape(grade.said)}", "    "))
    if grade.outcome == "failed":
        print(textwrap.indent(textwrap.dedent(escape(grade.said).strip("\n")), "    "))
        if grade.printed.strip():
            lines = escape(grade.printed).splitlines()
            cut = " (the end of it)" if len(lines) > PRINTED_LINES else ""
            print(f"    your code has printed{cut}:")
            for line in lines[-PRINTED_LINES:]:
                print(f"    | {line}")


def show_total(grades: Sequence[Grade]) -> None:
    """The last line of a grading, and what to do next."""
    passed = sum(grade.outcome == "passed" for grade in grades)
    failed = [grade.exercise for grade in grades if grade.outcome == "failed"]
    waiting = [grade.exercise for grade in grades if grade.outcome == "not started"]
    unknown = sum(grade.outcome == "not graded" for grade in grades)
    more = f", {unknown} not graded" if unknown else ""
    print(f"\n{passed} passed, {len(failed)} not yet, {len(waiting)} not started{more}")
    if failed:
        print(f"next: edit {failed[0].file}; stuck? {program()} hint {failed[0].short}")
    elif waiting:
        print(f"next: {waiting[0].short}, {waiting[0].name} in {waiting[0].file}")
    elif not unknown and os.environ.get("CURRICULUM_SOLUTIONS") != "1":
        _show_next({grade.exercise.lesson for grade in grades})


def _show_next(graded: set[str]) -> None:
    """What is next when all that was graded has passed."""
    lessons, progress = read_lessons(), Progress(ROOT)
    following = next_lesson(lessons, progress)
    if following is None:
        print("all exercises of all lessons have passed")
    elif following.folder in graded:
        first = next(ex for ex in following.exercises if "passed" not in progress.of(ex))
        print(f"next: {first.short}, {first.name} in {first.file}")
    else:
        print(f"next: {program()} start {following.short}")


def show_board(root: Path, lessons: Sequence[Lesson], progress: Progress) -> None:
    """All lessons: what is read, started, passed."""
    width = max(len(lesson.title) for lesson in lessons)
    print(f"{'':5}{'':{width}}  read  exercises")
    for lesson in lessons:
        read = "yes" if progress.is_read(lesson) else "-"
        states = [_state(root, exercise, progress) for exercise in lesson.exercises]
        exercises = "  ".join(
            f"{exercise.letter} {paint(f'{word:7}', style)}"
            for exercise, (word, style) in zip(lesson.exercises, states, strict=True)
        )
        print(f"{lesson.short}  {lesson.title:{width}}  {read:4}  {exercises}".rstrip())
    every = [exercise for lesson in lessons for exercise in lesson.exercises]
    passed = sum("passed" in progress.of(exercise) for exercise in every)
    print(f"\n{passed} of {len(every)} exercises passed")
    following = next_lesson(lessons, progress)
    if following:
        print(f"next: {program()} start {following.short}")


def next_lesson(lessons: Sequence[Lesson], progress: Progress) -> Lesson | None:
    """The first lesson with an exercise that has not passed."""
    return next(
        (les for les in lessons if not all("passed" in progress.of(ex) for ex in les.exercises)),
        None,
    )


def _state(root: Path, exercise: Exercise, progress: Progress) -> tuple[str, str]:
    known = progress.of(exercise)
    if "passed" in known:
        broken = known.get("last") == "failed"
        return ("broken", YELLOW) if broken else ("passed", GREEN)
    return ("started", YELLOW) if is_started(root, exercise) else ("-", DIM)
