"""The map of the loop: its states, and the events that lead from one to another.

States are those of the player (`curriculum.trace.machine`). Arrows are what real runs take
(`exits`); a lesson's map lights those that its golden trace takes, and marks where on them the
bookkeeping of its seam happens. Only places are chosen here: where a state stands, how an arrow
bends. An arrow that no run takes, or that has no place, is an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise

from curriculum.trace.machine import state_after
from tests.golden import GOLDEN
from tests.pictures import svg
from tests.pictures.exits import RUNS, Event, perform

START = "start"  # before the first event
BOOKKEEPING = (
    *("session.recover", "outcome.acknowledge", "journal.append"),
    *("context.compact", "budget.spend", "cancel.request"),
)
EVENTS = (
    *("session.start", "user.message", "model.request", "model.delta", "model.response"),
    *("retry.wait", "tool.call", "approval.request", "approval.decision", "tool.start"),
    *("tool.output", "tool.result", "error", "session.stop"),
)
BOX = 84, 30
PLACES = {
    "idle": (180, 72),
    "stopped": (52, 72),
    "failed": (52, 178),
    "asking": (180, 178),
    "streaming": (308, 178),
    "waiting": (84, 258),
    "answered": (210, 290),
    "approving": (130, 378),
    "acting": (290, 378),
}
# (from, to): the points of its line, and where on it its number stands (0 to 1)
Line = tuple[tuple[tuple[float, float], ...], float]
LINES: dict[tuple[str, str], Line] = {
    (START, "idle"): (((200, 22), (200, 57)), 0.35),
    ("idle", "stopped"): (((138, 72), (94, 72)), 0.6),
    ("idle", "asking"): (((172, 87), (172, 163)), 0.45),
    ("asking", "idle"): (((196, 163), (196, 87)), 0.45),
    ("asking", "streaming"): (((222, 178), (266, 178)), 0.45),
    ("asking", "failed"): (((138, 168), (94, 168)), 0.5),
    ("failed", "asking"): (((94, 189), (138, 189)), 0.45),
    ("asking", "answered"): (((186, 193), (202, 275)), 0.62),
    ("answered", "asking"): (((228, 275), (212, 193)), 0.38),
    ("streaming", "idle"): (((296, 163), (280, 96), (222, 78)), 0.5),
    ("streaming", "answered"): (((308, 193), (300, 262), (252, 284)), 0.5),
    ("streaming", "failed"): (((280, 193), (180, 250), (80, 193)), 0.24),
    ("answered", "approving"): (((176, 305), (128, 363)), 0.5),
    ("approving", "answered"): (((158, 363), (204, 305)), 0.5),
    ("answered", "acting"): (((228, 305), (284, 363)), 0.45),
    ("acting", "answered"): (((308, 363), (248, 305)), 0.5),
    ("answered", "failed"): (((168, 294), (60, 320), (-6, 280), (30, 193)), 0.5),
    ("idle", "failed"): (((140, 87), (86, 163)), 0.5),
    ("failed", "idle"): (((66, 163), (138, 80)), 0.42),
    ("failed", "stopped"): (((40, 163), (40, 87)), 0.5),
    ("failed", "waiting"): (((66, 193), (80, 243)), 0.5),
    ("waiting", "asking"): (((112, 243), (156, 193)), 0.4),
}
Arrow = tuple[str, str, str]  # from, event, to


def arrows(events: Iterable[Event]) -> dict[Arrow, set[str]]:
    """What the events of a run take, each with the bookkeeping that was told right before it."""
    taken: dict[Arrow, set[str]] = {}
    state, told = START, set[str]()
    for event in events:
        if event["type"] in BOOKKEEPING:
            told.add(event["type"])
            continue
        after = state_after(state, event)
        taken.setdefault((state, event["type"], after), set()).update(told)
        state, told = after, set()
    return taken


def all_arrows() -> set[Arrow]:
    """What the runs of `exits` take, together."""
    return {arrow for name in RUNS for arrow in arrows(perform(name))}


def of_golden(lesson: str) -> dict[Arrow, set[str]]:
    """What the golden trace of a lesson takes."""
    lines = (GOLDEN / f"{lesson}.jsonl").read_text("utf-8").splitlines()
    return arrows(json.loads(line) for line in lines)


def draw(lesson: str) -> str:
    """The map, with what the golden trace of a lesson takes in another colour."""
    golden = of_golden(lesson)
    told = [word for word in BOOKKEEPING if any(word in words for words in golden.values())]
    letters = dict(zip(told, "abcdef", strict=False))
    taken = {arrow: sorted(letters[word] for word in words) for arrow, words in golden.items()}
    every = all_arrows()
    lines = {(before, after) for before, _, after in every if before != after}
    if unknown := {event for _, event, _ in every | set(taken)} - set(EVENTS):
        raise ValueError(f"neither in EVENTS nor in BOOKKEEPING: {sorted(unknown)}")
    if lines != set(LINES):
        raise ValueError(f"runs take {sorted(lines - set(LINES))}, not {set(LINES) - lines}")
    pieces, spots = [], []
    for pair, (points, part) in LINES.items():
        lit = any((before, after) == pair for before, _, after in taken)
        pieces.append(svg.path(points, lit))
        spots += _numbers(pair, _along(points, part), every, taken)
    met = {state for before, _, after in taken for state in (before, after)}
    for state, (x, y) in PLACES.items():
        width, height = BOX
        style = "box lit" if state in met else "box"
        pieces.append(svg.rect(x - width / 2, y - height / 2, width, height, style))
        dim = "strong" if state in met else "dim"
        pieces.append(svg.text(x, y + 4, state, f"code {dim}", "middle"))
        spots += _numbers((state, state), (x - width / 2 + 10, y - height / 2), every, taken)
    pieces.append(svg.circle(200, 18, 5, "head lit"))
    met_events = {event for _, event, _ in taken}
    title = f"The loop as a state machine; lit is what the trace of {lesson} goes through"
    legend, height = _legend(met_events, letters)
    return svg.page(title, height, [*pieces, *spots, *legend])


def _along(points: tuple[tuple[float, float], ...], part: float) -> tuple[float, float]:
    """The point of a Bézier curve (or line) at `part` of its way."""
    while len(points) > 1:
        pairs = pairwise(points)
        points = tuple((a + (c - a) * part, b + (d - b) * part) for (a, b), (c, d) in pairs)
    return points[0]


def _numbers(
    pair: tuple[str, str],
    place: tuple[float, float],
    every: set[Arrow],
    taken: dict[Arrow, list[str]],
) -> list[str]:
    """The number of each event of an arrow, with the letters of the bookkeeping before it."""
    found = sorted((e for b, e, a in every if (b, a) == pair), key=EVENTS.index)
    x, y = place
    pieces = []
    for offset, event in enumerate(reversed(found)):
        letters = taken.get((pair[0], event, pair[1]))
        at = x - 18 * offset
        pieces += _spot(at, y, str(EVENTS.index(event) + 1), letters is not None)
        for number, letter in enumerate(letters or ()):
            pieces += _letter(at + 10 + 13 * number, y - 9, letter)
    return pieces


def _letter(x: float, y: float, letter: str) -> list[str]:
    return [
        svg.circle(x, y, 6.5, "extra"),
        svg.text(x, y + 3.5, letter, "small strong on", "middle"),
    ]


def _spot(x: float, y: float, words: str, lit: bool) -> list[str]:
    style, letters = ("spot lit", "on") if lit else ("spot", "dim")
    return [
        svg.circle(x, y, 8.5, style),
        svg.text(x, y + 4, words, f"small strong {letters}", "middle"),
    ]


def _legend(met: set[str], letters: dict[str, str]) -> tuple[list[str], float]:
    """Which number is which event, in two columns; and how high the picture is with it."""
    pieces, top = [], 424.0
    rows = (len(EVENTS) + 1) // 2
    for index, event in enumerate(EVENTS):
        x, y = (18 if index < rows else 190), top + 21 * (index % rows)
        pieces += _spot(x, y, str(index + 1), event in met)
        pieces.append(svg.text(x + 15, y + 4, event, "code" if event in met else "code dim"))
    y = top + 21 * rows
    for word, letter in letters.items():
        pieces += _letter(18, y, letter)
        pieces.append(svg.text(33, y + 4, word, "code"))
        y += 21
    return pieces, y
