"""The Anthropic Messages API as a Model.

An answer is a list of content blocks. Those with thinking are sealed and must go back as they
came, so an assistant message keeps its blocks and returns them untouched. Only `message_stop`
after a stop reason that means success makes a turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from curriculum.core.messages import Message, ModelTurn
from curriculum.core.seams import CancelToken
from curriculum.providers.answer import Descriptors, last_turn, run_exchange
from curriculum.providers.anthropic_answer import PROVIDER, AnthropicAnswer, arguments_object
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.faults import Faults
from curriculum.providers.wire import list_of, text_of

VERSION = "2023-06-01"


class AnthropicModel:
    """A model behind `POST {base_url}/messages`; the base URL ends in /v1.

    `max_tokens` bounds one answer, as the protocol demands. `cancel` ends a request that waits.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        max_tokens: int = 16_000,
        cancel: CancelToken | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._model = model
        self._max_tokens = max_tokens
        self._cancel = cancel or CancelToken()
        self._faults = Faults(endpoint)

    def stream(self, messages: Sequence[Message], tools: Descriptors) -> Iterator[str | ModelTurn]:
        """Pieces of text as they arrive, then the turn. Raises RunError, before or between them."""
        key = self._endpoint.api_key
        headers = {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}
        return run_exchange(
            AnthropicAnswer(self._faults),
            self._endpoint,
            "messages",
            headers,
            self.body(messages, tools),
            self._cancel,
            self._faults,
        )

    def respond(self, messages: Sequence[Message], tools: Descriptors) -> ModelTurn:
        """The turn alone."""
        return last_turn(self.stream(messages, tools))

    # region: body
    def body(self, messages: Sequence[Message], tools: Descriptors) -> dict[str, object]:
        """The request as it goes over the wire."""
        body: dict[str, object] = {
            "model": self._model,
            "max_tokens": self._max_tokens,
            "stream": True,
            "messages": _entries(messages),
        }
        if system := "\n\n".join(m.content for m in messages if m.role == "system"):
            body["system"] = system
        if tools:
            body["tools"] = [_tool(tool) for tool in tools]
            body["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": True}
        return body


def _tool(tool: dict[str, object]) -> dict[str, object]:
    rest = {name: field for name, field in tool.items() if name != "parameters"}
    return {**rest, "input_schema": tool["parameters"]}


def _entries(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """User and assistant entries in turn; results stand in the user entry after their calls."""
    entries: list[dict[str, Any]] = []
    for message in messages:
        blocks = _blocks(message)
        role = "assistant" if message.role == "assistant" else "user"
        if blocks and entries and entries[-1]["role"] == role:
            entries[-1]["content"] += blocks
        elif blocks:
            entries.append({"role": role, "content": list(blocks)})
    return entries


# endregion


def _blocks(message: Message) -> list[dict[str, Any]]:
    if message.role == "tool":
        result = {"type": "tool_result", "tool_use_id": message.call_id}
        return [{**result, "content": message.content}]
    if message.role == "system":
        return []
    if text_of(message.opaque, "provider") == PROVIDER:
        return list_of(message.opaque, "content")
    text = [{"type": "text", "text": message.content}] if message.content.strip() else []
    return text + [
        {
            "type": "tool_use",
            "id": call.call_id,
            "name": call.name,
            "input": arguments_object(call.arguments),
        }
        for call in message.tool_calls
    ]
