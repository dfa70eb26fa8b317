"""A failure sends the learner to a section of the lesson: where there is a page, it has it."""

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


PAGES = {path.name[:3]: path for path in ROOT.glob("lessons/en/s??_*.md")}


def test_graders_name_sections() -> None:
    assert {lesson for lesson, _ in LOOKS} >= {"s01", "s02", "s03"}
    assert PAGES.keys() >= {"s01", "s02", "s03"}


@pytest.mark.parametrize(("lesson", "section"), [look for look in LOOKS if look[0] in PAGES])
def test_a_section_that_a_grader_names_exists(lesson: str, section: str) -> None:
    assert f"\n## {section}\n" in PAGES[lesson].read_text("utf-8")
