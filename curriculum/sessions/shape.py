"""What a record may hold, kind by kind.

These are the rules of `schemas/session-0.1`, spelled in Python because a session has to open where
no schema library is installed. They are closed: an unknown field is refused, since a program that
skips what it does not know would load less than was kept.
"""

from __future__ import annotations

import json
import re
from _collections_abc import Mapping

from curriculum.core.values import TYPE_CHECKING
from curriculum.sessions.errors import RecordError
from curriculum.sessions.ids import is_session_id

if TYPE_CHECKING:
    from collections.abc import Callable

    Rule = Callable[[object], bool]
    Shape = tuple[frozenset[str], dict[str, Rule]]  # required names, and the rule of each

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
# As in Trace 0.1, so that every session can be exported; a year 0 is in no calendar of ours.
_TIME = re.compile(
    "(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    "T([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)[.][0-9]{6}Z"
)
_WORD = re.compile("[a-z][a-z0-9_-]{0,63}")
CLOSED_BY_RESTART = {"tool_result": ("not_executed", "unknown"), "turn_end": ("interrupted",)}


def check_fields(fields: object) -> None:
    """Raise RecordError unless these are the fields of a record of this version."""
    if not isinstance(fields, dict):
        raise RecordError("not a record: an object is needed")
    version = fields.get("session_version")
    if version != VERSION:
        raise RecordError(f"session_version is {_quote(version)}; this program knows {VERSION}")
    kind = fields.get("kind")
    if type(kind) is not str or kind not in KINDS:
        raise RecordError(f"the kind {_quote(kind)} is unknown")
    _check(fields, ENVELOPE if kind != "session" else HEADER_ENVELOPE, "")
    _check(fields["data"], KINDS[kind], "data.")
    if "recovered" in fields and fields["data"].get("status") not in CLOSED_BY_RESTART.get(
        kind, ()
    ):
        raise RecordError(f"recovered stands on a {kind} record that no restart writes")


def check_data(kind: str, timestamp: str, turn_id: str, data: Mapping[str, object]) -> None:
    """Raise RecordError unless a record may hold this; the rest of it the store fills in."""
    if kind not in KINDS:
        raise RecordError(f"the kind {_quote(kind)} is unknown")
    if not _is_time(timestamp):
        raise RecordError(f"timestamp has no right value: {_quote(timestamp)}")
    if kind != "session" and not _is_call_id(turn_id):
        raise RecordError(f"turn_id has no right value: {_quote(turn_id)}")
    _check(data, KINDS[kind], "data.")


def _check(fields: Mapping[str, object], shape: Shape, where: str) -> None:
    """Hold each field to its rule."""
    required, rules = shape
    for name, found in fields.items():
        rule = rules.get(name)
        if rule is None:
            raise RecordError(f"{where}{_quote(name)} is an unknown field")
        if not rule(found):
            raise RecordError(f"{where}{name} has no right value: {_quote(found)}")
    if not required <= fields.keys():
        missing = sorted(required - fields.keys())
        raise RecordError(f"{where}{missing[0]} is missing")


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
    return type(found) is dict or isinstance(found, Mapping)


def _is_call_id(found: object) -> bool:
    return type(found) is str and 0 < len(found) <= MAX_CALL_ID


def _is_integer(found: object) -> bool:
    return type(found) is int and abs(found) <= MAX_INTEGER


def _is_flag(found: object) -> bool:
    return type(found) is bool


def _is_true(found: object) -> bool:
    return found is True


def _is_time(found: object) -> bool:
    return type(found) is str and _TIME.fullmatch(found) is not None


def _is_word(found: object) -> bool:
    return type(found) is str and _WORD.fullmatch(found) is not None


def _is_scalar(found: object) -> bool:
    if type(found) in (int, float):
        return abs(found) <= MAX_INTEGER  # type: ignore[arg-type]
    return found is None or type(found) in (str, bool)


def _is_display(found: object) -> bool:
    """Scalars, or flat mappings of them, as in Trace 0.1."""
    return isinstance(found, Mapping) and all(
        _is_scalar(field) or (isinstance(field, Mapping) and all(map(_is_scalar, field.values())))
        for field in found.values()
    )


def _is_texts(found: object) -> bool:
    return isinstance(found, (list, tuple)) and all(type(item) is str for item in found)


def _is_about(found: object) -> bool:
    return isinstance(found, Mapping) and all(
        type(key) is str and (_is_text(item) or _is_flag(item) or _is_integer(item))
        for key, item in found.items()
    )


def _is_calls(found: object) -> bool:
    return isinstance(found, (list, tuple)) and all(
        _is_mapping(call)
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


def _shape(rules: Mapping[str, Rule]) -> Shape:
    """A rule whose name ends in `?` is for a field that may be absent."""
    required = frozenset(name for name in rules if not name.endswith("?"))
    return required, {name.removesuffix("?"): rule for name, rule in rules.items()}


_HEADER: dict[str, Rule] = {
    "session_version": _is_text,
    "sequence": _is_count,
    "timestamp": _is_time,
    "kind": _is_text,
    "data": _is_mapping,
}
HEADER_ENVELOPE = _shape(_HEADER)
ENVELOPE = _shape({**_HEADER, "turn_id": _is_call_id, "recovered?": _is_true})
# What `data` holds, by kind: what the core's loop records, then what a restart needs.
KINDS: dict[str, Shape] = {
    "session": _shape({"session_id": is_session_id, "about?": _is_about}),
    "user_input": _shape({"content": _is_text}),
    "model_response": _shape(
        {
            "content": _is_text,
            "tool_calls": _is_calls,
            "opaque?": _is_anything,
            "stop?": _is_flag,
            "usage?": _is_mapping,
        }
    ),
    "tool_start": _shape({"call_id": _is_call_id, "display": _is_display}),
    "tool_result": _shape(
        {
            "call_id": _is_call_id,
            "status": _one_of(STATUSES),
            "output": _is_text,
            "exit_code?": _is_integer,
            "truncated?": _is_flag,
            "reason?": _is_word,
            "notes?": _is_texts,
            "duration_us?": _is_count,
        }
    ),
    "turn_end": _shape({"status": _one_of(ENDINGS)}),
    "outcome_acknowledged": _shape({"call_id": _is_call_id, "by": _one_of(ACTORS)}),
}
