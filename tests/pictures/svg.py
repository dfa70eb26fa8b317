"""Small SVG pieces, and the page they stand on: nothing is fetched, nothing runs.

A picture brings its own ground, dark for readers who prefer dark: so it can be read on any page,
also where the page has a switch of its own. Lengths are pixels at natural size: `WIDTH` fits a
phone, and text is not smaller than 11 pixels there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

WIDTH = 360
STYLE = """\
text { font: 12px system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif; fill: #1f2933; }
text.code { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
text.small { font-size: 11px; }
text.strong { font-weight: bold; }
text.dim { fill: #667481; }
text.on { fill: #ffffff; }
.ground { fill: #ffffff; stroke: #c8d0d8; }
.plain { fill: #ffffff; }
.box { fill: #ffffff; stroke: #8a96a3; stroke-width: 1.3; }
.box.lit { fill: #dcebff; stroke: #1a5fb4; stroke-width: 1.8; }
.line { fill: none; stroke: #aab4be; stroke-width: 1.3; }
.line.lit { stroke: #1a5fb4; stroke-width: 2; }
.head { fill: #aab4be; }
.head.lit { fill: #1a5fb4; }
.spot { fill: #ffffff; stroke: #aab4be; }
.spot.lit { fill: #1a5fb4; stroke: #1a5fb4; }
.save { fill: #1a5fb4; }
.extra { fill: #b34700; }
@media (prefers-color-scheme: dark) {
  text { fill: #e3e8ed; }
  text.dim { fill: #9aa7b4; }
  text.on { fill: #10161c; }
  .ground { fill: #161c22; stroke: #3a4652; }
  .plain { fill: #161c22; }
  .box { fill: #161c22; stroke: #6b7885; }
  .box.lit { fill: #1d3a5f; stroke: #7fb4ff; }
  .line { stroke: #566270; }
  .line.lit { stroke: #7fb4ff; }
  .head { fill: #566270; }
  .head.lit { fill: #7fb4ff; }
  .spot { fill: #161c22; stroke: #566270; }
  .spot.lit { fill: #7fb4ff; stroke: #7fb4ff; }
  .save { fill: #7fb4ff; }
  .extra { fill: #ffb073; }
}"""


def page(title: str, height: float, pieces: Iterable[str]) -> str:
    """The whole picture; `title` is for those who hear it when it is opened on its own."""
    lines = "\n".join(pieces)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{WIDTH}" height="{height:g}" '
        f'viewBox="0 0 {WIDTH} {height:g}">\n<title>{escape(title)}</title>\n'
        f"<style>\n{STYLE}\n</style>\n"
        f'<rect class="ground" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1:g}" rx="8"/>'
        f"\n{lines}\n</svg>\n"
    )


def text(x: float, y: float, words: str, style: str = "", anchor: str = "start") -> str:
    """Words whose baseline starts, ends or is centred (`middle`) at a point."""
    return (
        f'<text class="{style}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'
    )


def rect(x: float, y: float, width: float, height: float, style: str, round: float = 5) -> str:
    """A box with round corners."""
    return (
        f'<rect class="{style}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
        f'rx="{round:g}"/>'
    )


def circle(x: float, y: float, radius: float, style: str) -> str:
    return f'<circle class="{style}" cx="{x:g}" cy="{y:g}" r="{radius:g}"/>'


def path(points: Sequence[tuple[float, float]], lit: bool = False, headed: bool = True) -> str:
    """A line through two points or, with three or four, a curve pulled towards the inner ones."""
    style = " lit" if lit else ""
    kind = {2: "L", 3: "Q", 4: "C"}[len(points)]
    (x, y), *rest = points
    drawn = f"M{x:g} {y:g} {kind}" + " ".join(f"{a:g} {b:g}" for a, b in rest)
    line = f'<path class="line{style}" d="{drawn}"/>'
    return line + _head(points[-2], points[-1], style) if headed else line


def _head(before: tuple[float, float], tip: tuple[float, float], style: str) -> str:
    """A triangle that points from `before` to `tip`."""
    dx, dy = tip[0] - before[0], tip[1] - before[1]
    length = (dx * dx + dy * dy) ** 0.5
    dx, dy = dx / length, dy / length
    corners = [tip]
    for side in (4, -4):
        corners.append((tip[0] - 8 * dx - side * dy, tip[1] - 8 * dy + side * dx))
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return f'<polygon class="head{style}" points="{drawn}"/>'
