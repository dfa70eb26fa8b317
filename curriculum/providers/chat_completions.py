"""Servers that speak the Chat Completions protocol (vLLM, llama.cpp, Ollama, ...) as a Model.

The protocol has no items of its own that must go back, but some servers put sealed data on a call;
what a call carries beyond its name and arguments is kept and returned. A turn is made only when
the server has said why it stopped, and the stream has then ended as it should.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from curriculum.core.errors import ModelError, ProtocolError
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
from curriculum.core.seams import CancelToken
from curriculum.providers.answer import (
    Descriptors,
    ShownText,
    cut_off,
    join_halves,
    last_turn,
    read_event,
    run_exchange,
)
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.faults import Faults
from curriculum.providers.sse import ServerSentEvent
from curriculum.providers.wire import Kept, call_of, clean, dict_of, list_of, text_of, usage_of

PROVIDER = "openai.chat"
OPTIONAL = ("stream_options", "parallel_tool_calls", "max_completion_tokens")
FINISHED = ("stop", "tool_calls")
UNFINISHED = {
    "length": "it reached the limit of output tokens; raise the limit or ask for less",
    "content_filter": "a content filter stopped it; ask differently",
}


class ChatCompletionsModel:
    """A model behind `POST {base_url}/chat/completions`. The arguments are ResponsesModel's."""

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

    def stream(self, messages: Sequence[Message], tools: Descriptors) -> Iterator[str | ModelTurn]:
        """Pieces of text as they arrive, then the turn. Raises RunError, before or between them."""
        key = self._endpoint.api_key
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return run_exchange(
            ChatAnswer(self._faults),
            self._endpoint,
            "chat/completions",
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
            "stream": True,
            "messages": [_entry(m) for m in messages if m.role != "assistant" or _says(m)],
        }
        optional: dict[str, object] = {"stream_options": {"include_usage": True}}
        if tools:
            body["tools"] = [{"type": "function", "function": dict(tool)} for tool in tools]
            optional["parallel_tool_calls"] = False
        if self._max_output_tokens:  # not max_tokens, which newer models refuse
            optional["max_completion_tokens"] = self._max_output_tokens
        return body | {name: field for name, field in optional.items() if name not in self._omit}


def _says(message: Message) -> bool:
    return bool(message.content or message.tool_calls)


def _entry(message: Message) -> dict[str, object]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
    entry: dict[str, object] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        entry["content"] = message.content or None
        entry["tool_calls"] = _own_calls(message) or [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    return entry


# endregion


def _own_calls(message: Message) -> list[Any]:
    """The calls as this protocol gave them, with what else they carry; [] if it did not."""
    if text_of(message.opaque, "provider") != PROVIDER:
        return []
    return list_of(message.opaque, "tool_calls")


class ChatAnswer:
    """One answer while it arrives. `turn` is set when it is complete."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._shown = ShownText()
        self._kept = Kept()
        self._calls: dict[int, dict[str, Any]] = {}
        self._arguments: dict[int, list[str]] = {}
        self._finish = ""
        self._usage: Usage | None = None
        self.turn: ModelTurn | None = None

    # region: take
    def take(self, event: ServerSentEvent) -> Iterator[str]:
        """The text to show for an event. Raises RunError if it ends the answer as a failure."""
        said = event.data.strip()
        if said == "[DONE]":
            self.end()
            return
        data = read_event(event, {"message"}, self._faults) if said else {}
        if event.name == "error" or data.get("error"):
            raise self._faults.of_error(data)
        self._usage = (
            usage_of(data.get("usage"), "prompt_tokens", "completion_tokens") or self._usage
        )
        for choice in list_of(data, "choices")[:1]:
            delta = dict_of(choice, "delta")
            for name in ("content", "refusal"):
                yield from self._shown.add(text_of(delta, name))
            for part in list_of(delta, "tool_calls"):
                self._add_call(part)
            self._note_finish(text_of(choice, "finish_reason"))

    # endregion

    def _note_finish(self, reason: str) -> None:
        if reason and reason not in FINISHED:
            said = UNFINISHED.get(reason, f"reason: {self._faults.quote(reason)}")
            raise ModelError(f"the answer is incomplete ({said}); nothing of it was run")
        self._finish = reason or self._finish

    # region: calls
    def _add_call(self, part: object) -> None:
        """One part of a call: the first names it, the others add to its arguments."""
        index = part.get("index") if isinstance(part, dict) else None
        if not isinstance(part, dict) or (index is not None and type(index) is not int):
            raise ProtocolError("a part of a call has no usable index")
        if index is None:  # servers without an index send each call in one part, with its id
            index = len(self._calls) - (0 if part.get("id") or not self._calls else 1)
        function = dict_of(part, "function")
        if index not in self._calls:
            self._calls[index] = {"type": "function", "function": {}}
            self._kept.item({}, is_call=True)
        call = self._calls[index]
        self._add_fields(call, part, ("index", "function"))
        self._add_fields(call["function"], function, ("arguments",))
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            raise ProtocolError("the arguments of a call are not text")
        self._arguments.setdefault(index, []).append(arguments or "")

    def _add_fields(self, to: dict[str, Any], part: dict[str, Any], but: Collection[str]) -> None:
        """What of the part is new; the first to say something is right."""
        for name, field in part.items():
            if name not in but and name not in to and field is not None:
                self._kept.data(field)
                to.setdefault(clean(name), clean(field))

    # endregion

    def end(self) -> None:
        """The stream is over: the answer is complete if the server said why it stopped."""
        if not self._finish:
            raise cut_off()
        whole = []
        for index, call in sorted(self._calls.items()):
            call["function"]["arguments"] = join_halves("".join(self._arguments[index]))
            whole.append(call)
        calls = tuple(_call(call) for call in whole)
        extra = any(call.keys() - {"id", "type", "function"} for call in whole)
        self.turn = ModelTurn(
            content="".join(self._shown.pieces),
            tool_calls=calls,
            chunks=tuple(self._shown.pieces),
            stop=not calls,
            usage=self._usage,
            opaque={"provider": PROVIDER, "tool_calls": whole} if extra else None,
        )


def _call(call: dict[str, Any]) -> ToolCall:
    function = call["function"]
    return call_of(call.get("id"), function.get("name"), function.get("arguments"))
