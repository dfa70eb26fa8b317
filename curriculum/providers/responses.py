"""The OpenAI Responses API as a Model: the whole conversation out, one streamed answer back.

Nothing is kept at the provider (`store: false`), so each request carries the conversation: every
answer's own output items go back complete, in order and untouched, then the results of its calls.
Only `response.completed` makes a turn; of any other end nothing runs and nothing is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from curriculum.core.messages import Message, ModelTurn
from curriculum.core.model import Retry
from curriculum.core.seams import CancelToken
from curriculum.providers.answer import Descriptors, last_turn, run_exchange
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.faults import Faults, StaleReasoningError
from curriculum.providers.responses_answer import PROVIDER, ResponsesAnswer
from curriculum.providers.wire import list_of, text_of

OPTIONAL = ("include", "store", "parallel_tool_calls", "strict", "max_output_tokens")


class ResponsesModel:
    """A model behind `POST {base_url}/responses`.

    `omit` leaves out fields of OPTIONAL that a server does not take; `max_output_tokens` bounds one
    answer, reasoning included; `cancel` ends a request that is waiting. Raises ValueError for a
    field that cannot be omitted.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        omit: Collection[str] = (),
        max_output_tokens: int | None = None,
        cancel: CancelToken | None = None,
    ) -> None:
        if unknown := set(omit) - set(OPTIONAL):
            raise ValueError(f"cannot omit {sorted(unknown)}; optional are {', '.join(OPTIONAL)}")
        self._endpoint = endpoint
        self._model = model
        self._omit = frozenset(omit)
        self._max_output_tokens = max_output_tokens
        self._cancel = cancel or CancelToken()
        self._faults = Faults(endpoint, OPTIONAL)
        self._unreadable: set[str] = set()  # reasoning that the provider has refused to read

    # region: stream
    def stream(
        self, messages: Sequence[Message], tools: Descriptors
    ) -> Iterator[str | Retry | ModelTurn]:
        """Pieces of text as they arrive, then the turn. Raises RunError, before or between them.

        Reasoning that the provider can no longer read is left out, and the request sent once more.
        """
        shown = False
        try:
            for item in self._attempt(messages, tools):
                shown = True
                yield item
            return
        except StaleReasoningError:
            sealed = {seal for message in messages for seal in _seals(message)} - self._unreadable
            if shown or not sealed:
                raise
            self._unreadable |= sealed
        yield Retry("the provider cannot read its earlier reasoning; it is left out", 0)
        yield from self._attempt(messages, tools)

    # endregion

    def respond(self, messages: Sequence[Message], tools: Descriptors) -> ModelTurn:
        """The turn alone."""
        return last_turn(self.stream(messages, tools))

    def _attempt(
        self, messages: Sequence[Message], tools: Descriptors
    ) -> Iterator[str | ModelTurn]:
        key = self._endpoint.api_key
        headers = {"authorization": f"Bearer {key}"} if key else {}
        body, answer = self.body(messages, tools), ResponsesAnswer(self._faults)
        return run_exchange(
            answer, self._endpoint, "responses", headers, body, self._cancel, self._faults
        )

    # region: body
    def body(self, messages: Sequence[Message], tools: Descriptors) -> dict[str, object]:
        """The request as it goes over the wire."""
        messages = list(messages)
        body: dict[str, object] = {"model": self._model, "stream": True}
        if messages and messages[0].role == "system":
            body["instructions"] = messages.pop(0).content
        body["input"] = list(self._input(messages))
        if tools:
            strict = {} if "strict" in self._omit else {"strict": False}
            body["tools"] = [{"type": "function", **tool, **strict} for tool in tools]
        optional: dict[str, object] = {"store": False, "include": ["reasoning.encrypted_content"]}
        if tools:
            optional["parallel_tool_calls"] = False
        if self._max_output_tokens:
            optional["max_output_tokens"] = self._max_output_tokens
        return body | {name: field for name, field in optional.items() if name not in self._omit}

    def _input(self, messages: Iterable[Message]) -> Iterator[dict[str, Any]]:
        for message in messages:
            if message.role == "tool":
                yield {
                    "type": "function_call_output",
                    "call_id": message.call_id,
                    "output": message.content,
                }
            elif (items := _items(message)) and not self._unreadable.intersection(_seals(message)):
                yield from items
            else:
                if message.content or message.role != "assistant":
                    yield {"type": "message", "role": message.role, "content": message.content}
                for call in message.tool_calls:
                    yield {
                        "type": "function_call",
                        "call_id": call.call_id,
                        "name": call.name,
                        "arguments": call.arguments,
                    }

    # endregion


def _items(message: Message) -> list[dict[str, Any]]:
    """The output items that this protocol gave for a message; [] for a message of other origin."""
    if text_of(message.opaque, "provider") != PROVIDER:
        return []
    return [item for item in list_of(message.opaque, "items") if isinstance(item, dict)]


def _seals(message: Message) -> list[str]:
    """The encrypted reasoning in a message."""
    return [seal for item in _items(message) if (seal := text_of(item, "encrypted_content"))]
