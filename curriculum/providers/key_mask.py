"""The key, kept out of whatever a provider says: its messages, its text as it streams, its calls.

A model can say back what it was sent, and from then on its answer would be shown, run and kept. So
an answer is masked once, where it enters, and everything behind that sees the mask. A key may come
cut into pieces: what could be its beginning waits until the next piece decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from curriculum.core.errors import ProtocolError
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.values import replace

MARK = "[REDACTED:api-key:1]"
SHORTEST_KEY = 8  # characters; a shorter one is a stand-in (EMPTY, ollama), and often a word
SHORTEST_PART = 6  # characters of a key that are still worth hiding


class KeyMask:
    """Masks one key; None or one that is shorter than SHORTEST_KEY masks nothing."""

    def __init__(self, key: str | None) -> None:
        self.key = key if key and len(key) >= SHORTEST_KEY else ""
        # Behind an odd backslash stands no escape, but a letter u and so on.
        self._spelled = re.compile(rf"((?<!\\)(?:\\\\)*){''.join(map(_spellings, self.key))}")

    def text(self, text: str) -> str:
        """A text that is whole, without the key."""
        return text.replace(self.key, MARK) if self.key else text

    def message(self, text: str) -> str:
        """A text that may have been cut: without the key, nor the beginning of one at its end."""
        text = self.text(text)
        for size in range(len(self.key) - 1, SHORTEST_PART - 1, -1):
            if text.rstrip().endswith(self.key[:size]):
                return text.rstrip()[:-size] + MARK
        return text

    # region: json
    def json_text(self, text: str) -> str:
        """JSON that is not parsed yet: the key may be spelled with escapes, as \\u0073 for s.

        It may be no JSON after all, and of any length: nothing is parsed or looked at twice.
        """
        if not self.key:
            return text
        text = self.text(text)
        return self._spelled.sub(rf"\1{MARK}", text) if "\\" in text else text

    # endregion

    def data(self, data: Any) -> Any:
        """Plain data without the key, in its values or names."""
        if isinstance(data, str):
            return self.json_text(data)
        if isinstance(data, list):
            return [self.data(item) for item in data]
        if isinstance(data, dict):
            return {self.text(name): self.data(field) for name, field in data.items()}
        return data

    # region: turn
    def turn(self, turn: ModelTurn, shown: list[str]) -> ModelTurn:
        """The turn as it may be kept; `shown` are the pieces of its text, masked.

        Raises ProtocolError if a tool or a call is named by the key: no provider would take the
        masked name back, and the conversation could not go on.
        """
        if not self.key:
            return turn
        if any(self.key in f"{call.name} {call.call_id}" for call in turn.tool_calls):
            raise ProtocolError("the model named a tool or a call by the API key; nothing was run")
        return replace(
            turn,
            content="".join(shown),
            chunks=tuple(shown),
            tool_calls=tuple(
                ToolCall(call.call_id, call.name, self.json_text(call.arguments))
                for call in turn.tool_calls
            ),
            opaque=self.data(turn.opaque),
        )

    # endregion


# region: stream
class MaskedText:
    """A text that arrives in pieces, without the key, wherever it is cut. `pieces` were shown."""

    def __init__(self, mask: KeyMask) -> None:
        self._key = mask.key
        self._held = ""
        self.pieces: list[str] = []

    def add(self, piece: str) -> Iterator[str]:
        """What can be shown now that `piece` has arrived: nothing, or one piece."""
        if not self._key:
            return self._show(piece)
        *before, rest = (self._held + piece).split(self._key)
        sizes = range(min(len(self._key) - 1, len(rest)), 0, -1)
        held = next((size for size in sizes if rest.endswith(self._key[:size])), 0)
        self._held = rest[len(rest) - held :]
        return self._show(MARK.join([*before, rest[: len(rest) - held]]))

    def end(self) -> Iterator[str]:
        """What was held back, once nothing can follow."""
        held, self._held = self._held, ""
        return self._show(held)

    def _show(self, piece: str) -> Iterator[str]:
        if piece:
            self.pieces.append(piece)
            yield piece


# endregion


def _spellings(char: str) -> str:
    """A pattern for a character as it may stand in a JSON string."""
    plain = {'"': r'\\"', "\\": r"\\\\", "/": r"\\?/"}.get(char, re.escape(char))
    return rf"(?:{plain}|\\u(?i:{ord(char):04x}))"
