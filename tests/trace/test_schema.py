"""The schema: closed, one definition a type; alone it judges as the validator does."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from curriculum.trace.engines import make_engine
from curriculum.trace.schema import OTHER, compose, load_schema
from curriculum.trace.validate import VENDOR_TYPE
from tests.golden import GOLDEN, ROOT
from tests.trace import story
from tests.trace.runs import PLANS, Plan, perform
from tests.trace.story import numbered

SCHEMA = load_schema()
TYPES = [rule["if"]["properties"]["type"]["const"] for rule in SCHEMA["allOf"]]
WHOLE = jsonschema_rs.Draft202012Validator(SCHEMA)
CONTRACT = """
session.start user.message model.request model.response error session.stop model.delta tool.call
tool.start tool.output tool.result approval.request approval.decision journal.append
session.recover outcome.acknowledge retry.wait cancel.request context.compact budget.spend
"""


def test_the_schema_is_a_schema_with_a_name_that_is_no_host() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMA["$id"] == "urn:agent-harness-curriculum:trace-0.1:event"


def test_there_is_one_definition_for_each_type_of_the_contract() -> None:
    assert sorted(TYPES) == sorted(CONTRACT.split())
    assert set(TYPES) <= SCHEMA["$defs"].keys()
    assert sorted(SCHEMA["properties"]["type"]["anyOf"][0]["enum"]) == sorted(TYPES)


def objects_of(node: Any, path: str = "") -> list[tuple[str, dict[str, Any]]]:
    if isinstance(node, list):
        return [item for child in node for item in objects_of(child, path)]
    if not isinstance(node, dict):
        return []
    found = [(path, node)] if "properties" in node and node.get("type") == "object" else []
    for key, child in node.items():
        found += objects_of(child, f"{path}/{key}")
    return found


def test_every_object_is_closed() -> None:
    found = objects_of(SCHEMA)
    assert len(found) > len(TYPES)
    for path, node in found:
        assert node["additionalProperties"] is False, path
        assert set(node.get("required", ())) <= node["properties"].keys(), path


def test_no_payload_has_room_for_private_reasoning() -> None:
    for path, node in objects_of(SCHEMA):
        for name in node["properties"]:
            assert not re.search("thought|reasoning", name), path


@pytest.mark.parametrize("engine", ["fast", "plain"])
def test_a_field_too_many_or_too_few_is_refused_for_every_type(engine: str) -> None:
    judges = make_engine(engine).judges
    for kind in TYPES:
        payload = SCHEMA["$defs"][kind]
        example = story.event(kind, "nobody", surprise=1)
        said = judges[kind].problems(example)
        assert ("/payload/surprise", "the schema has no such field") in said
        for name in payload["required"]:
            assert ("/payload", f"{name} is missing") in said, kind


@given(PLANS, st.integers(0, 10**6), st.sampled_from(["drop", "null", "text", "more", "type"]))
def test_the_whole_schema_and_the_shape_of_the_type_agree(
    plan: Plan, place: int, change: str
) -> None:
    lines = perform(plan).splitlines()
    event: Any = json.loads(lines[place % len(lines)])
    judges = make_judges()
    assert WHOLE.is_valid(event)
    assert judges[event["type"]].is_valid(event)
    target = event["payload"] if place % 2 else event
    name = sorted(target)[place % len(target)]
    if change == "drop":
        del target[name]
    elif change == "type":
        event["type"] = TYPES[place % len(TYPES)]
    else:
        target["more" if change == "more" else name] = None if change == "null" else "text"
    kind = event.get("type")
    known = kind if kind in TYPES else OTHER
    valid = judges[known].is_valid(event)
    named = known != OTHER or (isinstance(kind, str) and bool(VENDOR_TYPE.fullmatch(kind)))
    assert WHOLE.is_valid(event) == (valid and named)


@cache
def make_judges() -> dict[str, Any]:
    made = compose(SCHEMA)
    return {kind: jsonschema_rs.Draft202012Validator(shape) for kind, shape in made.items()}


def test_every_golden_holds_against_the_whole_schema() -> None:
    lines = [line for path in GOLDEN.glob("*.jsonl") for line in path.read_bytes().splitlines()]
    assert len(lines) > 10
    for line in lines:
        assert list(WHOLE.iter_errors(json.loads(line))) == []


@pytest.mark.parametrize("is_packed", [True, False])
def test_an_installed_validator_has_its_schema_or_says_so(is_packed: bool, tmp_path: Path) -> None:
    skip = shutil.ignore_patterns("__pycache__", "schemas")
    for name in ("__init__.py", "core", "trace"):
        source, target = ROOT / "curriculum" / name, tmp_path / "curriculum" / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=skip)
        else:
            target.parent.mkdir()
            shutil.copy(source, target)
    if is_packed:  # as `force-include` in pyproject.toml puts it into the wheel
        shutil.copytree(ROOT / "schemas", tmp_path / "curriculum" / "trace" / "schemas")
    done = subprocess.run(
        [sys.executable, "-m", "curriculum.trace", "validate", *sorted(GOLDEN.glob("*.jsonl"))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == (0 if is_packed else 69), done.stderr
    assert len(done.stderr.splitlines()) == (0 if is_packed else 1)


@pytest.mark.parametrize("ending", ["", "\n", " ", "é"])
@pytest.mark.parametrize("field", ["trace_id", "parent_id", "timestamp"])
def test_both_engines_end_a_pattern_at_the_very_end(field: str, ending: str) -> None:
    event = story.numbered(story.calls())[1]
    event[field] += ending
    said = [make_engine(name).judges["user.message"].problems(event) for name in ("fast", "plain")]
    assert said[0] == said[1]
    assert bool(said[0]) == bool(ending)


@pytest.mark.parametrize("name", ["fast", "plain"])
def test_an_empty_key_stands_in_the_pointer(name: str) -> None:
    judge = make_engine(name).judges["approval.request"]
    [event] = numbered([story.question(display={"path": {"": {}}})])
    assert [pointer for pointer, _ in judge.problems(event)] == ["/payload/display/path/"]
    [event] = numbered([story.question(display={"path": {"a": {}}, "": [[]]})])
    pointers = [pointer for pointer, _ in judge.problems(event)]
    assert pointers == ["/payload/display/", "/payload/display/path/a"]
