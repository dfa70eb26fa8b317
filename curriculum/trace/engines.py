"""The two engines: jsonschema-rs with orjson for bulk, jsonschema with the standard library's JSON.

Both give the same verdicts, codes and pointers. An engine is a parser for lines and a maker of
shapes; which libraries are there decides, unless one is asked for by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from curriculum.core.trace import MAX_LINE_BYTES
from curriculum.trace.schema import Failure, Judge, Shape, compose, load_schema
from curriculum.trace.strict import has_separators, parse_strict

Parse = Callable[[bytes], dict[str, Any]]
_EMPTY = "\0an empty key"


class MissingLibraryError(Exception):
    """No JSON Schema library is installed; the message says what to do."""


@dataclass(frozen=True)
class Engine:
    """How lines are parsed and events are held against the schema."""

    name: str
    parse: Parse
    judges: dict[str, Judge]


def has_library(name: str) -> bool:
    """Whether a library is installed."""
    return find_spec(name) is not None


def make_engine(name: str = "auto") -> Engine:
    """The engine `fast`, `plain`, or the best there is. Raises MissingLibraryError."""
    fast = has_library("jsonschema_rs") and name != "plain"
    if not (fast or (has_library("jsonschema") and name != "fast")):
        wanted = {"fast": "jsonschema-rs", "plain": "jsonschema"}.get(name, "jsonschema-rs")
        raise MissingLibraryError(
            f"{wanted} is not installed; run `make locked` in a checkout, then the same command "
            "with .venv/bin/python (or pip install '.[trace]' there)"
        )
    make = _make_fast_shape if fast else _make_plain_shape
    quick = has_library("orjson") and name != "plain"
    judges = {kind: Judge(schema, make) for kind, schema in compose(load_schema()).items()}
    parse = _make_fast_parse() if quick else parse_strict
    return Engine("fast" if fast else "plain", parse, judges)


def _make_fast_parse() -> Parse:
    """orjson, trusted only where its writer gives back the very bytes that it read.

    A duplicate key, an integer beyond 2^53-1 or any unusual spelling does not come back as it
    was; such lines go to the strict parser. Depth is left to the schema, whose shapes are flat.
    """
    import orjson

    loads, dumps, strict = orjson.loads, orjson.dumps, orjson.OPT_STRICT_INTEGER

    def parse(line: bytes) -> dict[str, Any]:
        try:
            event: dict[str, Any] = loads(line)
            if (
                dumps(event, None, strict) == line
                and event.__class__ is dict
                and len(line) < MAX_LINE_BYTES
                and (line.isascii() or not has_separators(line))
            ):
                return event
        except (ValueError, TypeError):
            pass
        return parse_strict(line)

    return parse


class _FastShape:
    def __init__(self, validator: Any) -> None:
        self._validator = validator
        self.is_valid: Callable[[object], bool] = validator.is_valid

    def failures(self, event: object) -> Iterable[Failure]:
        # The library leaves an empty key out of its paths: it gets a name for as long.
        for error in self._validator.iter_errors(_with_named_keys(event)):
            path = tuple("" if step == _EMPTY else step for step in error.instance_path)
            yield path, tuple(error.schema_path)


def _with_named_keys(node: object) -> object:
    if isinstance(node, dict):
        return {key or _EMPTY: _with_named_keys(child) for key, child in node.items()}
    return [_with_named_keys(child) for child in node] if isinstance(node, list) else node


def _make_fast_shape(schema: dict[str, Any]) -> Shape:
    import jsonschema_rs

    return _FastShape(jsonschema_rs.Draft202012Validator(schema))


class _PlainShape:
    def __init__(self, validator: Any) -> None:
        self._validator = validator
        self.is_valid: Callable[[object], bool] = validator.is_valid

    def failures(self, event: object) -> Iterable[Failure]:
        for error in self._validator.iter_errors(event):
            yield tuple(error.absolute_path), tuple(error.absolute_schema_path)


def _make_plain_shape(schema: dict[str, Any]) -> Shape:
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def pattern(_: Any, demand: str, value: object, __: Any) -> Iterable[ValidationError]:
        # To Python `$` also stands before a last LF; to JSON Schema only at the very end.
        if isinstance(value, str) and not re.search(demand.replace("$", r"\Z"), value):
            yield ValidationError("no match")

    make: Any = extend
    return _PlainShape(make(Draft202012Validator, {"pattern": pattern})(schema))
