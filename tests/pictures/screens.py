"""Pictures of screens, as SVG: the player at a line of a golden trace, and mino on a terminal.

So few columns that the letters can be read on a phone. What differs from run to run on mino's
screen (its folder, the session's id) is put in other words of the same length.
"""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from curriculum.trace.engines import make_engine
from curriculum.trace.film import open_film
from curriculum.trace.player import Player
from curriculum.trace.stage import Stage
from tests.golden import GOLDEN, ROOT
from tests.mino.person import Person

PLAYER = 70, 27  # columns, rows
MINO = 56, 40
TASK = "Run uname -s and tell me what it says."
FOLDER = "/home/you/app"  # as long as what stands in its place: /tmp/ and eight letters
SESSION = "session-5e1f00d5e1f00d5e"
FORMAT = """\
<svg xmlns="http://www.w3.org/2000/svg" role="img" width="600" viewBox="0 0 {width} {height}">
<title>TITLE</title>
<style>
text {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px; }}
{styles}
</style>
<defs>{lines}</defs>
<rect fill="#292929" width="{width}" height="{height}" rx="8"/>
<g transform="translate(9, 16)">
{backgrounds}
<g>{matrix}</g>
</g>
</svg>
"""


def player(lesson: str, line: int) -> str:
    """The player's screen at one line of a golden trace, as SVG."""
    with open_film(str(GOLDEN / f"{lesson}.jsonl"), make_engine()) as film:
        drawn = Stage().draw(Player(film, 1.0, at=line - 1), *PLAYER)
    title = f"The player at line {line} of the trace of {lesson}"
    return _export(title, [Text.from_ansi(row) for row in drawn], PLAYER[0])


def mino() -> str:
    """What `mino --demo` shows on a real terminal when one command is asked for and allowed."""
    columns, rows = MINO
    with tempfile.TemporaryDirectory(prefix="", dir="/tmp") as folder:
        env = {"PATH": "/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8", "TERM": "xterm"}
        env["PYTHONPATH"] = str(ROOT)
        with Person(["--demo"], env, Path(folder), columns, rows) as person:
            person.say(TASK)
            person.answer("y")
            person.see("\nYou>", last=True)
            shown, cells = person.text(), person.screen.buffer
            person.say("/quit")
            assert person.leave() == 0
    shown = _same_length(shown, re.escape(folder), FOLDER)
    shown = _same_length(shown, r"session-[0-9a-f]{16}", SESSION)
    lines = []
    for y, row in enumerate(shown.split("\n")):
        line = Text(row)
        for x in range(len(row)):
            if cells[y][x].bold:
                line.stylize("bold", x, x + 1)
        lines.append(line)
    return _export("mino --demo asks before it runs a command", lines, columns)


def _same_length(text: str, pattern: str, instead: str) -> str:
    """The text with what matches replaced, also where it goes on behind the gutter of a row."""
    gutter = "\n| "
    joined = text.replace(gutter, "")
    breaks = [m.start() - len(gutter) * n for n, m in enumerate(re.finditer(r"\n\| ", text))]
    made = re.sub(pattern, instead, joined)
    if len(made) != len(joined):
        raise ValueError(f"{instead!r} has another length than what it replaces")
    for place in reversed(breaks):
        made = made[:place] + gutter + made[place:]
    return made


def _export(title: str, lines: Sequence[Text], columns: int) -> str:
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True)
    for line in lines:
        console.print(line, soft_wrap=True, highlight=False)
    return console.export_svg(code_format=FORMAT.replace("TITLE", title), unique_id="t")
