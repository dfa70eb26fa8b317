"""The pictures of the pages, as SVG in lessons/pictures: made from golden traces and real runs.

`python -m tests.pictures` compares, `--update` writes them anew. A picture names no font that has
to be fetched and holds no script; the same traces and code give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tests.golden import ROOT, lessons_with_demo
from tests.pictures import loop_map, roundtrip, save_points, screens

FOLDER = ROOT / "lessons" / "pictures"
PICTURES: dict[str, Callable[[], str]] = {
    "mino": screens.mino,
    "play_streaming": partial(screens.player, "s02_streaming", 6),
    "play_denied": partial(screens.player, "s04_approvals", 13),
    "roundtrip": roundtrip.draw,
    "save_points": save_points.draw,
    **{f"loop_{name[:3]}": partial(loop_map.draw, name) for name in lessons_with_demo()},
}


def problems(update: bool) -> Iterator[str]:
    """A line for each picture that is not what it is made of gives (any more)."""
    FOLDER.mkdir(exist_ok=True)
    for name, make in PICTURES.items():
        path = FOLDER / f"{name}.svg"
        made = make()
        if update:
            path.write_text(made, "utf-8")
        elif not path.is_file() or path.read_text("utf-8") != made:
            yield f"{path.name} is not what its trace or run gives; `make pictures`"
    for path in sorted(FOLDER.iterdir()):
        if path.stem not in PICTURES:
            yield f"{path.name}: nothing makes this file; remove it"
