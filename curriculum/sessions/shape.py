"""What a record may hold, kind by kind.

These are the rules of `schemas/session-0.1`, spelled in Python because a session has to open where
no schema library is installed. They are closed: an unknown field is refused, since a program that
skips what it does not know would load less than was kept.
"""

from __future__ import annotations

import json
from _collections_abc import Mapping

from curriculum.core.values import TYPE_CHECKING
from curriculum.sessions.errors import RecordError
from curriculum.sessions.ids import is_session_id

if TYPE_CHECKING:
    from collections.abc import Callable

    Rule = Callable[[object], bool]

VERSION = "0.1"
STATUSES = (
    "completed",
    "failed",
    "denied",
    "invalid_arguments",
    "unknown_tool",
    "not_executed",
    "unknown",
)
ENDINGS = ("completed", "failed", "cancelled", "interrupted")
ACTORS = ("user", "harness", "policy")
MAX_CALL_ID = 256  # characters, as in Trace 0.1
MAX_INTEGER = 2**53 - 1


def check_fields(fields: object) -> None:
    """Raise RecordError unless these are the fields of a record of this version."""
    if not isinstance(fields, dict):
        raise RecordError("not a record: an object is needed")
    version = fields.get("session_version")
    if version != VERSION:
        raise RecordError(f"session_version is {_quote(version)}; this program knows {VERSION}")
    kind = fields.get("kind")
    rules = KINDS.get(kind) if isinstance(kind, str) else None
    if rules is None:
        raise RecordError(f"the kind {_quote(kind)} is unknown")
    _check(fields, ENVELOPE if kind != "session" else HEADER_ENVELOPE, "")
    _check(fields["data"], rules, "data.")


def _check(fields: Mapping[str, object], rules: Mapping[str, Rule], where: str) -> None:
    """Hold each field to its rule; a rule whose name ends in `?` is for an optional field."""
    seen = 0
    for name, holds in rules.items():
        plain = name.removesuffix("?")
        if plain in fields:
            seen += 1
            if not holds(fields[plain]):
                raise RecordError(f"{where}{plain} has no right value: {_quote(fields[plain])}")
        elif plain == name:
            raise RecordError(f"{where}{plain} is missing")
    if seen != len(fields):
        known = {name.removesuffix("?") for name in rules}
        unknown = sorted(str(name) for name in fields if name not in known)
        raise RecordError(f"{where}{_quote(unknown[0])} is an unknown field")


def _quote(found: object) -> str:
    if found is None or isinstance(found, (bool, int, str)):
        text = json.dumps(found)
        return text if len(text) <= 60 else f"a text of {len(text)} characters"
    return "a list" if isinstance(found, (list, tuple)) else f"a {type(found).__name__}"


def _is_text(found: object) -> bool:
    return type(found) is str


def _is_count(found: object) -> bool:
    return type(found) is int and 0 <= found <= MAX_INTEGER


def _is_mapping(found: object) -> bool:
    return isinstance(found, Mapping)


def _is_call_id(found: object) -> bool:
    return type(found) is str and 0 < len(found) <= MAX_CALL_ID


def _is_integer(found: object) -> bool:
    return type(found) is int and abs(found) <= MAX_INTEGER


def _is_flag(found: object) -> bool:
    return type(found) is bool


def _is_true(found: object) -> bool:
    return found is True


def _is_time(found: object) -> bool:
    return (
        type(found) is str
        and len(found) == 27
        and found[4] + found[7] + found[10] + found[13] + found[16] + found[19] + found[26]
        == "--T::.Z"
        and found.isascii()
        and (found[:4] + found[5:7] + found[8:10] + found[11:13] + found[14:16]).isdigit()
        and (found[17:19] + found[20:26]).isdigit()
    )


def _is_texts(found: object) -> bool:
    return isinstance(found, (list, tuple)) and all(type(item) is str for item in found)


def _is_about(found: object) -> bool:
    return isinstance(found, Mapping) and all(
        type(key) is str and isinstance(item, (str, int)) for key, item in found.items()
    )


def _is_calls(found: object) -> bool:
    return isinstance(found, (list, tuple)) and all(
        isinstance(call, Mapping)
        and len(call) == 3
        and _is_call_id(call.get("call_id"))
        and type(call.get("name")) is str
        and type(call.get("arguments")) is str
        for call in found
    )


def _one_of(words: tuple[str, ...]) -> Rule:
    return lambda found: found in words


def _is_anything(found: object) -> bool:
    return True


HEADER_ENVELOPE: Mapping[str, Rule] = {
    "session_version": _is_text,
    "sequence": _is_count,
    "timestamp": _is_time,
    "kind": _is_text,
    "data": _is_mapping,
}
ENVELOPE: Mapping[str, Rule] = {
    **HEADER_ENVELOPE,
    "turn_id": _is_call_id,
    "recovered?": _is_true,
}
# What `data` holds, by kind: what the core's loop records, then what a restart needs.
KINDS: Mapping[str, Mapping[str, Rule]] = {
    "session": {"session_id": is_session_id, "about?": _is_about},
    "user_input": {"content": _is_text},
    "model_response": {
        "content": _is_text,
        "tool_calls": _is_calls,
        "opaque?": _is_anything,
        "stop?": _is_flag,
        "usage?": _is_mapping,
    },
    "tool_start": {"call_id": _is_call_id, "display": _is_mapping},
    "tool_result": {
        "call_id": _is_call_id,
        "status": _one_of(STATUSES),
        "output": _is_text,
        "exit_code?": _is_integer,
        "truncated?": _is_flag,
        "reason?": _is_text,
        "notes?": _is_texts,
        "duration_us?": _is_count,
    },
    "turn_end": {"status": _one_of(ENDINGS)},
    "outcome_acknowledged": {"call_id": _is_call_id, "by": _one_of(ACTORS)},
}
