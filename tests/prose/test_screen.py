"""The screen of mino that the README shows is what a person sees who types the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.golden import ROOT
from tests.mino.person import QUESTION, Person
from tests.prose.page import Page
from tests.prose.shell import matches

WIDE, HIGH = 400, 60  # no row is broken, whatever the name of the folder


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_mino_shows_what_the_readme_shows(name: str, tmp_path: Path) -> None:
    fences = Page.read(ROOT / name).fences
    [shown] = [fence.lines for fence in fences if fence.lines[0].startswith("mino ")]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8", "TERM": "xterm"}
    env["PYTHONPATH"] = str(ROOT)
    with Person(["--demo"], env, tmp_path, columns=WIDE, rows=HIGH) as person:
        for line in shown:
            if typed := re.match(r"You> (.+)", line):
                person.say(typed[1])
            elif line.startswith(QUESTION):
                person.answer(line.removeprefix(QUESTION).strip())
        assert person.leave() == 0
        assert matches(shown, person.text()), person.text()
