"""One record, one line: the shape that is written, and the only shape that is read back.

The same checks stand before every write and after every read, so nothing gets into a file that
could not be loaded again.
"""

from __future__ import annotations

import json
import re
from _collections_abc import Mapping

from curriculum.core.trace import clean_text, format_timestamp
from curriculum.core.values import TYPE_CHECKING, value
from curriculum.sessions.errors import RecordError
from curriculum.sessions.shape import VERSION, check_data, check_fields

if TYPE_CHECKING:
    from typing import Any, NoReturn

MAX_RECORD_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 64
# A text is one step, also one that never ends: a damaged line must not cost the square of its size.
_STEP = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[][{}]', re.S)


@value
class StoredRecord:
    """A record as it lies in the file. `sequence` is its position, from 0.

    `recovered` marks what a restart wrote because the process before it could not.
    """

    sequence: int
    timestamp: str
    kind: str
    turn_id: str
    data: Mapping[str, Any]
    recovered: bool = False


class TimeText:
    """Timestamps as a record has them; those of the same second are made quickly."""

    def __init__(self) -> None:
        self._second, self._text = -1, ""

    def of(self, wall_us: int) -> str:
        """UTC with six fraction digits, 27 characters."""
        second, fraction = divmod(wall_us, 1_000_000)
        if second != self._second:
            self._second, self._text = second, format_timestamp(wall_us)[:20]
        return f"{self._text}{fraction:06}Z"


# region: encode
def encode(record: StoredRecord) -> bytes:
    """The record as one line with its LF. Raises RecordError for what could not be read back."""
    kind = record.kind
    check_data(kind, record.timestamp, record.turn_id, record.data)
    fields: dict[str, object] = {
        "session_version": VERSION,
        "sequence": record.sequence,
        "timestamp": record.timestamp,
        "kind": kind,
    }
    if kind != "session":
        fields["turn_id"] = record.turn_id
    if record.recovered:
        fields["recovered"] = True
    fields["data"] = record.data
    try:
        text = _write_json(fields)
        check_depth(text)
    except (TypeError, ValueError, RecursionError) as fault:
        raise RecordError(f"the {kind} record is not JSON: {fault}") from None
    if not text.isascii():
        text = clean_text(text)
        for code in (0x85, 0x2028, 0x2029):  # at which some readers end a line
            text = text.replace(chr(code), f"\\u{code:04x}")
    line = text.encode() + b"\n"
    if len(line) > MAX_RECORD_BYTES:
        raise RecordError(f"the {kind} record has {len(line)} bytes of {MAX_RECORD_BYTES}")
    if _may_hold_anything(record.data, text.isascii()):
        decode(line[:-1])  # keys may have become equal, and so on: reading it back is tried out
    return line


# endregion


def _may_hold_anything(data: Mapping[str, Any], is_ascii: bool) -> bool:
    """Whether the checks of its fields leave it open that the data can be read back.

    The values of a display have been checked; its keys are safe if they are texts without any
    character that has to be replaced.
    """
    if "display" in data and is_ascii:
        display = data["display"]
        inner = [found for found in display.values() if isinstance(found, Mapping)]
        return not all(type(key) is str for part in (display, *inner) for key in part)
    return "opaque" in data or "display" in data


def _plain(thing: object) -> object:
    if isinstance(thing, Mapping):
        return dict(thing)
    raise TypeError(f"{type(thing).__name__} is not JSON")


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key stands twice")
    return fields


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0.0:
        raise ValueError(f"no float is as large as {text[:20]}")
    return number


# Made once: making one for each record would cost as much as using it.
_write_json = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain
).encode
_read_json = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_constant=_no_constant, parse_float=_finite
).decode


def check_depth(text: str) -> None:
    """Raise RecordError for JSON that nests deeper than 64: reading it back has to be safe."""
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return
    depth = 0
    for step in _STEP.findall(text):
        if step in "[{":
            depth += 1
        elif step in "]}":
            depth -= 1
        if depth > MAX_DEPTH:
            raise RecordError(f"nesting is deeper than {MAX_DEPTH}")


# region: decode
def decode(line: bytes) -> StoredRecord:
    """The record of one line (without its LF). Raises RecordError."""
    try:
        text = line.decode()
        check_depth(text)
        fields = _read_json(text)
        if b"\\ud" in line:  # only an escape can bring a lone surrogate
            json.dumps(fields, ensure_ascii=False).encode()
    except UnicodeDecodeError:
        raise RecordError("not UTF-8") from None
    except UnicodeEncodeError:
        raise RecordError("a text holds a lone surrogate") from None
    except (ValueError, RecursionError) as fault:
        raise RecordError(f"not JSON: {str(fault)[:80]}") from None
    check_fields(fields)
    return StoredRecord(
        fields["sequence"],
        fields["timestamp"],
        fields["kind"],
        fields.get("turn_id", ""),
        fields["data"],
        fields.get("recovered", False),
    )


# endregion
