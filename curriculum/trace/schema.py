"""The shape of an event, by one schema and either of two engines.

The schema file is the source; for each type one flat schema is composed from it, so an event is
held only against its own type. The engines only say where and by which keyword an event fails:
the words come from here, so both give the same findings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from curriculum.trace.findings import pointer_of, quote

SCHEMA = Path("trace-0.1") / "event.schema.json"
OTHER = ""

Steps = tuple[str | int, ...]
Failure = tuple[Steps, Steps]


class Shape(Protocol):
    """One schema, ready to judge."""

    @property
    def is_valid(self) -> Callable[[object], bool]:
        """Whether an event has the shape."""

    def failures(self, event: object) -> Iterable[Failure]:
        """Where it fails: the path in the event, and the path of the keyword in the schema."""


def load_schema() -> dict[str, Any]:
    """The schema of one event: beside this module when installed, else in the checkout."""
    here = Path(__file__).resolve().parent
    for folder in (here / "schemas", here.parent.parent / "schemas"):
        if (folder / SCHEMA).is_file():
            schema: dict[str, Any] = json.loads((folder / SCHEMA).read_text("utf-8"))
            return schema
    raise FileNotFoundError(f"{SCHEMA} is missing from the installation; install it again")


def compose(schema: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """One flat schema for each type, and one (OTHER) for all types that it does not know."""
    envelope = {key: schema[key] for key in ("type", "required", "properties")}
    envelope["additionalProperties"] = False
    loose = {**envelope, "properties": {**envelope["properties"], "type": {"type": "string"}}}
    shapes = {OTHER: loose}
    for rule in schema["allOf"]:
        kind = rule["if"]["properties"]["type"]["const"]
        properties = {**loose["properties"], **rule["then"]["properties"]}
        shapes[kind] = {**envelope, "properties": properties}
    return {kind: _flatten(shape, schema["$defs"]) for kind, shape in shapes.items()}


def _flatten(node: Any, definitions: Mapping[str, Any]) -> Any:
    """The node with each $ref replaced by what it names."""
    if isinstance(node, list):
        return [_flatten(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    rest = {key: _flatten(child, definitions) for key, child in node.items() if key != "$ref"}
    if "$ref" in node:
        name = node["$ref"].removeprefix("#/$defs/")
        return {**_flatten(definitions[name], definitions), **rest}
    return rest


class Judge:
    """A shape with words: `is_valid` for the many, `problems` for the few."""

    def __init__(self, schema: dict[str, Any], make: Callable[[dict[str, Any]], Shape]) -> None:
        self._schema, self._shape = schema, make(schema)
        self.is_valid = self._shape.is_valid
        self.required: tuple[str, ...] = tuple(schema["required"])

    def problems(self, event: object) -> list[tuple[str, str]]:
        """(pointer, message) of everything that is wrong, in order, each once."""
        found: set[tuple[str, str]] = set()
        for path, keyword in self._shape.failures(event):
            rule: Any = self._schema
            for step in keyword[:-1]:
                rule = rule[step]
            value: Any = event
            for step in path:
                value = value[step]
            found.update(_explain(path, str(keyword[-1]), rule, value))
        return sorted(found)


def _explain(
    path: Steps, keyword: str, rule: Mapping[str, Any], value: Any
) -> Iterable[tuple[str, str]]:
    pointer, demand = pointer_of(path), rule[keyword]
    if keyword == "required":
        for name in demand:
            if name not in value:
                yield pointer, f"{name} is missing"
    elif keyword == "additionalProperties":
        known = rule.get("properties", {}).keys() | _matched(rule, value)
        for name in sorted(value.keys() - known):
            yield pointer_of((*path, name)), "the schema has no such field"
    elif keyword == "not":  # the value is private: it is not told either
        yield pointer, "private reasoning is in no payload"
    else:
        yield pointer, f"{quote(value)} {_SAYINGS[keyword](demand)}"


def _matched(rule: Mapping[str, Any], value: Mapping[str, Any]) -> set[str]:
    patterns = rule.get("patternProperties", ())
    return {key for key in value if any(re.search(pattern, key) for pattern in patterns)}


def _one_of(words: Any) -> str:
    return "is not " + " or ".join(words if isinstance(words, list) else [words])


_SAYINGS: dict[str, Callable[[Any], str]] = {
    "type": _one_of,
    "enum": lambda words: "is none of " + ", ".join(words),
    "const": lambda word: f"is not {json.dumps(word)}",
    "pattern": lambda pattern: f"does not match {pattern}",
    "minLength": lambda least: f"is shorter than {least}",
    "maxLength": lambda most: f"is longer than {most}",
    "minimum": lambda least: f"is less than {least}",
    "maximum": lambda most: f"is more than {most}",
}
