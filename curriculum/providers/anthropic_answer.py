"""The events of one Anthropic answer, gathered block by block until `message_stop`.

Text is passed on as it arrives. The arguments of a call arrive as pieces of JSON text: the text
goes to the tool as it came, the object made of it goes back to the provider.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from curriculum.core.errors import ContextOverflowError, ModelError, ProtocolError
from curriculum.core.messages import ModelTurn, ToolCall, Usage
from curriculum.providers.answer import ShownText, cut_off, join_halves, read_event
from curriculum.providers.faults import Faults
from curriculum.providers.sse import ServerSentEvent
from curriculum.providers.wire import Kept, call_of, clean, dict_of, parse, text_of

PROVIDER = "anthropic.messages"
OURS = {
    "message",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
}
FINISHED = ("end_turn", "tool_use", "stop_sequence")
UNFINISHED = {
    "max_tokens": "it reached max_tokens; raise it or ask for less",
    "refusal": "the provider stopped it for its content; ask differently",
}
COUNTED = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
)
PIECES = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}


class AnthropicAnswer:
    """One answer while it arrives. `turn` is set when it is complete."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._shown = ShownText()
        self._kept = Kept()
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[tuple[int, str], list[str]] = {}
        self._open: set[int] = set()
        self._gap = False  # something else stood between the text so far and the next text
        self._finish = ""
        self._usage: dict[str, Any] = {}
        self.turn: ModelTurn | None = None

    # region: take
    def take(self, event: ServerSentEvent) -> Iterator[str]:
        """The text to show for an event. Raises RunError if it ends the answer as a failure."""
        if not event.data.strip():
            return
        data = read_event(event, OURS, self._faults)
        kind = text_of(data, "type") or event.name
        if kind == "error" or (kind == "message" and data.get("error")):
            raise self._faults.of_error(data)
        if kind == "message_start":
            self._note_usage(dict_of(dict_of(data, "message"), "usage"))
        elif kind in ("content_block_start", "content_block_delta", "content_block_stop"):
            yield from self._block(kind, data)
        elif kind == "message_delta":
            self._note_usage(dict_of(data, "usage"))
            self._note_finish(text_of(dict_of(data, "delta"), "stop_reason"))
        elif kind == "message_stop":
            self._complete()

    # endregion

    def end(self) -> None:
        """The stream is over: too early, or `turn` would be set."""
        raise cut_off()

    # region: block
    def _block(self, kind: str, data: dict[str, Any]) -> Iterator[str]:
        index = data.get("index")
        if type(index) is not int or (index in self._blocks) == (kind == "content_block_start"):
            raise ProtocolError(f"{kind} for the block {index!r:.20}, which does not fit")
        if kind == "content_block_start":
            block = clean(dict_of(data, "content_block"))
            self._kept.item(block, block.get("type") == "tool_use")
            self._blocks[index] = block
            self._open.add(index)
            self._gap = self._gap or (bool(self._shown.pieces) and block.get("type") != "text")
            yield from self._add(index, "text", text_of(block, "text"))
        elif index not in self._open:
            raise ProtocolError(f"{kind} for the block {index}, which is closed")
        elif kind == "content_block_stop":
            self._open.remove(index)
        else:
            delta = dict_of(data, "delta")
            name = PIECES.get(text_of(delta, "type"))
            if name:
                yield from self._add(index, name, text_of(delta, name))

    def _add(self, index: int, name: str, piece: str) -> Iterator[str]:
        if not piece:
            return
        self._pieces.setdefault((index, name), []).append(piece)
        if name == "text" and self._blocks[index].get("type") == "text":
            gap, self._gap = "\n\n" * self._gap, False
            yield from self._shown.add(gap + piece)

    # endregion

    def _note_usage(self, usage: dict[str, Any]) -> None:
        self._usage |= {name: usage[name] for name in COUNTED if name in usage}

    def _note_finish(self, reason: str) -> None:
        if reason == "model_context_window_exceeded":
            raise ContextOverflowError("the answer did not fit into the model's context window")
        if reason and reason not in FINISHED:
            said = UNFINISHED.get(reason, f"reason: {self._faults.quote(reason)}")
            raise ModelError(f"the answer is incomplete ({said}); nothing of it was run")
        self._finish = reason or self._finish

    # region: complete
    def _complete(self) -> None:
        if not self._finish or self._open:
            raise ProtocolError("the message is over, but not complete")
        calls = tuple(
            self._call(index, block)
            for index, block in sorted(self._blocks.items())
            if block.get("type") == "tool_use"
        )
        whole = [self._whole(index, block) for index, block in sorted(self._blocks.items())]
        content = [b for b in whole if b.get("type") != "text" or text_of(b, "text").strip()]
        self.turn = ModelTurn(
            content="".join(self._shown.pieces),
            tool_calls=calls,
            chunks=tuple(self._shown.pieces),
            stop=not calls,
            usage=_usage(self._usage),
            opaque={"provider": PROVIDER, "content": content} if content else None,
        )

    # endregion

    def _joined(self, index: int, name: str) -> str:
        return join_halves("".join(self._pieces.get((index, name), ())))

    def _arguments(self, index: int, block: dict[str, Any]) -> str:
        """The arguments as the model wrote them; no text at all stands for an empty object."""
        return self._joined(index, "partial_json") or json.dumps(block.get("input") or {})

    def _call(self, index: int, block: dict[str, Any]) -> ToolCall:
        return call_of(block.get("id"), block.get("name"), self._arguments(index, block))

    def _whole(self, index: int, block: dict[str, Any]) -> dict[str, Any]:
        """The block as it goes back."""
        whole = dict(block)
        for name in ("text", "thinking", "signature"):
            if joined := self._joined(index, name):
                whole[name] = joined
        if block.get("type") == "tool_use":
            whole["input"] = arguments_object(self._arguments(index, block))
        return whole


def arguments_object(arguments: str) -> dict[str, Any]:
    """Arguments as the object that the protocol demands; what is none stands in one by its text."""
    try:
        data = clean(parse(arguments))
    except ValueError:
        data = None
    return data if isinstance(data, dict) else {"invalid_arguments": arguments}


def _usage(usage: dict[str, Any]) -> Usage | None:
    """All tokens that went in, cached ones included, and out."""
    counts = [usage.get(name) or 0 for name in COUNTED]
    if "input_tokens" not in usage or not all(type(n) is int and n >= 0 for n in counts):
        return None
    return Usage(sum(counts[:3]), counts[3])
