"""The events in which a provider streams one answer, for the scripted endpoint.

One function a protocol, chosen by the path of the request. What they send is what the official
clients read (a test has them read it), reduced to one model that says what a scenario tells it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

Event = dict[str, Any]


def answer_steps(path: str, answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """An answer {text or pieces, calls, reasoning} as steps, in the protocol of `path`."""
    steps: list[dict[str, Any]] = [{"event": event} for event in answer_events(path, answer)]
    if path.endswith("/chat/completions"):
        steps.append({"raw": "data: [DONE]\n\n"})
    return steps


def answer_events(path: str, answer: Mapping[str, Any]) -> list[Event]:
    """The events of an answer {text or pieces, calls, reasoning} in the protocol of `path`."""
    if path.endswith("/chat/completions"):
        return list(chat_events(answer))
    if path.endswith("/messages"):
        return list(messages_events(answer))
    return list(responses_events(answer))


def pieces_of(answer: Mapping[str, Any]) -> list[str]:
    """The text in the pieces given, else word by word."""
    if "pieces" in answer:
        return [str(piece) for piece in answer["pieces"]]
    words = str(answer.get("text", "")).split(" ")
    return [word for word in [*(f"{word} " for word in words[:-1]), words[-1]] if word]


# region: responses
def responses_events(answer: Mapping[str, Any]) -> Iterator[Event]:
    """The events of `POST /v1/responses` with `stream: true`."""
    items = [item for item, _ in _items(answer)]
    response = _response("in_progress", [])
    number = 0

    def event(type: str, **fields: Any) -> Event:
        nonlocal number
        number += 1
        return {"type": type, "sequence_number": number - 1, **fields}

    yield event("response.created", response=response)
    yield event("response.in_progress", response=response)
    for index, (item, pieces) in enumerate(_items(answer)):
        begun = {**item, "status": "in_progress"}
        about = {"item_id": item["id"], "output_index": index}
        if item["type"] == "message":
            part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
            place = {**about, "content_index": 0}
            text = "".join(pieces)
            yield event(
                "response.output_item.added", output_index=index, item={**begun, "content": []}
            )
            yield event("response.content_part.added", **place, part=part)
            for piece in pieces:
                yield event("response.output_text.delta", **place, delta=piece, logprobs=[])
            yield event("response.output_text.done", **place, text=text, logprobs=[])
            yield event("response.content_part.done", **place, part={**part, "text": text})
        elif item["type"] == "function_call":
            arguments = item["arguments"]
            yield event(
                "response.output_item.added", output_index=index, item={**begun, "arguments": ""}
            )
            yield event("response.function_call_arguments.delta", **about, delta=arguments)
            yield event(
                "response.function_call_arguments.done",
                **about,
                name=item["name"],
                arguments=arguments,
            )
        else:
            yield event("response.output_item.added", output_index=index, item=begun)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=_response("completed", items))


# endregion


def _items(answer: Mapping[str, Any]) -> Iterator[tuple[Event, list[str]]]:
    """Output items in the order in which a model gives them, with the pieces of their text."""
    if answer.get("reasoning"):
        yield (
            {
                "id": "rs_1",
                "type": "reasoning",
                "summary": [],
                "encrypted_content": answer["reasoning"],
                "status": "completed",
            },
            [],
        )
    pieces = pieces_of(answer)
    if pieces:
        part = {"type": "output_text", "text": "".join(pieces), "annotations": [], "logprobs": []}
        yield (
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [part],
                "phase": "commentary" if answer.get("calls") else "final_answer",
            },
            pieces,
        )
    for number, call in enumerate(answer.get("calls", ()), 1):
        yield (
            {
                "id": f"fc_{number}",
                "type": "function_call",
                "status": "completed",
                "call_id": call["call_id"],
                "name": call["name"],
                "arguments": arguments_of(call),
            },
            [],
        )


def arguments_of(call: Mapping[str, Any]) -> str:
    """The arguments as text; a scenario may write them as an object."""
    given = call.get("arguments", {})
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _response(status: str, items: list[Event]) -> Event:
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 15,
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1767225600,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": "scripted",
        "output": items,
        "parallel_tool_calls": False,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": usage if status == "completed" else None,
    }


# region: chat
def chat_events(answer: Mapping[str, Any]) -> Iterator[Event]:
    """The chunks of `POST /v1/chat/completions` with `stream: true`, without the `[DONE]`.

    Reasoning travels as an extra field of the first call, as servers with sealed thoughts do it.
    """
    head = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1767225600,
        "model": "scripted",
    }

    def chunk(delta: Event, finish: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**head, "choices": [choice], "usage": None}

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces_of(answer):
        yield chunk({"content": piece})
    for index, call in enumerate(answer.get("calls", ())):
        begun: Event = {
            "index": index,
            "id": call["call_id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": ""},
        }
        if answer.get("reasoning") and index == 0:
            begun["extra_content"] = {"seal": answer["reasoning"]}
        yield chunk({"tool_calls": [begun]})
        arguments = arguments_of(call)
        for part in (arguments[:7], arguments[7:]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    yield chunk({}, "tool_calls" if answer.get("calls") else "stop")
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    yield {**head, "choices": [], "usage": usage}


# endregion


# region: messages
def messages_events(answer: Mapping[str, Any]) -> Iterator[Event]:
    """The events of `POST /v1/messages` with `stream: true`."""
    usage = {"input_tokens": 10, "output_tokens": 1}
    message: Event = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    yield {"type": "message_start", "message": message}
    yield {"type": "ping"}
    for index, (block, deltas) in enumerate(_blocks(answer)):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = "tool_use" if answer.get("calls") else "end_turn"
    delta = {"stop_reason": reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


# endregion


def _blocks(answer: Mapping[str, Any]) -> Iterator[tuple[Event, list[Event]]]:
    """Content blocks as they begin, each with its deltas."""
    if answer.get("reasoning"):
        yield (
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                {"type": "thinking_delta", "thinking": ""},
                {"type": "signature_delta", "signature": answer["reasoning"]},
            ],
        )
    pieces = pieces_of(answer)
    if pieces:
        yield (
            {"type": "text", "text": ""},
            [{"type": "text_delta", "text": piece} for piece in pieces],
        )
    for call in answer.get("calls", ()):
        begun = {"type": "tool_use", "id": call["call_id"], "name": call["name"], "input": {}}
        arguments = arguments_of(call)
        parts = ["", arguments[:7], arguments[7:]]
        yield begun, [{"type": "input_json_delta", "partial_json": part} for part in parts]
