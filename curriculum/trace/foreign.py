"""A session of another agent, as what can be said of any: who said what, which calls, what came.

Each importer reads its format into this; `write_foreign` makes a trace of it. What an importer
does not carry over it counts by name: `left_out` for kinds that it knows and leaves out on
purpose, `unknown` for kinds that it does not know.
"""

from __future__ import annotations

import calendar
import json
import re
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Record = dict[str, Any]
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6})\d*)?(Z|[+-]\d\d:\d\d)?")


@dataclass
class Said:
    """The user said something."""

    text: str
    when_us: int


@dataclass
class Call:
    """A proposed call; `arguments` as raw text."""

    call_id: str
    name: str
    arguments: str


@dataclass
class Answer:
    """The model answered. Records that belong to one answer may come after each other."""

    text: str
    when_us: int
    calls: list[Call] = field(default_factory=list)
    model: str = ""
    usage: tuple[int, int] | None = None


@dataclass
class Outcome:
    """What came of a call: completed, failed or denied."""

    call_id: str
    status: str
    output: str
    when_us: int
    exit_code: int | None = None


@dataclass
class Trouble:
    """The turn ended early: `kind` is a kind of error, or `cancelled`."""

    kind: str
    message: str
    when_us: int


Step = Said | Answer | Outcome | Trouble


@dataclass
class Foreign:
    """One session, in order. Times are µs since the Unix epoch, 0 where they are not known."""

    harness: str
    version: str = "unknown"
    session_id: str = ""
    model: str = ""
    has_system: bool = False
    reason: str = ""  # of the stop, where the file says it
    steps: list[Step] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)


class NotThisFormatError(Exception):
    """The file is no session of that agent; the message says why."""


def read_jsonl(data: bytes, session: Foreign) -> Iterable[Record]:
    """The records of a JSONL file; what cannot be read is counted as unknown."""
    for line in data.split(b"\n"):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            yield record
        else:
            session.unknown["a line that is no JSON object"] += 1


def epoch_of(value: object) -> int:
    """A timestamp (ISO 8601, or seconds as a number) as µs since the epoch; 0 if it is none."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return max(0, round(value * 1_000_000)) if abs(value) < 1e11 else 0
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    if not found:
        return 0
    try:
        seconds = calendar.timegm(time.strptime(found[1], "%Y-%m-%dT%H:%M:%S"))
    except (ValueError, OverflowError):
        return 0
    zone = found[3] or "Z"
    if zone != "Z":
        hours, minutes = int(zone[1:3]), int(zone[4:])
        seconds -= (hours * 3600 + minutes * 60) * (1 if zone[0] == "+" else -1)
    return max(0, seconds * 1_000_000 + int((found[2] or "0").ljust(6, "0")))


def kind_of(node: object, key: str = "type") -> str:
    """What a record or block calls itself; a word of ours if it does not say."""
    kind = node.get(key) if isinstance(node, dict) else None
    return kind if isinstance(kind, str) else f"without a {key}"


def text_of(content: object, session: Foreign, where: str) -> str:
    """The text of a message's content: a string, or blocks, of which those of text are taken."""
    if isinstance(content, str):
        return content
    texts = []
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            texts.append(block["text"])
        else:
            kind = kind_of(block)
            session.unknown[f"{where} block {kind}"] += 1
            texts.append(f"[{kind}]")
    return "\n".join(texts)


def count_of(value: object) -> int:
    """A count of tokens; 0 for anything else."""
    return value if type(value) is int and 0 <= value < 2**53 else 0
