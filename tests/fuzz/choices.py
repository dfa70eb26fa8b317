"""Choices made from bytes, so that one input is one story whoever makes it up: a fuzzer that
changes bytes, Hypothesis, or a file of the corpus. When the bytes are used up, every choice is
the first one, so shorter inputs are simpler stories.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")

# What a field may hold that nobody put there on purpose.
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 7, 2**53 - 1, 2**53, -(2**53), 10**25, 0.5, -0.0, 1e300),
    *("", "x", "word-1", "Word", "-", "x" * 300, "\u2028", "é\x00\x1b[2J", "\ud800", "0.1"),
    *([], [1], ["x"], [None], {}, {"x": "y"}, {"x": {"y": 1}}, {"x": {"y": {}}}, [[[{}]]]),
)


class Choices:
    """The bytes of one input, taken from the front."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def left(self) -> int:
        """How many bytes are not used yet."""
        return len(self._data) - self._at

    def number(self, below: int) -> int:
        """A number from 0 to `below` - 1."""
        size = 1 if below <= 256 else 2 if below <= 65536 else 4
        taken = self._data[self._at : self._at + size]
        self._at += len(taken)
        return int.from_bytes(taken, "little") % below

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.number(len(options))]

    def one_in(self, times: int) -> bool:
        """True about once in so many times; False when the bytes are used up."""
        return self.left > 0 and self.number(times) == times - 1

    def rest(self) -> bytes:
        """All bytes that are left."""
        taken = self._data[self._at :]
        self._at = len(self._data)
        return taken

    def text(self, longest: int = 20) -> str:
        """Some text; seldom with lone surrogates in it."""
        size = self.number(longest)
        taken = self._data[self._at : self._at + size]
        self._at += len(taken)
        if size == longest - 1:
            return taken.decode("utf-8", "surrogateescape")
        return taken.decode("utf-8", "replace")


def spoil(node: Any, choices: Choices) -> Any:
    """A copy of some JSON with one thing in it changed: a field lost, added, or made odd."""
    if isinstance(node, dict) and node and not choices.one_in(6):
        key = choices.pick(sorted(node))
        deeper = isinstance(node[key], (dict, list)) and not choices.one_in(4)
        if deeper:
            return {**node, key: spoil(node[key], choices)}
        what = choices.number(8)
        if what == 0:
            return {name: field for name, field in node.items() if name != key}
        if what == 1:
            return {**node, choices.pick(("extra", "recovered", "chain_of_thought", "")): True}
        return {**node, key: choices.pick(ODD)}
    if isinstance(node, list) and node and not choices.one_in(3):
        at = choices.number(len(node))
        what = choices.number(4)
        if what == 0:
            return [*node[:at], *node[at + 1 :]]
        if what == 1:
            return [*node, node[at]]
        return [*node[:at], spoil(node[at], choices), *node[at + 1 :]]
    return choices.pick(ODD)
