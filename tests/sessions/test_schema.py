"""The schema and the store's own checks say the same of every record."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from curriculum.core.trace import clean_text
from curriculum.sessions.errors import RecordError
from curriculum.sessions.record import StoredRecord, decode, encode
from curriculum.sessions.shape import KINDS, check_fields
from tests.golden import ROOT
from tests.sessions.parts import file_of, records_of, reopen, saved_turn

SCHEMA = json.loads((ROOT / "schemas" / "session-0.1" / "record.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
TIME = "2026-01-01T00:00:00.000000Z"
CALL = {"call_id": "c", "name": "bash", "arguments": "{"}
DATA: dict[str, dict[str, Any]] = {
    "session": {"session_id": "s-1", "about": {"model": "m", "max_turns": 8, "ok": True}},
    "user_input": {"content": "é\u2028"},
    "model_response": {
        "content": "",
        "tool_calls": [CALL],
        "opaque": [None, {"x": 1.5}],
        "stop": True,
        "usage": {},
    },
    "tool_start": {"call_id": "c", "display": {"command": "ls", "env": {"A": "1"}}},
    "tool_result": {
        "call_id": "c",
        "status": "failed",
        "output": "",
        "exit_code": -9,
        "truncated": True,
        "reason": "timeout",
        "notes": ["n"],
        "duration_us": 5,
    },
    "turn_end": {"status": "completed"},
    "outcome_acknowledged": {"call_id": "c", "by": "user"},
}


def fields_of(kind: str) -> dict[str, Any]:
    turn = {} if kind == "session" else {"turn_id": "turn-1"}
    envelope = {"session_version": "0.1", "sequence": 3, "timestamp": TIME, "kind": kind, **turn}
    return {**envelope, "data": copy.deepcopy(DATA[kind])}


def is_taken(fields: object) -> bool:
    try:
        check_fields(fields)
    except RecordError:
        return False
    return True


def test_the_schema_is_a_schema_with_a_name_that_is_no_host() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == "urn:agent-harness-curriculum:session-0.1:record"


def test_schema_and_store_know_the_same_kinds_and_fields() -> None:
    assert set(SCHEMA["properties"]["kind"]["enum"]) == set(KINDS) == set(DATA)
    for kind, (required, rules) in KINDS.items():
        rule = SCHEMA["$defs"][kind]
        assert set(rule["properties"]) == rules.keys()
        assert set(rule["required"]) == required
        assert rule["additionalProperties"] is False


@pytest.mark.parametrize("kind", DATA)
def test_a_right_record_is_right_for_both(kind: str) -> None:
    fields = fields_of(kind)
    assert not list(VALIDATOR.iter_errors(fields))
    check_fields(fields)


@pytest.mark.parametrize("kind", DATA)
def test_only_what_a_restart_writes_is_marked_recovered(kind: str) -> None:
    written = {"tool_result": {"not_executed", "unknown"}, "turn_end": {"interrupted"}}
    statuses = SCHEMA["$defs"][kind]["properties"].get("status", {}).get("enum", [None])
    for status in statuses:
        fields = {**fields_of(kind), "recovered": True}
        if status:
            fields["data"]["status"] = status
        assert is_taken(fields) == VALIDATOR.is_valid(fields) == (status in written.get(kind, ()))


WRONG: list[Any] = [None, True, False, 0, -1, 2**53, 0.5, "", "x", "x" * 257, "\n"]
WRONG += [[], [1], ["x"], {}, {"x": []}, {"x": "y"}, {"x": {"y": {}}}, 1e300, True]


def paths_of(kind: str) -> list[tuple[str | int, ...]]:
    """Every place in a record of the kind, and places that are not there."""
    paths: list[tuple[str | int, ...]] = [(name,) for name in [*fields_of(kind), "recovered"]]
    paths += [("extra",), *[("data", name) for name in [*DATA[kind], "extra"]]]
    if kind == "session":
        paths += [("turn_id",), ("data", "about", "model")]
    if kind == "tool_start":
        paths += [("data", "display", "command"), ("data", "display", "env", "A")]
    if kind == "model_response":
        paths += [("data", "tool_calls", 0, name) for name in [*CALL, "extra"]]
    return paths


PATHS = [(kind, path) for kind in DATA for path in paths_of(kind)]


@pytest.mark.parametrize(("kind", "path"), PATHS, ids=lambda value: str(value))
def test_a_changed_record_is_right_or_wrong_for_both(
    kind: str, path: tuple[str | int, ...]
) -> None:
    verdicts = set()
    for wrong in [*WRONG, "missing"]:
        fields: Any = fields_of(kind)
        target = fields
        for step in path[:-1]:
            target = target[step]
        if wrong == "missing":
            target.pop(path[-1], None)
        else:
            target[path[-1]] = wrong
        assert is_taken(fields) == VALIDATOR.is_valid(fields), fields
        verdicts.add(is_taken(fields))
    assert False in verdicts or path[-1] == "opaque"


@pytest.mark.parametrize(
    "time",
    [
        "2026-01-01T00:00:00.000000",
        "2026-01-01 00:00:00.000000Z",
        "2026-01-01T00:00:00.00000Z",
        "2026-01-01T00:00:00.000000z",
        "٢026-01-01T00:00:00.000000Z",
        "2026-0a-01T00:00:00.000000Z",
        "2026-01-01T00:00:00,000000Z",
        TIME + "\n",
        " " + TIME[1:],
        "0000" + TIME[4:],
        "1" + TIME,
        "2026-13-01T00:00:00.000000Z",
        "2026-01-32T00:00:00.000000Z",
        "2026-01-00T00:00:00.000000Z",
        "2026-01-01T24:00:00.000000Z",
        "2026-01-01T00:60:00.000000Z",
        "2026-01-01T00:00:61.000000Z",
    ],
)
def test_a_timestamp_has_one_shape(time: str) -> None:
    fields = {**fields_of("turn_end"), "timestamp": time}
    assert not is_taken(fields)
    assert not VALIDATOR.is_valid(fields)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(content=TEXT, arguments=TEXT, opaque=JSON)
def test_what_is_written_is_one_valid_line_and_comes_back_equal(
    content: str, arguments: str, opaque: object
) -> None:
    call = {"call_id": "c", "name": "bash", "arguments": arguments}
    data = {"content": content, "tool_calls": [call], "opaque": opaque}
    record = StoredRecord(1, TIME, "model_response", "turn-1", data)
    line = encode(record)
    assert line.endswith(b"\n")
    assert len(line.decode().splitlines()) == 1
    assert VALIDATOR.is_valid(json.loads(line))
    assert decode(line[:-1]) == record


@given(text=st.text(st.characters(categories=["Cs", "Lu", "Zl"]), min_size=1))
def test_a_lone_surrogate_never_reaches_the_disk(text: str) -> None:
    data = {"content": "", "tool_calls": [], "opaque": {text: [text]}}
    line = encode(StoredRecord(1, TIME, "model_response", "turn-1", data))
    assert decode(line[:-1]).data["opaque"] == {clean_text(text): [clean_text(text)]}


@given(line=st.binary(max_size=200) | st.builds(lambda x: json.dumps(x).encode(), JSON))
def test_any_bytes_are_a_record_or_refused(line: bytes) -> None:
    with pytest.raises(RecordError):
        decode(line)


def test_every_record_that_a_session_writes_is_valid(tmp_path: Path) -> None:
    lines = saved_turn(tmp_path, 2).splitlines(keepends=True)
    for kept in range(1, len(lines) + 1):
        file_of(tmp_path).write_bytes(b"".join(lines[:kept]))
        with reopen(tmp_path, "with-evidence") as store:
            for outcome in store.unacknowledged:
                store.acknowledge(outcome)
        for record in records_of(file_of(tmp_path).read_bytes()):
            assert not list(VALIDATOR.iter_errors(record))
