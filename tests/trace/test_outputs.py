"""What a person reads, to the letter: every command's help and what it prints for a long run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.trace import outputs
from tests.trace.outputs import ENVIRONMENT, FOLDER, NAMES, judged, made, write_files


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("outputs")
    write_files(path)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_every_word_that_is_shown_is_the_one_that_was_agreed(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for key, value in ENVIRONMENT.items():
        monkeypatch.setenv(key, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    kept = (FOLDER / f"{name}.txt").read_text("utf-8")
    assert made(name) == kept, f"`python -m {outputs.__name__}` writes {name}.txt anew"


def test_both_engines_say_the_same_of_every_broken_trace() -> None:
    assert judged("plain") == (FOLDER / "corpus.txt").read_text("utf-8")


def test_no_output_is_kept_that_nothing_prints() -> None:
    assert {name.removesuffix(".txt") for name in os.listdir(FOLDER)} == {*NAMES}
