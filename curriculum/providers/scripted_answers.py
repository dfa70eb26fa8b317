"""The events in which a provider streams one answer, for the scripted endpoint.

One function a protocol, chosen by the path of the request. What they send is what the official
clients read (a test has them read it), reduced to one model that says what a scenario tells it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

Event = dict[str, Any]


def answer_events(path: str, answer: Mapping[str, Any]) -> list[Event]:
    """The events of an answer {text or pieces, calls, reasoning} in the protocol of `path`."""
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
