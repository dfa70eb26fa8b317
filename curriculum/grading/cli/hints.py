"""The hints of an exercise, in `hints.toml` beside it: three, from a nudge to nearly the answer."""

from __future__ import annotations

import tomllib
from pathlib import Path

from curriculum.grading.cli.catalogue import LESSONS, Exercise
from curriculum.grading.cli.faults import NO_FILE, CommandError

LEVELS = 3


def read_hints(root: Path, exercise: Exercise) -> list[str]:
    """The hints by level, the gentlest first. Raises CommandError if there are none."""
    path = root / LESSONS / exercise.lesson / "hints.toml"
    try:
        hints = tomllib.loads(path.read_text("utf-8")).get(exercise.letter, [])
    except FileNotFoundError:
        hints = []
    except (OSError, ValueError) as fault:
        raise CommandError(f"{path} cannot be read: {fault}", NO_FILE) from None
    if not hints:
        raise CommandError(f"there are no hints for {exercise.short} yet", NO_FILE)
    return [str(hint).strip() for hint in hints]
