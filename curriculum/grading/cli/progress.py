"""What the learner has read, started and passed, in a file that a person can read.

The file is replaced whole, under a lock: an interrupted write leaves the old one, and a `watch` and
a `grade` at the same time lose nothing. A file that cannot be understood is never written over.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from curriculum.grading.cli.catalogue import Exercise, Lesson
from curriculum.grading.cli.faults import NO_FILE, CommandError

FOLDER = ".curriculum"
FORMAT = "curriculum progress 1"


class Progress:
    """The progress file of a checkout."""

    def __init__(self, root: Path) -> None:
        self.path = root / FOLDER / "progress.json"
        self._lessons = self._read()

    def is_read(self, lesson: Lesson) -> bool:
        """Whether the lesson was started, so that its page has been shown."""
        return "read" in self._lessons.get(lesson.folder, {})

    def of(self, exercise: Exercise) -> dict[str, Any]:
        """What is known of the exercise: attempts, last, passed, hints."""
        lesson = self._lessons.get(exercise.lesson, {})
        known: dict[str, Any] = lesson.get("exercises", {}).get(exercise.letter, {})
        return known

    def mark_read(self, lesson: Lesson) -> None:
        """The lesson was opened."""
        with self._changed() as lessons:
            lessons.setdefault(lesson.folder, {}).setdefault("read", _now())

    def add_attempt(self, exercise: Exercise, outcome: str) -> None:
        """The exercise was graded. A graded reference is nothing that the learner has done."""
        if os.environ.get("CURRICULUM_SOLUTIONS") == "1":
            return
        with self._entry(exercise) as entry:
            entry["attempts"] = entry.get("attempts", 0) + 1
            entry["last"] = outcome
            if outcome == "passed":
                entry.setdefault("passed", _now())

    def add_hint(self, exercise: Exercise, level: int) -> None:
        """A hint of that level was shown."""
        with self._entry(exercise) as entry:
            entry["hints"] = max(level, entry.get("hints", 0))

    def forget(self, exercise: Exercise) -> None:
        """Begin the exercise anew."""
        with self._changed() as lessons:
            lessons.get(exercise.lesson, {}).get("exercises", {}).pop(exercise.letter, None)

    @contextlib.contextmanager
    def _entry(self, exercise: Exercise) -> Iterator[dict[str, Any]]:
        with self._changed() as lessons:
            lesson = lessons.setdefault(exercise.lesson, {})
            yield lesson.setdefault("exercises", {}).setdefault(exercise.letter, {})

    @contextlib.contextmanager
    def _changed(self) -> Iterator[dict[str, Any]]:
        """The newest state, to be changed; then written."""
        try:
            self.path.parent.mkdir(exist_ok=True)
            with (self.path.parent / "lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self._lessons = self._read()
                yield self._lessons
                self._write()
        except OSError as fault:
            raise CommandError(f"{self.path} cannot be written: {fault.strerror}", 3) from None

    def _read(self) -> dict[str, Any]:
        try:
            kept = json.loads(self.path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as fault:
            raise CommandError(f"{self.path} cannot be read: {fault.strerror}", NO_FILE) from None
        except (ValueError, RecursionError) as fault:
            advice = "mend it, or remove it to begin anew"
            raise CommandError(f"{self.path} is no JSON ({fault}); {advice}", NO_FILE) from None
        if not _is_progress(kept):
            message = f"{self.path} is no progress file of this version; move it away"
            raise CommandError(message, NO_FILE)
        lessons: dict[str, Any] = kept["lessons"]
        return lessons

    def _write(self) -> None:
        text = json.dumps({"format": FORMAT, "lessons": self._lessons}, indent=2, sort_keys=True)
        fresh = self.path.with_suffix(".new")
        with fresh.open("w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self.path)


def _is_progress(kept: object) -> bool:
    if not isinstance(kept, dict) or kept.get("format") != FORMAT:
        return False
    lessons = kept.get("lessons")
    return isinstance(lessons, dict) and all(
        isinstance(lesson, dict)
        and isinstance(lesson.get("exercises", {}), dict)
        and all(map(_is_entry, lesson.get("exercises", {}).values()))
        for lesson in lessons.values()
    )


def _is_entry(entry: object) -> bool:
    counts = (
        [entry.get(name, 0) for name in ("attempts", "hints")] if isinstance(entry, dict) else []
    )
    return bool(counts) and all(type(count) is int and count >= 0 for count in counts)


def _now() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S %z")
