"""Other validators of the same schema file, each as `line -> whether it is a right event`.

All but pydantic take the schema as it is. For pydantic it is translated into types; what stands
under a pattern of keys (`config`, notes of vendors) is not looked at. How much
a validator checks is not taken on trust: `mutants` are wrong in one place each, and it is counted
how many of them it refuses.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, Literal, NotRequired, Union

import fastjsonschema
import jsonschema_rs
import orjson
from jsonschema import Draft202012Validator
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from curriculum.trace.schema import OTHER, compose, load_schema

IsValid = Callable[[bytes], bool]
SCALARS = {"string": str, "integer": int, "number": float, "boolean": bool}
LIMITS = {
    "minimum": "ge",
    "maximum": "le",
    "minLength": "min_length",
    "maxLength": "max_length",
    "pattern": "pattern",
}


# region: peers
def by_jsonschema_rs() -> IsValid:
    """The limit that we hold ours against: the fastest parser, the fastest validator."""
    loads, is_valid = orjson.loads, jsonschema_rs.Draft202012Validator(load_schema()).is_valid
    return lambda line: bool(is_valid(loads(line)))


def by_jsonschema_rs_per_type() -> IsValid:
    """The same with a flat schema for each type, as ours has them."""
    schemas = compose(load_schema())
    shapes = {k: jsonschema_rs.Draft202012Validator(v).is_valid for k, v in schemas.items()}
    other, loads = shapes[OTHER], orjson.loads

    def is_valid(line: bytes) -> bool:
        event = loads(line)
        try:
            shape = shapes.get(event["type"], other)
        except (KeyError, TypeError):
            return False
        return bool(shape(event))

    return is_valid


def by_jsonschema() -> IsValid:
    loads, is_valid = orjson.loads, Draft202012Validator(load_schema()).is_valid
    return lambda line: bool(is_valid(loads(line)))


def by_fastjsonschema() -> IsValid:
    loads, check = orjson.loads, fastjsonschema.compile(load_schema(), use_default=False)

    def is_valid(line: bytes) -> bool:
        try:
            check(loads(line))
            return True
        except fastjsonschema.JsonSchemaException:
            return False

    return is_valid


def by_pydantic() -> IsValid:
    """Parses by itself. The types have no room for events of vendors, which are in no file here."""
    schemas = compose(load_schema()).items()
    kinds: Any = tuple(
        _shape(f"e{n}", schema, kind) for n, (kind, schema) in enumerate(schemas) if kind
    )
    union: Any = Union[kinds]  # noqa: UP007
    check = TypeAdapter(Annotated[union, Field(discriminator="type")]).validate_json

    def is_valid(line: bytes) -> bool:
        try:
            check(line)
            return True
        except ValidationError:
            return False

    return is_valid


PEERS: dict[str, Callable[[], IsValid]] = {
    "orjson + jsonschema-rs": by_jsonschema_rs,
    "orjson + jsonschema-rs by type": by_jsonschema_rs_per_type,
    "orjson + fastjsonschema": by_fastjsonschema,
    "pydantic": by_pydantic,
    "orjson + jsonschema": by_jsonschema,
}
# endregion


def _shape(name: str, schema: dict[str, Any], kind: str = "") -> Any:
    """An object with named fields. `kind` is what the field `type` has to be."""
    fields: dict[str, Any] = {}
    for key, node in schema["properties"].items():
        found = Literal[kind] if kind and key == "type" else _type(node, f"{name}_{key}")
        fields[key] = found if key in schema.get("required", ()) else NotRequired[found]
    made: Any = TypedDict(name, fields)  # type: ignore[operator]
    made.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)
    return made


def _type(node: dict[str, Any], name: str) -> Any:
    if "const" in node:
        return Literal[node["const"]]
    if "enum" in node:
        return Literal[tuple(node["enum"])]
    kind = node.get("type")
    if kind == "null":
        return None
    if "anyOf" in node or isinstance(kind, list):
        choices = node.get("anyOf") or [{**node, "type": one} for one in kind]
        found: Any = tuple(_type(one, f"{name}_{n}") for n, one in enumerate(choices))
        return Union[found]  # noqa: UP007
    if kind == "object":
        if "patternProperties" in node or not node.get("properties"):
            return dict[str, Any]
        return _shape(name, node)
    if kind == "array":
        return list[_type(node["items"], name)]  # type: ignore[misc]
    limits = {ours: node[theirs] for theirs, ours in LIMITS.items() if theirs in node}
    return Annotated[SCALARS[str(kind)], Field(strict=True, **limits)] if kind else Any


# region: mutants
def mutants(events: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """Each event once for everything in it that can be left out, added or be of another type."""
    for event in events:
        for path in list(_paths(event)):
            for wrong in ({"x": 1}, [None], -1.5, None):
                node = mutant = copy.deepcopy(event)
                for step in path[:-1]:
                    node = node[step]
                if type(node[path[-1]]) is not type(wrong):
                    node[path[-1]] = wrong
                    yield orjson.dumps(mutant)
            if isinstance(path[-1], str):
                node = mutant = copy.deepcopy(event)
                for step in path[:-1]:
                    node = node[step]
                del node[path[-1]]
                node[f"{path[-1]}_"] = 1
                yield orjson.dumps(mutant)


def _paths(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    children = node.items() if isinstance(node, dict) else enumerate(node)
    for step, child in children:
        yield (*path, step)
        if isinstance(child, (dict, list)):
            yield from _paths(child, (*path, step))


# endregion
