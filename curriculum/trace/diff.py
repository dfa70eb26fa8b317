"""How alike two traces are, and where they first part.

There are five verdicts, each weaker than the one before: the same bytes; the same events once ids
and times are put aside; the same decisions; the same outcome; different. Both files are read once,
side by side. Of each event only its id, its cause and a label are kept, for the causal chain.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import zip_longest
from typing import Any

from curriculum.trace.describe import describe
from curriculum.trace.normalise import Normaliser, decision_of, first_difference

Event = dict[str, Any]
LONGEST_CHAIN = 12


class Likeness(IntEnum):
    """How alike two traces are; a greater one includes all the lesser."""

    DIFFERENT = 0
    OUTCOME = 1
    DECISIONS = 2
    NORMALISED = 3
    BYTES = 4


SAYINGS = {
    Likeness.BYTES: "same bytes",
    Likeness.NORMALISED: "same after normalisation",
    Likeness.DECISIONS: "same decisions",
    Likeness.OUTCOME: "same outcome",
    Likeness.DIFFERENT: "different",
}


@dataclass(frozen=True, slots=True)
class Link:
    """An event in a causal chain: its line (from 1), its turn (from 1, 0 before any), a label."""

    line: int
    turn: int
    label: str
    parent: str | None


@dataclass
class Story:
    """What is kept of one trace while it is read."""

    digest: Any = field(default_factory=hashlib.sha256)
    links: dict[str, Link] = field(default_factory=dict)
    decisions: list[tuple[tuple[object, ...], str]] = field(default_factory=list)
    turn: int = 0
    outcome: tuple[object, ...] = ("no stop",)
    error: str | None = None

    def see(self, block: bytes) -> None:
        """The next bytes of the file."""
        self.digest.update(block)

    def take(self, event: Event) -> None:
        """The next event."""
        kind, event_id = event["type"], event["event_id"]
        if kind == "user.message":
            self.turn += 1
        label = describe(event)
        self.links[event_id] = Link(len(self.links) + 1, self.turn, label, event["parent_id"])
        decision = decision_of(event)
        if decision is not None:
            self.decisions.append((decision, event_id))
        if kind == "error":
            self.error = event["payload"]["kind"]
        elif kind == "session.stop":
            self.outcome = (event["payload"]["reason"], self.error, self.turn)

    def chain(self, event_id: str | None) -> list[Link]:
        """The event and what caused it, nearest first."""
        found: list[Link] = []
        while event_id in self.links and len(found) < LONGEST_CHAIN:
            link = self.links[event_id]
            found.append(link)
            event_id = link.parent
        return found


@dataclass(frozen=True)
class Divergence:
    """Where two traces part. A chain is empty where that trace has nothing more to say."""

    turn: int
    about: str
    pointer: str
    values: tuple[object, object]
    chains: tuple[list[Link], list[Link]]


@dataclass(frozen=True)
class Comparison:
    """The verdict, and the first divergence that led to it (none for the same bytes)."""

    likeness: Likeness
    divergence: Divergence | None
    events: tuple[int, int]
    outcomes: tuple[tuple[object, ...], tuple[object, ...]]


def compare(
    one: Iterable[Event], other: Iterable[Event], stories: tuple[Story, Story]
) -> Comparison:
    """Read two traces to their ends and compare them. `stories` are told of their bytes."""
    left, right = stories
    normalisers = Normaliser(), Normaliser()
    parted: tuple[str | None, str | None, tuple[str, object, object]] | None = None
    for here, there in zip_longest(one, other):
        for event, story in ((here, left), (there, right)):
            if event is not None:
                story.take(event)
        if parted is None:
            plain = [
                event and normaliser.normalise(event)
                for event, normaliser in zip((here, there), normalisers, strict=True)
            ]
            difference = first_difference(*plain)
            if difference:
                parted = (_id(here), _id(there), difference)
    likeness = _judge(left, right, parted is None)
    divergence = None
    if likeness < Likeness.DECISIONS:
        divergence = _decisive(left, right)
    elif parted:
        divergence = _make(left, right, parted[0], parted[1], "event", parted[2])
    counts = len(left.links), len(right.links)
    return Comparison(likeness, divergence, counts, (left.outcome, right.outcome))


def _id(event: Event | None) -> str | None:
    return None if event is None else str(event["event_id"])


def _judge(left: Story, right: Story, is_normalised_same: bool) -> Likeness:
    if left.digest.digest() == right.digest.digest():
        return Likeness.BYTES
    if is_normalised_same:
        return Likeness.NORMALISED
    if [made for made, _ in left.decisions] == [made for made, _ in right.decisions]:
        return Likeness.DECISIONS
    return Likeness.OUTCOME if left.outcome == right.outcome else Likeness.DIFFERENT


def _decisive(left: Story, right: Story) -> Divergence:
    """The first decision that was made in one trace and not in the other."""
    nothing: tuple[tuple[object, ...], str | None] = ((), None)
    pairs: Iterator[Any] = zip_longest(left.decisions, right.decisions, fillvalue=nothing)
    (made, here), (other, there) = next(pair for pair in pairs if pair[0][0] != pair[1][0])
    values = (list(made) or None, list(other) or None)
    return _make(left, right, here, there, "decision", ("", *values))


def _make(
    left: Story,
    right: Story,
    here: str | None,
    there: str | None,
    about: str,
    difference: tuple[str, object, object],
) -> Divergence:
    chains = left.chain(here), right.chain(there)
    turn = max((chain[0].turn for chain in chains if chain), default=0)
    pointer, *values = difference
    return Divergence(turn, about, pointer, (values[0], values[1]), chains)
