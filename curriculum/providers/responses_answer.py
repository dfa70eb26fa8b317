"""The events of one Responses answer, gathered until `response.completed` makes a turn of them.

Text is passed on as it arrives. Items count when they are done, calls only when the whole response
is. What is unknown is passed over; what contradicts itself is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from curriculum.core.errors import ModelError, ProtocolError, RunError
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.providers.answer import ShownText, cut_off, read_event
from curriculum.providers.faults import Faults
from curriculum.providers.sse import ServerSentEvent
from curriculum.providers.wire import Kept, call_of, clean, dict_of, list_of, text_of, usage_of

PROVIDER = "openai.responses"
TEXT = ("response.output_text.delta", "response.refusal.delta")
ENDINGS = ("response.completed", "response.failed", "response.incomplete", "error")
ITEMS = ("response.output_item.added", "response.output_item.done")
OURS = {"message", *TEXT, *ITEMS, *ENDINGS}
INCOMPLETE = {
    "max_output_tokens": "it reached the limit of output tokens; raise the limit or ask for less",
    "content_filter": "a content filter stopped it; ask differently",
}


class ResponsesAnswer:
    """One answer while it arrives. `turn` is set when it is complete."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._shown = ShownText()
        self._announced = 0
        self._kept = Kept()
        self._done: list[tuple[int, dict[str, Any]]] = []
        self._gap = False  # the next text belongs to another message than the text before it
        self.turn: ModelTurn | None = None

    # region: take
    def take(self, event: ServerSentEvent) -> Iterator[str]:
        """The text to show for an event. Raises RunError if it ends the answer as a failure."""
        said = event.data.strip()
        if said == "[DONE]":
            raise cut_off()
        if not said:
            return
        data = read_event(event, OURS, self._faults)
        kind = text_of(data, "type") or event.name
        if kind in TEXT:
            yield from self._show(text_of(data, "delta"))
        elif kind in ITEMS:
            self._note_item(kind, clean(data))
        elif kind == "response.completed":
            yield from self._complete(clean(dict_of(data, "response")))
        elif kind == "response.incomplete":
            raise self._incomplete(dict_of(data, "response"))
        elif kind == "response.failed":
            raise self._faults.of_error(dict_of(data, "response").get("error") or {})
        elif kind == "error" or (kind == "message" and data.get("error")):
            raise self._faults.of_error(data)

    # endregion

    def end(self) -> None:
        """The stream is over: too early, or `turn` would be set."""
        raise cut_off()

    # region: items
    def _show(self, piece: str) -> Iterator[str]:
        if piece:
            gap, self._gap = "\n\n" * self._gap, False
            yield from self._shown.add(gap + piece)

    def _note_item(self, kind: str, data: dict[str, Any]) -> None:
        item = dict_of(data, "item")
        if kind == "response.output_item.added":
            self._announced += 1
        elif item:
            self._kept.item(item, item.get("type") == "function_call")
            index = data.get("output_index")
            self._done.append((index if type(index) is int else len(self._done), item))
        if item.get("type") == "message" and self._shown.pieces:
            self._gap = True

    def _items(self, response: dict[str, Any]) -> list[dict[str, Any]]:
        """The output items: as each was done, or as the completed response lists them."""
        done = [item for _, item in sorted(self._done, key=lambda pair: pair[0])]
        listed = [item for item in list_of(response, "output") if isinstance(item, dict)]
        kept = Kept()
        for item in listed:
            kept.item(item, item.get("type") == "function_call")
        if done and listed and _calls(done) != _calls(listed):
            raise ProtocolError("the completed response lists other calls than it streamed")
        items = done if len(done) >= len(listed) else listed
        if self._announced and not items:
            raise ProtocolError("the response is complete, but the items it began never came")
        return items

    # endregion

    # region: complete
    def _complete(self, response: dict[str, Any]) -> Iterator[str]:
        if response.get("error"):
            raise self._faults.of_error(response["error"])
        items = self._items(response)
        for item in items:
            self._check(item)
        texts = [text for item in items if (text := _text(item))]
        content, rest = self._shown.complete(texts if items else ["".join(self._shown.pieces)])
        yield from rest
        calls = _calls(items)
        self.turn = ModelTurn(
            content=content,
            tool_calls=calls,
            chunks=tuple(self._shown.pieces),
            stop=not calls,
            usage=usage_of(response.get("usage"), "input_tokens", "output_tokens"),
            opaque={"provider": PROVIDER, "items": items} if items else None,
        )

    # endregion

    def _check(self, item: dict[str, Any]) -> None:
        kind = self._faults.quote(text_of(item, "type") or "an item without a type")
        if item.get("status") in ("incomplete", "failed"):
            raise ProtocolError(f"the response is complete, but its {kind} is not")
        if kind != "function_call" and kind.endswith("_call") and item.get("call_id"):
            raise ProtocolError(f"the model asks for a {kind}, which was not offered")

    def _incomplete(self, response: dict[str, Any]) -> RunError:
        reason = text_of(dict_of(response, "incomplete_details"), "reason")
        said = INCOMPLETE.get(reason) or f"reason: {self._faults.quote(reason) or 'not given'}"
        return ModelError(f"the answer is incomplete ({said}); nothing of it was run")


def _calls(items: list[dict[str, Any]]) -> tuple[ToolCall, ...]:
    return tuple(
        call_of(item.get("call_id"), item.get("name"), item.get("arguments"))
        for item in items
        if item.get("type") == "function_call"
    )


def _text(item: dict[str, Any]) -> str:
    """The text of a message item, refusals included; "" for any other item."""
    if item.get("type") != "message":
        return ""
    return "".join(
        text_of(part, "text" if text_of(part, "type") == "output_text" else "refusal")
        for part in list_of(item, "content")
        if text_of(part, "type") in ("output_text", "refusal")
    )
