"""A failure sends the learner to a section of the lesson: it must be there, in English."""

from __future__ import annotations

import re

import pytest

from tests.golden import ROOT

LOOKS = sorted(
    {
        (match[1], match[2])
        for path in ROOT.glob("curriculum/grading/*.py")
        for match in re.finditer(r"'(s\d\d), \"([^\"]+)\"[^']*'", path.read_text("utf-8"))
    }
)


def test_graders_name_sections() -> None:
    assert {lesson for lesson, _ in LOOKS} == {"s01", "s02", "s03"}


@pytest.mark.parametrize(("lesson", "section"), LOOKS)
def test_a_section_that_a_grader_names_exists(lesson: str, section: str) -> None:
    [page] = ROOT.glob(f"lessons/en/{lesson}_*.md")
    assert f"\n## {section}\n" in page.read_text("utf-8")
