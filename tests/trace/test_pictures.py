"""The pictures of the pages are what the traces give now, and need nothing from anywhere."""

from __future__ import annotations

import re

from tests.pictures import FOLDER, PICTURES, problems


def test_every_picture_is_what_its_trace_gives() -> None:
    assert list(problems(update=False)) == []


def test_a_picture_fetches_nothing_and_runs_nothing() -> None:
    for name in PICTURES:
        text = (FOLDER / f"{name}.svg").read_text("utf-8")
        refers = re.findall(r"(?:href|src|xmlns|url)\s*[=(]\s*\"?([^\")]+)", text)
        assert {target for target in refers if not target.startswith("#")} == {
            "http://www.w3.org/2000/svg"
        }
        for word in ("<script", "<image", "@import", "@font-face"):
            assert word not in text
        assert "<title>" in text
