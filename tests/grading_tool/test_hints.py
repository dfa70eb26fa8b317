"""Every exercise has three hints, and the suite alone says which exercises there are."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len

from curriculum.grading.cli.catalogue import ROOT, Exercise, read_lessons
from curriculum.grading.cli.hints import FILES, LEVELS, read_hints, wrapped
from curriculum.grading.cli.sources import solution_of

EXERCISES = [exercise for lesson in read_lessons() for exercise in lesson.exercises]


def test_every_lesson_has_four_exercises() -> None:
    counts = {lesson.short: len(lesson.exercises) for lesson in read_lessons()}
    assert counts.keys() >= {"s01", "s02", "s03", "s04", "s05", "s06"}
    assert set(counts.values()) == {4}


@pytest.mark.parametrize("lang", FILES)
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.short)
def test_three_hints_that_differ_and_have_no_endless_lines(exercise: Exercise, lang: str) -> None:
    hints = read_hints(ROOT, exercise, lang)
    assert len(hints) == len(set(hints)) == LEVELS
    for hint in hints:
        assert hint
        assert max(cell_len(line) for line in hint.splitlines()) <= 120
        assert bool(re.search("[\u4e00-\u9fff]", hint)) == (lang == "zh")


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.short)
def test_both_languages_name_the_same_code(exercise: Exercise) -> None:
    """Words with an underscore are names: what one language tells of, the other tells of too."""
    english, chinese = (" ".join(read_hints(ROOT, exercise, lang)) for lang in ("en", "zh"))
    names = [set(re.findall(r"[A-Za-z.]+_[A-Za-z_]+", text)) for text in (english, chinese)]
    assert names[0] ^ names[1] <= {"SOME_ID"}


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.short)
def test_a_solution_is_whole_by_itself(exercise) -> None:  # type: ignore[no-untyped-def]
    text = solution_of(ROOT, exercise)
    space: dict[str, object] = {"__name__": "solution"}
    exec(compile("from __future__ import annotations\n" + text, exercise.short, "exec"), space)
    assert exercise.name in space


@pytest.mark.parametrize("columns", [40, 72, 200])
@pytest.mark.parametrize("lang", FILES)
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.short)
def test_a_hint_fits_the_terminal_and_no_name_is_cut(
    exercise: Exercise, lang: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    wide = read_hints(ROOT, exercise, lang)
    monkeypatch.setenv("COLUMNS", str(columns))
    for hint, whole in zip(read_hints(ROOT, exercise, lang), wide, strict=True):
        lines = hint.splitlines()
        for line in lines:
            assert cell_len(line) <= min(columns, 100) or " " not in line
        names = re.findall(r"[!-~]+", hint)
        assert names == re.findall(r"[!-~]+", whole)
        assert "".join(hint.split()) == "".join(whole.split())


def test_lines_of_the_file_are_joined_as_the_language_does_it() -> None:
    assert wrapped("one\ntwo\n three\n", 99) == "one two three"
    assert wrapped("用\nmore=True\n调用。\nchunks 为\n空；（见\nx）", 99) == (
        "用 more=True 调用。chunks 为空；（见 x）"
    )
    assert wrapped("用 more 调用，再看。", 8) == "用 more\n调用，再\n看。"
    assert wrapped("see curriculum.core.values now", 10) == "see\ncurriculum.core.values\nnow"
