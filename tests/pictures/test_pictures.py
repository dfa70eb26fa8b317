"""The pictures are what traces and real runs give now, can be read, and need nothing from anywhere.

And the map of the loop is the loop: what runs take is drawn, what is drawn is taken.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given

from curriculum.core import errors
from tests import pictures
from tests.golden import ROOT, lessons_with_demo
from tests.pictures import FOLDER, PICTURES, loop_map, save_points
from tests.pictures.exits import RUNS, perform
from tests.prose.page import CODE, Page
from tests.trace import runs

PHONE = 358  # pixels for a picture on a page of 390
LEAST = 8.0  # pixels of a letter there
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)]+)\)")


def test_every_picture_is_what_its_trace_gives() -> None:
    assert list(pictures.problems(update=False)) == []


def test_a_stale_a_missing_and_a_stray_picture_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    monkeypatch.setattr(pictures, "PICTURES", {"one": lambda: "<svg/>", "two": lambda: "<svg/>"})
    assert list(pictures.problems(update=True)) == []
    (tmp_path / "one.svg").write_text("<svg>old</svg>")
    (tmp_path / "two.svg").unlink()
    (tmp_path / "three.svg").touch()
    told = [line.partition(" ")[0] for line in pictures.problems(update=False)]
    assert told == ["one.svg", "two.svg", "three.svg:"]


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_fetches_nothing_and_runs_nothing(name: str) -> None:
    text = (FOLDER / f"{name}.svg").read_text("utf-8")
    refers = re.findall(r"(?:href|src|xmlns|url)\s*[=(]\s*\"?([^\")]+)", text)
    others = {target for target in refers if not target.startswith("#")}
    assert others == {"http://www.w3.org/2000/svg"}
    for word in ("<script", "<image", "@import", "@font-face"):
        assert word not in text
    assert "<title>" in text


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_can_be_read_on_a_phone(name: str) -> None:
    text = (FOLDER / f"{name}.svg").read_text("utf-8")
    [width] = re.findall(r'viewBox="0 0 ([\d.]+) ', text)
    letters = [float(size) for size in re.findall(r"font(?:-size)?: ([\d.]+)px", text)]
    assert letters
    assert min(letters) * min(1, PHONE / float(width)) >= LEAST


def test_every_picture_is_shown_in_both_languages_and_told_in_words() -> None:
    for language, readme in (("en", "README.md"), ("zh", "README.zh.md")):
        pages = [ROOT / readme, *(ROOT / "lessons" / language).glob("*.md")]
        lines = [line for page in pages for _, line in Page.read(page).prose]
        told = [image for line in lines for image in IMAGE.findall(CODE.sub("", line))]
        shown = {Path(target).stem: words for words, target in told}
        assert set(shown) == set(PICTURES)
        assert [name for name, words in shown.items() if len(words) < 12] == []


def test_the_runs_of_the_map_reach_every_end() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    reasons = {kind.reason for kind in kinds if issubclass(kind, errors.RunError)}
    reached = {perform(name)[-1]["payload"]["reason"] for name in RUNS}
    assert reached == {*reasons, "completed"}


def test_every_line_of_the_map_is_taken_and_every_one_taken_is_drawn() -> None:
    taken = {(before, after) for before, _, after in loop_map.all_arrows() if before != after}
    assert taken == set(loop_map.LINES)


@pytest.mark.parametrize("lesson", lessons_with_demo())
def test_the_golden_traces_stay_on_the_map(lesson: str) -> None:
    assert set(loop_map.of_golden(lesson)) - loop_map.all_arrows() == set()


@given(runs.PLANS)
def test_random_runs_stay_on_the_map(plan: runs.Plan) -> None:
    events = [json.loads(line) for line in runs.perform(plan).decode().splitlines()]
    assert set(loop_map.arrows(events)) - MAP == set()


MAP = loop_map.all_arrows()


def test_recovery_closes_what_each_save_point_leaves_open() -> None:
    assert save_points.added_after_a_crash() == [
        ["turn_end interrupted"],
        ["tool_result not_executed", "turn_end interrupted"],
        ["tool_result unknown", "turn_end interrupted"],
        ["turn_end interrupted"],
        ["turn_end interrupted"],
        [],
    ]
