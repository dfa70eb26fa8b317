"""The roundtrip of one call, line by line of a golden trace: who tells whom, and what is kept.

An event goes from its actor to the one it concerns; a pill under it is the message that it adds
to what the model sees (`message_of`).
"""

from __future__ import annotations

import json

from curriculum.trace.machine import message_of
from tests.golden import GOLDEN
from tests.pictures import svg

LESSON = "s03_bash_tool"
LANES = {"user": 36, "harness": 132, "model": 228, "tool": 324}
# Whom an event concerns besides its actor; what is not here concerns the harness alone.
TOWARDS = {
    "user.message": "harness",
    "model.request": "model",
    "model.response": "harness",
    "tool.call": "harness",
    "tool.start": "tool",
    "tool.result": "harness",
}
TOP, ROW, PILL = 52.0, 36.0, 24.0


def draw() -> str:
    """The picture of the golden trace of s03."""
    trace = (GOLDEN / f"{LESSON}.jsonl").read_text("utf-8")
    pieces, y = [], TOP
    for line in trace.splitlines():
        event = json.loads(line)
        y += ROW
        here, there = event["actor"]["kind"], TOWARDS.get(event["type"], "harness")
        pieces += _step(LANES[here], LANES[there], y, event["type"])
        if message := message_of(event):
            y += PILL
            pieces += _kept(y, message[0])
    height = y + 24
    lanes = []
    for name, x in LANES.items():
        lanes.append(svg.path(((x, 40), (x, height - 10)), headed=False))
        lanes.append(svg.rect(x - 32, 14, 64, 26, "box lit"))
        lanes.append(svg.text(x, 31, name, "strong", "middle"))
    return svg.page(
        "The roundtrip of one tool call: each event of the trace of s03, from whom to whom",
        height,
        [*lanes, *pieces],
    )


def _step(here: float, there: float, y: float, name: str) -> list[str]:
    """One event: an arrow under its name, or a dot beside it."""
    if here == there:
        dot = svg.circle(here, y, 5, "head lit")
        return [*_label(here + 12, y + 4, name, "start"), dot]
    middle = (here + there) / 2
    return [svg.path(((here, y), (there, y)), lit=True), *_label(middle, y - 6, name, "middle")]


def _label(x: float, y: float, name: str, anchor: str) -> list[str]:
    """A name on its own ground, so that no lane runs through it."""
    width = 6.7 * len(name) + 4
    left = x - 2 if anchor == "start" else x - width / 2
    ground = svg.rect(left, y - 10, width, 13, "plain", 0)
    return [ground, svg.text(x, y, name, "code small", anchor)]


def _kept(y: float, role: str) -> list[str]:
    """The message that the event before has added."""
    x = LANES["harness"]
    words = f"+ {role}"
    width = 7.2 * len(words) + 14
    return [
        svg.rect(x - width / 2, y - 13, width, 19, "save", 9),
        svg.text(x, y + 1, words, "code small strong on", "middle"),
    ]
