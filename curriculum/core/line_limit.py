"""How an event that is too long for one line of a trace is cut.

Every text of its payload beyond some length is cut there and marked, so that a reader never meets
a line beyond the limit, and sees what is missing. Loaded only when a line is too long.
"""

from __future__ import annotations

from _collections_abc import Mapping

MARK = "[REDACTED:line-limit:1]"


def shorten(payload: object, longest: int) -> tuple[list[str], object]:
    """(JSON Pointers of the cuts, a copy of `payload` with no text of over `longest` characters).

    The mark of a cut comes on top.
    """
    cuts: list[str] = []
    return cuts, _rebuild(payload, "/payload", longest, cuts)


def pointer_token(key: str) -> str:
    """One step of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def _rebuild(node: object, pointer: str, longest: int, cuts: list[str]) -> object:
    if isinstance(node, str):
        if len(node) <= longest:
            return node
        cuts.append(pointer)
        return node[:longest] + MARK
    children = _children(node, pointer)
    rebuilt = [_rebuild(child, step, longest, cuts) for step, child in children]
    if isinstance(node, Mapping):
        return dict(zip(node, rebuilt, strict=True))
    return rebuilt or node


def _children(node: object, pointer: str) -> list[tuple[str, object]]:
    if isinstance(node, (list, tuple)):
        return [(f"{pointer}/{index}", child) for index, child in enumerate(node)]
    if isinstance(node, Mapping):
        return [(f"{pointer}/{pointer_token(str(key))}", child) for key, child in node.items()]
    return []
