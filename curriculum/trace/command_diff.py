"""`python -m curriculum.trace diff A B`: how alike two traces are, and where they first part."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TypeVar

from curriculum.core.visible import quote
from curriculum.trace.describe import shorten
from curriculum.trace.diff import SAYINGS, Comparison, Divergence, Likeness, Link, Story, compare
from curriculum.trace.events import open_events
from curriculum.trace.inputs import EXIT_CODES, USAGE, RefusedError, get_engine
from curriculum.trace.report import shown_name, written_name

LONGEST_VALUE = 400
ENOUGH = {level.name.lower(): level for level in Likeness if level}

Parser = TypeVar("Parser", bound=argparse.ArgumentParser)


def add_parser(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add the `diff` subcommand."""
    parser = commands.add_parser(
        "diff",
        help="compare two traces: bytes, events, decisions, outcome",
        description="Compare two traces. Verdicts: same bytes, same after normalisation (ids, "
        "times and provenance put aside), same decisions (calls, approvals, results, stop), same "
        "outcome (reason of the stop, last error, number of turns), different.",
        epilog="Exit code: 0 the traces are as alike as --enough asks, 1 they are not; "
        + EXIT_CODES,
    )
    parser.add_argument("files", nargs=2, metavar="FILE", help="a trace; - is standard input")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--enough",
        choices=tuple(ENOUGH),
        default="normalised",
        help="the weakest verdict with exit code 0 (default: %(default)s)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compare; returns the exit code. Raises RefusedError."""
    one, other = arguments.files
    if one == other == "-":
        raise RefusedError("standard input can be one of the two traces, not both", USAGE)
    engine, stories = get_engine(), (Story(), Story())
    with (
        open_events(one, engine, stories[0].see) as left,
        open_events(other, engine, stories[1].see) as right,
    ):
        found = compare(left, right, stories)
        torn = left.torn_bytes, right.torn_bytes
    if arguments.format == "json":
        print(json.dumps(as_json((one, other), found, torn)))
    else:
        print("\n".join(as_text((one, other), found, torn)))
    return 0 if found.likeness >= ENOUGH[arguments.enough] else 1


def as_json(names: tuple[str, str], found: Comparison, torn: tuple[int, int]) -> dict[str, object]:
    """The comparison as plain data."""
    parted = found.divergence
    return {
        "files": [written_name(name) for name in names],
        "verdict": found.likeness.name.lower(),
        "events": list(found.events),
        "torn_bytes": list(torn),
        "outcomes": [list(outcome) for outcome in found.outcomes],
        "divergence": parted
        and {
            "turn": parted.turn,
            "about": parted.about,
            "pointer": parted.pointer,
            "values": list(parted.values),
            "chains": [[_link(link) for link in chain] for chain in parted.chains],
        },
    }


def _link(link: Link) -> dict[str, object]:
    return {"line": link.line, "turn": link.turn, "event": link.label}


def as_text(names: tuple[str, str], found: Comparison, torn: tuple[int, int]) -> list[str]:
    """The verdict, then where and why the traces part, the nearest cause first."""
    lines = [SAYINGS[found.likeness]]
    for letter, name, events, rest in zip("AB", names, found.events, torn, strict=True):
        note = f", then {rest} bytes without LF" if rest else ""
        lines.append(f"  {letter} {shown_name(name)} ({events} events{note})")
    if found.divergence:
        lines += _part(found.divergence)
    return lines


def _part(parted: Divergence) -> list[str]:
    where = f" at {quote(parted.pointer)[1:-1]}" if parted.pointer else ""
    turn = f"turn {parted.turn}" if parted.turn else "before the first turn"
    lines = [f"first divergence: {turn}, another {parted.about}{where}"]
    causes = [[(link.line, link.label) for link in chain[1:]] for chain in parted.chains]
    is_shared = all(parted.chains) and causes[0] == causes[1]
    for letter, chain, value in zip("AB", parted.chains, parted.values, strict=True):
        if not chain:
            lines.append(f"  {letter} says nothing more")
            continue
        lines.append(f"  {letter} line {chain[0].line}: {chain[0].label}")
        lines.append(f"      {'has' if parted.pointer else 'decided'} {_shown(value)}")
        lines += [] if is_shared else _because("      ", chain)
    return lines + (_because("  both ", parted.chains[0]) if is_shared else [])


def _because(margin: str, chain: Sequence[Link]) -> list[str]:
    return [f"{margin}because of line {link.line}: {link.label}" for link in chain[1:]]


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return shorten(value, LONGEST_VALUE)
    text = json.dumps(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
