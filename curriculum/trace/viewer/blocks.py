"""Events as the page takes them: in blocks, each with a small index and its lines.

The index (types, actors, states, causes, calls, times: a number each) is all that the page holds
of every event; a line is parsed when it is shown. Every text is escaped here by `core.visible`, so
that what arrives in the page can be shown as it is.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from curriculum.core.visible import escape
from curriculum.trace.describe import describe
from curriculum.trace.machine import STATES, is_trouble, message_of, state_after

Event = dict[str, Any]

BLOCK_EVENTS, BLOCK_CHARACTERS = 256, 1 << 17
TROUBLE, MESSAGE, TURN = 1, 2, 4  # bits of the column `flags`
NONE = -1
# JSON escapes of what is not shown as it is, or what looks like one. A `<` is written as one too.
_SUSPECT = re.compile(r"\\[bfr]|\\u(?!003c)")
COLUMNS = ("type", "actor", "state", "flags", "parent", "call", "elapsed")


@dataclass(frozen=True)
class Block:
    """Some events in order. `index` is JSON, `lines` has one `[label, event]` a line."""

    index: str
    lines: str


class Digest:
    """Makes blocks of one trace's events, in order."""

    def __init__(self) -> None:
        self.count = 0
        self._types: dict[str, int] = {}
        self._actors: dict[str, int] = {}
        self._places: dict[str, int] = {}
        self._calls: dict[str, int] = {}
        self._call_count = 0
        self._state = STATES[0]
        self._start()

    def _start(self) -> None:
        self._columns: dict[str, list[int]] = {name: [] for name in COLUMNS}
        self._lines: list[str] = []
        self._size = 0

    def take(self, event: Event) -> Block | None:
        """The next event; a block whenever one is full."""
        kind = event["type"]
        self._state = state_after(self._state, event)
        row = (
            _number(self._types, escape(kind)),
            _number(self._actors, escape(event["actor"]["kind"])),
            STATES.index(self._state),
            (TROUBLE if is_trouble(event) else 0)
            | (MESSAGE if message_of(event) else 0)
            | (TURN if kind == "user.message" else 0),
            self._places.get(event["parent_id"] or "", NONE),
            self._call_of(kind, event["payload"]),
            event["elapsed_us"],
        )
        for name, value in zip(COLUMNS, row, strict=True):
            self._columns[name].append(value)
        self._places.setdefault(event["event_id"], self.count)
        self.count += 1
        line = _line(escape(describe(event)), event)
        self._lines.append(line)
        self._size += len(line)
        is_full = len(self._lines) == BLOCK_EVENTS or self._size > BLOCK_CHARACTERS
        return self.flush() if is_full else None

    def flush(self) -> Block | None:
        """The events since the last block, if there are any."""
        if not self._lines:
            return None
        index = {"types": list(self._types), "actors": list(self._actors), **self._columns}
        block = Block(embed(index), "\n".join(self._lines))
        self._start()
        return block

    def _call_of(self, kind: str, payload: Event) -> int:
        """The number of the call that an event is about; an id may come again in a later turn."""
        call_id = payload.get("call_id")
        if not isinstance(call_id, str):
            return NONE
        if kind == "tool.call":
            self._calls[call_id] = self._call_count
            self._call_count += 1
        return self._calls.get(call_id, NONE)


def _number(names: dict[str, int], name: str) -> int:
    return names.setdefault(name, len(names))


def as_seen(node: Any) -> Any:
    """The same tree with every text, keys too, as it may be shown."""
    if isinstance(node, str):
        return escape(node)
    if isinstance(node, dict):
        return {escape(key): as_seen(child) for key, child in node.items()}
    if isinstance(node, list):
        return [as_seen(child) for child in node]
    return node


def _line(label: str, event: Event) -> str:
    """`[label, event]` as it may be shown; most events have nothing that must be escaped."""
    text = embed([label, event])
    is_plain = text.isascii() and text.isprintable() and not _SUSPECT.search(text)
    return text if is_plain else embed([label, as_seen(event)])


def embed(data: object) -> str:
    """JSON on one line that no HTML parser can leave: it has no `<`."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
