"""The save points of a turn, and what recovery adds after a crash behind each of them.

Both are tried out, not told: the demo of s05 writes its session, and for each record the file is
cut behind it and opened, as after a crash. What the store then adds stands on the right.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from pathlib import Path

from curriculum.core.trace import GoldenClock
from curriculum.lessons.s05_sessions.demo import main
from curriculum.sessions.store import SessionStore
from tests.golden import GOLDEN
from tests.pictures import svg

LESSON, SESSION = "s05_sessions", "session-1"
TOP, ROW, GAP = 58.0, 22.0, 30.0
SPLIT = 176


def added_after_a_crash() -> list[list[str]]:
    """For each record of the demo's turn, in order: what recovery adds if it was the last one."""
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.redirect_stdout(io.StringIO()):
            main(folder)
        [file] = Path(folder).glob(f"**/{SESSION}.jsonl")
        lines = file.read_bytes().splitlines(True)
        added = []
        for kept in range(2, len(lines) + 1):  # the first line is the header
            file.write_bytes(b"".join(lines[:kept]))
            SessionStore.open(folder, SESSION, clock=GoldenClock()).close()
            after = file.read_bytes().splitlines()[kept:]
            added.append([_shown(json.loads(line)) for line in after])
        return added


def _shown(record: dict[str, object]) -> str:
    data = record["data"]
    assert isinstance(data, dict)
    return f"{record['kind']} {data['status']}"


def draw() -> str:
    """The picture of the golden trace of s05."""
    pieces = [
        svg.text(14, 28, "events, save points", "strong"),
        svg.text(SPLIT, 28, "a crash here adds", "strong"),
        svg.path(((14, 38), (svg.WIDTH - 14, 38)), headed=False),
    ]
    y, added = TOP, iter(added_after_a_crash())
    for line in (GOLDEN / f"{LESSON}.jsonl").read_text("utf-8").splitlines():
        event = json.loads(line)
        if event["type"] != "journal.append":
            pieces.append(svg.text(22, y + 4, event["type"], "code"))
            y += ROW
            continue
        pieces.append(svg.rect(14, y - 11, 150, 22, "save", 3))
        pieces.append(svg.text(22, y + 4, event["payload"]["record_kind"], "code strong on"))
        records = next(added)
        for number, record in enumerate(records or ["nothing"]):
            style = "code small" if records else "dim small"
            pieces.append(svg.text(SPLIT, y + 4 + 15 * number, record, style))
        y += GAP
    if list(added):
        raise ValueError("the session has more records than the golden trace has save points")
    title = f"The save points of one turn, from the trace of {LESSON}"
    return svg.page(title, y + 2, pieces)
