"""The hints of an exercise, from a nudge to nearly the answer: three, in each language.

They stand beside it, in `hints.toml` (English) and `hints.zh.toml` (Chinese).
"""

from __future__ import annotations

import os
import shutil
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from curriculum.grading.cli.catalogue import LESSONS, Exercise
from curriculum.grading.cli.faults import NO_FILE, CommandError

LEVELS = 3
MOST_COLUMNS = 100  # longer lines are hard to read, however wide the screen is
STAYS = set("，。；：、？！”）》」…")  # no line begins with one of these
FILES = {"en": "hints.toml", "zh": "hints.zh.toml"}


def hint_language() -> str:
    """The learner's, as the environment says it; English where there are no hints in it."""
    named = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    said = next((text for text in named if text), "")
    return "zh" if said.lower().startswith("zh") else "en"


def read_hints(root: Path, exercise: Exercise, lang: str = "en") -> list[str]:
    """The hints by level, the gentlest first, in lines as wide as the terminal.

    Raises CommandError if there are none.
    """
    path = root / LESSONS / exercise.lesson / FILES[lang]
    try:
        hints = tomllib.loads(path.read_text("utf-8")).get(exercise.letter, [])
    except FileNotFoundError:
        hints = []
    except (OSError, ValueError) as fault:
        raise CommandError(f"{path} cannot be read: {fault}", NO_FILE) from None
    if not hints:
        raise CommandError(f"there are no hints for {exercise.short} yet", NO_FILE)
    columns = min(shutil.get_terminal_size().columns, MOST_COLUMNS)
    return [wrapped(str(hint), columns) for hint in hints]


def wrapped(text: str, columns: int) -> str:
    """The text in lines of so many columns; a name that is longer has a line to itself.

    Lines end at blanks, and between two characters of which one is wide, as Chinese ones are.
    """
    lines, line = [], ""
    for part in _parts(text):
        if line and _columns(line + part.rstrip()) > columns:
            lines.append(line.rstrip())
            line = ""
        line += part
    return "\n".join([*lines, line.rstrip()])


def _parts(text: str) -> Iterator[str]:
    """What no line may end in, each with the blank behind it."""
    part = ""
    for char in _joined(text):
        at_wide = part and (_is_wide(char) or _is_wide(part[-1])) and char != " "
        if part[-1:] == " " or (at_wide and char not in STAYS and part[-1] not in "“（《「"):
            yield part
            part = ""
        part += char
    yield part


def _joined(text: str) -> str:
    """One line; between wide characters, and beside a wide comma and the like, without a blank."""
    whole = ""
    for line in map(str.strip, text.strip().split("\n")):
        sides = (whole[-1:], line[:1])
        wide = [char for char in sides if char and _is_wide(char)]
        is_glued = len(wide) == 2 or any(unicodedata.category(char)[0] == "P" for char in wide)
        whole += ("" if is_glued or not whole else " ") + line
    return whole


def _columns(text: str) -> int:
    return sum(2 if _is_wide(char) else 1 for char in text)


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF"
