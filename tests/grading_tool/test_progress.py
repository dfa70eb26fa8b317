"""The progress file: for people to read, never half written, never lost to another writer."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from curriculum.grading.cli.catalogue import Exercise, Lesson
from curriculum.grading.cli.faults import CommandError
from curriculum.grading.cli.progress import FORMAT, Progress

A = Exercise("s01_agent_loop", "a", "first_request", "")
B = Exercise("s01_agent_loop", "b", "run_out_of_turns", "")
LESSON = Lesson("s01_agent_loop", "The agent loop", (A, B))


def test_it_says_in_plain_words_what_was_done(tmp_path: Path) -> None:
    progress = Progress(tmp_path)
    progress.mark_read(LESSON)
    progress.add_attempt(A, "failed")
    progress.add_attempt(A, "passed")
    progress.add_hint(B, 2)
    kept = json.loads((tmp_path / ".curriculum" / "progress.json").read_text("utf-8"))
    lesson = kept["lessons"]["s01_agent_loop"]
    assert lesson["exercises"]["b"] == {"hints": 2}
    assert lesson["exercises"]["a"].items() >= {"attempts": 2, "last": "passed"}.items()
    assert set(lesson) == {"read", "exercises"}
    again = Progress(tmp_path)
    assert again.is_read(LESSON)
    assert again.of(A) == lesson["exercises"]["a"]


def test_two_writers_lose_nothing_of_each_other(tmp_path: Path) -> None:
    writers = [Progress(tmp_path) for _ in range(8)]

    def attempt(writer: Progress) -> None:
        for _ in range(10):
            writer.add_attempt(A, "failed")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(attempt, writers))
    assert Progress(tmp_path).of(A)["attempts"] == 80


def test_a_write_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = Progress(tmp_path)
    progress.add_attempt(A, "passed")
    before = progress.path.read_bytes()

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CommandError, match="cannot be written: No space left on device"):
        progress.add_attempt(A, "failed")
    assert progress.path.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is no JSON"),
        ("", "is no JSON"),
        ("[]", "no progress file of this version"),
        ('{"format": "curriculum progress 2"}', "no progress file of this version"),
        ('{"format": "curriculum progress 1", "lessons": {"x": 1}}', "no progress file"),
        *(
            (
                json.dumps({"format": FORMAT, "lessons": {"x": {"exercises": {"a": entry}}}}),
                "no pro",
            )
            for entry in ({"attempts": "1"}, {"hints": -7}, {"hints": 1.5}, {"attempts": None})
        ),
        ("[" * 100_000, "is no JSON"),
    ],
)
def test_a_file_that_is_not_understood_is_not_written_over(
    tmp_path: Path, content: str, said: str
) -> None:
    path = tmp_path / ".curriculum" / "progress.json"
    path.parent.mkdir()
    path.write_text(content)
    with pytest.raises(CommandError, match=said):
        Progress(tmp_path)
    assert path.read_text() == content
