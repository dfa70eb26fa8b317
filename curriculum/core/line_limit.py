"""How an event that is too long for one line of a trace is cut.

The longest text of its payload is halved and marked until the line fits, so that a reader never
meets a line beyond the limit, and sees what is missing. Loaded only when a line is too long.
"""

from __future__ import annotations

from _collections_abc import Mapping

from curriculum.core.errors import TraceError

MARK = "[REDACTED:line-limit:1]"


def shorten_longest(payload: object) -> tuple[str, object]:
    """(JSON Pointer of the cut, a copy of `payload` with its longest text halved and marked).

    Raises TraceError if no text is long enough for a cut to help.
    """
    length, pointer = max(_texts(payload, "/payload"), default=(0, ""))
    if length <= 2 * len(MARK):
        raise TraceError("an event has too many fields to fit in one line of a trace")
    return pointer, _rebuild(payload, "/payload", pointer)


def pointer_token(key: str) -> str:
    """One step of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def _texts(node: object, pointer: str) -> list[tuple[int, str]]:
    if isinstance(node, str):
        return [(len(node), pointer)]
    return [text for step, child in _children(node, pointer) for text in _texts(child, step)]


def _rebuild(node: object, pointer: str, target: str) -> object:
    if isinstance(node, str):
        return node.removesuffix(MARK)[: len(node) // 2] + MARK if pointer == target else node
    rebuilt = [_rebuild(child, step, target) for step, child in _children(node, pointer)]
    if isinstance(node, Mapping):
        return dict(zip(node, rebuilt, strict=True))
    return rebuilt or node


def _children(node: object, pointer: str) -> list[tuple[str, object]]:
    if isinstance(node, (list, tuple)):
        return [(f"{pointer}/{index}", child) for index, child in enumerate(node)]
    if isinstance(node, Mapping):
        return [(f"{pointer}/{pointer_token(str(key))}", child) for key, child in node.items()]
    return []
