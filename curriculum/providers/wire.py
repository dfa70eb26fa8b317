"""Reading a provider's JSON without trusting it: strict text, plain types, bounded depth.

What an adapter keeps of an answer goes into a session file and back over the wire, so it must be
data that every JSON reader keeps as it is: no NaN, no lone surrogates, no integer beyond 2^53.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from curriculum.core.errors import ProtocolError
from curriculum.core.messages import ToolCall, Usage
from curriculum.core.model import MAX_CALLS
from curriculum.core.trace import MAX_INTEGER, clean_text

MOST_DEPTH = 60  # nesting of an item that is kept
MOST_ITEMS = 2 * MAX_CALLS  # calls, and what stands between them, that are kept of one answer
MOST_PARSED = 1_000_000  # commas and brackets of one text: no more values than these are parsed
MOST_NODES = 100_000  # values in them: three bytes of a stream may be seventy in memory


def parse(text: str) -> Any:
    """`text` as JSON data that can be written again, once it is clean. Raises ValueError if not."""
    if len(text) > MOST_PARSED and sum(map(text.count, ",[{")) > MOST_PARSED:
        raise ValueError(f"it may hold more than {MOST_PARSED} values")
    try:
        data = json.loads(text)
        _check(data, MOST_DEPTH)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return data


def _check(data: object, depth: int) -> None:
    if depth < 0:
        raise ValueError(f"it is nested deeper than {MOST_DEPTH}")
    if isinstance(data, dict):
        for field in data.values():
            _check(field, depth - 1)
    elif isinstance(data, list):
        for item in data:
            _check(item, depth - 1)
    elif isinstance(data, int) and abs(data) > MAX_INTEGER:
        raise ValueError("it holds an integer that readers would change")
    elif isinstance(data, float) and data - data != 0.0:
        raise ValueError("it holds a number that JSON does not have")


def clean(data: Any) -> Any:
    """The same data without lone surrogates, so that it can be written as UTF-8."""
    if isinstance(data, str):
        return clean_text(data)
    if isinstance(data, list):
        return [clean(item) for item in data]
    if isinstance(data, dict):
        return {clean_text(name): clean(field) for name, field in data.items()}
    return data


class Kept:
    """Counts what is kept of an answer while it arrives, so that its end need not be waited for."""

    def __init__(self) -> None:
        self._calls = self._items = self._nodes = 0

    def item(self, item: object, is_call: bool) -> None:
        """One more item. Raises ProtocolError if it is one too many."""
        self._items += 1
        self._calls += is_call
        if self._calls > MAX_CALLS:
            raise ProtocolError(f"the answer has more than {MAX_CALLS} calls; stopped")
        if self._items > MOST_ITEMS:
            raise ProtocolError(f"the answer has more than {MOST_ITEMS} items; stopped")
        self.data(item)

    def data(self, data: object) -> None:
        """More of an item. Raises ProtocolError if it is too much."""
        self._nodes += _nodes(data)
        if self._nodes > MOST_NODES:
            raise ProtocolError(f"the answer has more than {MOST_NODES} values to keep; stopped")


def _nodes(data: object) -> int:
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return 1 + sum(map(_nodes, inner))


def text_of(data: object, name: str) -> str:
    """The text in that field; "" if there is none."""
    field = data.get(name) if isinstance(data, Mapping) else None
    return field if isinstance(field, str) else ""


def dict_of(data: object, name: str) -> dict[str, Any]:
    """The object in that field; {} if there is none."""
    field = data.get(name) if isinstance(data, Mapping) else None
    return field if isinstance(field, dict) else {}


def list_of(data: object, name: str) -> list[Any]:
    """The list in that field; [] if there is none."""
    field = data.get(name) if isinstance(data, Mapping) else None
    return field if isinstance(field, list) else []


def call_of(call_id: object, name: object, arguments: object) -> ToolCall:
    """A call as the core knows it. Raises ProtocolError if it could not be paired or prepared."""
    if not isinstance(call_id, str) or not call_id:
        raise ProtocolError(
            f"the model asked for a tool without a usable call_id ({call_id!r:.50})"
        )
    if not isinstance(name, str) or not name:
        raise ProtocolError(f"the call {call_id!r:.50} names no tool")
    if not isinstance(arguments, str):
        kind = type(arguments).__name__
        raise ProtocolError(f"the arguments of the call {call_id!r:.50} are {kind}, not text")
    return ToolCall(call_id, name, arguments)


def usage_of(usage: object, input_name: str, output_name: str) -> Usage | None:
    """The tokens that a provider counted, if it did."""
    if not isinstance(usage, Mapping):
        return None
    read, written = usage.get(input_name), usage.get(output_name)
    if type(read) is not int or type(written) is not int or min(read, written) < 0:
        return None
    return Usage(read, written)
