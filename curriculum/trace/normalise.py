"""An event without what differs between two runs of the same thing: ids, times, provenance.

Ids are replaced by the order in which a trace first names them, so that two traces which tell the
same story give equal events. What was said, asked, decided and returned stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from curriculum.trace.findings import pointer_of

Event = dict[str, Any]

# Fields of payloads that hold an id, and the kind of thing that it names.
ID_FIELDS = {
    "session_id": "session",
    "request_id": "request",
    "retry_of": "request",
    "approval_id": "approval",
    "call_id": "call",
}
MEASURED = frozenset({"duration_us"})


class Normaliser:
    """Normalises the events of one trace, in order."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}

    def normalise(self, event: Event) -> Event:
        """Type, actor, parent and payload, with ids by first appearance and without times."""
        parent = event["parent_id"]
        return {
            "type": event["type"],
            "actor": event["actor"],
            "caused_by": parent and self._name("event", parent),
            "is": self._name("event", event["event_id"]),
            "payload": self._plain(event["payload"]),
        }

    def _name(self, kind: str, given: str) -> str:
        name = self._names.get((kind, given))
        if name is None:
            self._counts[kind] = count = self._counts.get(kind, 0) + 1
            name = self._names[kind, given] = f"{kind} {count}"
        return name

    def _plain(self, node: object) -> object:
        if isinstance(node, list):
            return [self._plain(item) for item in node]
        if not isinstance(node, dict):
            return node
        plain: dict[str, object] = {}
        for key in sorted(node):
            child, kind = node[key], ID_FIELDS.get(key)
            if kind and isinstance(child, str):
                plain[key] = self._name(kind, child)
            elif key not in MEASURED:
                plain[key] = self._plain(child)
        return plain


def first_difference(one: object, other: object) -> tuple[str, object, object] | None:
    """(JSON Pointer, value, value) where two trees first differ; None for a value not there."""
    return next(_differences(one, other, ()), None)


def _differences(
    one: object, other: object, path: tuple[str | int, ...]
) -> Iterator[tuple[str, object, object]]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from _differences(one.get(key), other.get(key), (*path, key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, pair in enumerate(zip(one, other, strict=True)):
            yield from _differences(*pair, (*path, index))
    elif one != other or type(one) is not type(other):
        yield pointer_of(path), one, other


def decision_of(event: Event) -> tuple[object, ...] | None:
    """What an event decided, without the words around it; None if it decided nothing.

    Decisions are: the calls an answer proposes (their arguments as JSON, if they are), whether an
    answer came at all, what was allowed, how each call ended, errors, and the reason of the stop.
    """
    kind, payload = event["type"], event["payload"]
    if kind == "user.message":
        return ("turn",)
    if kind == "model.response":
        calls = [(call["name"], _value(call["arguments"])) for call in payload["tool_calls"]]
        return ("answer", payload["status"], *calls)
    if kind == "approval.decision":
        return ("approval", payload["decision"])
    if kind == "tool.result":
        return ("result", payload["status"])
    if kind == "error":
        return ("error", payload["kind"])
    if kind == "session.stop":
        return ("stop", payload["reason"])
    return None


def _value(arguments: str) -> object:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments
