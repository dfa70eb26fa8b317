"""One trace, or two side by side, as one HTML file that needs nothing else.

The file is written as the events are read: blocks first, then what is known only at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, TextIO

from curriculum.core.visible import escape
from curriculum.trace.diff import SAYINGS, Comparison, Divergence, Link, Story, compare
from curriculum.trace.engines import Engine
from curriculum.trace.events import Event, EventReader, open_events
from curriculum.trace.inputs import BAD_DATA, RefusedError
from curriculum.trace.report import shown_name
from curriculum.trace.viewer.blocks import Digest, as_seen
from curriculum.trace.viewer.page import Page, data_elements

LETTERS = ("a", "b")


def write_page(names: Sequence[str], engine: Engine, sink: TextIO) -> None:
    """Write the page for one or two traces. Raises RefusedError."""
    page, comparison = Page(), None
    sink.write(page.begin())
    digests = [Digest() for _ in names]
    with ExitStack() as stack:
        stories = (Story(), Story())
        readers = [
            stack.enter_context(open_events(name, engine, story.see))
            for name, story in zip(names, stories, strict=False)
        ]
        told = [
            _written(reader, digest, letter, sink)
            for reader, digest, letter in zip(readers, digests, LETTERS, strict=False)
        ]
        if len(told) == 2:
            comparison = compare(told[0], told[1], stories)
        else:
            for _ in told[0]:
                pass
    for name, digest in zip(names, digests, strict=True):
        if not digest.count:
            raise RefusedError(f"{_said(name)}: no events in it", BAD_DATA)
    sink.write(page.end(about(names, [r.torn_bytes for r in readers], comparison)))


def _written(reader: EventReader, digest: Digest, letter: str, sink: TextIO) -> Iterator[Event]:
    """The same events, written on their way."""
    for event in reader:
        block = digest.take(event)
        if block:
            sink.write(data_elements(letter, block))
        yield event
    block = digest.flush()
    if block:
        sink.write(data_elements(letter, block))


def _said(name: str) -> str:
    return "standard input" if name == "-" else shown_name(name)


def about(
    names: Sequence[str], torn: Sequence[int], comparison: Comparison | None, live: str = ""
) -> dict[str, Any]:
    """What the page shows, beside the events; `live` is where more of them come from."""
    traces = [
        {"letter": letter, "name": escape(_said(name)), "torn": rest}
        for letter, name, rest in zip(LETTERS, names, torn, strict=False)
    ]
    compared = comparison and {
        "verdict": comparison.likeness.name.lower(),
        "saying": SAYINGS[comparison.likeness],
        "divergence": comparison.divergence and _parted(comparison.divergence),
    }
    return {"traces": traces, "comparison": compared, "live": live}


def _parted(parted: Divergence) -> dict[str, Any]:
    shown: dict[str, Any] = as_seen(
        {
            "turn": parted.turn,
            "about": parted.about,
            "pointer": parted.pointer,
            "values": list(parted.values),
        }
    )
    return {**shown, "chains": [[_link(link) for link in chain] for chain in parted.chains]}


def _link(link: Link) -> dict[str, object]:
    return {"index": link.line - 1, "label": escape(link.label)}
