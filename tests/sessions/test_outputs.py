"""What a person reads, to the letter: every command's help and what it prints of a long session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from curriculum.core.journal import Record
from curriculum.sessions.store import SessionStore
from tests.golden import ROOT
from tests.sessions import outputs
from tests.sessions.outputs import ENVIRONMENT, FOLDER, WORDS, printed, write_home


@pytest.mark.parametrize("name", WORDS)
def test_every_word_that_is_shown_is_the_one_that_was_agreed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for key, value in ENVIRONMENT.items():
        monkeypatch.setenv(key, value)
    write_home(Path("home"))
    kept = (FOLDER / f"{name}.txt").read_text("utf-8")
    made = printed(WORDS[name].split())
    assert made == kept, f"`python -m {outputs.__name__}` writes {name}.txt anew"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_is_shown_is_utf_8_whatever_the_environment_says(
    encoding: str, tmp_path: Path
) -> None:
    with SessionStore.create(tmp_path, "s-1") as store:
        store.append(Record("user_input", "turn-1", {"content": "é →"}))
    command = [sys.executable, "-m", "curriculum.sessions", "show", "s-1", "--home", str(tmp_path)]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True)
    assert done.stdout.decode().splitlines()[-1] == "      | é →"


def test_no_output_is_kept_that_nothing_prints() -> None:
    assert {name.removesuffix(".txt") for name in os.listdir(FOLDER)} == {*WORDS}
