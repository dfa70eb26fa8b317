"""The hints of an exercise, from a nudge to nearly the answer: three, in each language.

They stand beside it, in `hints.toml` (English) and `hints.zh.toml` (Chinese).
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from curriculum.grading.cli.catalogue import LESSONS, Exercise
from curriculum.grading.cli.faults import NO_FILE, CommandError

LEVELS = 3
FILES = {"en": "hints.toml", "zh": "hints.zh.toml"}


def hint_language() -> str:
    """The learner's, as the environment says it; English where there are no hints in it."""
    named = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    said = next((text for text in named if text), "")
    return "zh" if said.lower().startswith("zh") else "en"


def read_hints(root: Path, exercise: Exercise, lang: str = "en") -> list[str]:
    """The hints by level, the gentlest first. Raises CommandError if there are none."""
    path = root / LESSONS / exercise.lesson / FILES[lang]
    try:
        hints = tomllib.loads(path.read_text("utf-8")).get(exercise.letter, [])
    except FileNotFoundError:
        hints = []
    except (OSError, ValueError) as fault:
        raise CommandError(f"{path} cannot be read: {fault}", NO_FILE) from None
    if not hints:
        raise CommandError(f"there are no hints for {exercise.short} yet", NO_FILE)
    return [str(hint).strip() for hint in hints]
