"""Sessions and records as lines for a terminal: nothing from the file reaches it unescaped."""

from __future__ import annotations

import json

from curriculum.core.values import TYPE_CHECKING
from curriculum.sessions.state import calls_of
from curriculum.sessions.text import first_words, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curriculum.sessions.listing import Summary
    from curriculum.sessions.record import StoredRecord

WORDS_WIDTH = 50
GUTTER = "      | "  # what the file says stands behind it, so it cannot pass for a line of ours


def as_row(summary: Summary, width: int) -> str:
    """One session: id, start, turns, status, first words."""
    started = summary.started[:19].replace("T", " ") or "-"
    turns = f"{summary.turns} turn" + ("" if summary.turns == 1 else "s")
    words = first_words(summary.first_input, WORDS_WIDTH)
    row = f"{summary.session_id:{width}}  {started:19}  {turns:>9}  {summary.status:11}  {words}"
    return row.rstrip()


def as_lines(record: StoredRecord) -> Iterator[str]:
    """A record: position, time, kind and what belongs to it; its texts below."""
    head = [f"{record.sequence:5}", record.timestamp, record.kind]
    if record.kind != "session":
        head.append(shown(record.turn_id))
    for name in ("call_id", "status", "exit_code", "reason", "by", "session_id"):
        if name in record.data:
            head.append(f"{name}={shown(str(record.data[name]))}")
    if record.data.get("truncated"):
        head.append("truncated")
    if record.recovered:
        head.append("(recovered)")
    yield " ".join(head)
    for text in _texts(record):
        for line in text.split("\n"):
            yield GUTTER + shown(line)


def _texts(record: StoredRecord) -> Iterator[str]:
    data = record.data
    for name in ("content", "output"):
        if data.get(name):
            yield data[name]
    yield from data.get("notes", ())
    if record.kind == "model_response":
        for call in calls_of(data):
            yield f"{shown(call.call_id)}: {shown(call.name)} {call.arguments}"
        if "opaque" in data:
            yield "(and what the provider keeps there for itself)"
    for name in ("display", "about"):
        yield from _fields(data.get(name, {}))


def _fields(fields: Mapping[str, object]) -> Iterator[str]:
    for name, field in fields.items():
        text = field if isinstance(field, str) else json.dumps(field, ensure_ascii=False)
        yield f"{shown(name)}: {text}"
