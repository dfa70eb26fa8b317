"""The pictures of the pages: what the player shows of a golden trace, as SVG, in lessons/pictures.

`python -m tests.pictures` compares, `--update` writes them anew. A picture names no font that has
to be fetched and holds no script; the same trace gives the same bytes.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from curriculum.trace.engines import make_engine
from curriculum.trace.film import open_film
from curriculum.trace.player import Player
from curriculum.trace.stage import Stage
from tests.golden import GOLDEN, ROOT

FOLDER = ROOT / "lessons" / "pictures"
COLUMNS, ROWS = 110, 27
# name of the picture: (lesson of the golden trace, line that is shown)
PICTURES = {
    "play_streaming": ("s02_streaming", 6),
    "play_denied": ("s04_approvals", 13),
}
FORMAT = """\
<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}">
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


def picture(lesson: str, line: int) -> str:
    """The player's screen at one line of a golden trace, as SVG."""
    with open_film(str(GOLDEN / f"{lesson}.jsonl"), make_engine()) as film:
        drawn = Stage().draw(Player(film, 1.0, at=line - 1), COLUMNS, ROWS)
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    for row in drawn:
        console.print(Text.from_ansi(row), soft_wrap=True)
    title = f"The player at line {line} of the trace of {lesson}"
    return console.export_svg(code_format=FORMAT.replace("TITLE", title), unique_id="t")


def problems(update: bool) -> Iterable[str]:
    """A line for each picture that is not what its trace gives (any more)."""
    FOLDER.mkdir(exist_ok=True)
    for name, (lesson, line) in PICTURES.items():
        path = FOLDER / f"{name}.svg"
        made = picture(lesson, line)
        if update:
            path.write_text(made, "utf-8")
        elif not path.is_file() or path.read_text("utf-8") != made:
            yield f"{path.name} is not what its trace gives; `make pictures`"
    for path in sorted(FOLDER.iterdir()):
        if path.stem not in PICTURES:
            yield f"{path.name}: nothing makes this file; remove it"


def main() -> int:
    """Exit code 0 when every picture is right (or was written), else 1."""
    parser = argparse.ArgumentParser(prog="tests.pictures", description=__doc__.split("\n")[0])
    parser.add_argument("--update", action="store_true", help="write the pictures anew")
    found = list(problems(parser.parse_args().update))
    for problem in found:
        print(f"pictures: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
