"""The three protocols in the words of the conformance kits: answers as exchanges, requests read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest

from curriculum.core.errors import RunError
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import Retry, StreamingModel
from curriculum.grading.model_under_test import Answer, Entry, Failure, Script, Sent
from curriculum.grading.stream_under_test import Streamed
from curriculum.providers.anthropic_messages import AnthropicModel
from curriculum.providers.chat_completions import ChatCompletionsModel
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.responses import ResponsesModel
from curriculum.providers.scripted_answers import answer_steps
from curriculum.providers.scripted_endpoint import Request, ScriptedEndpoint

Event = dict[str, Any]
KEY = "~test-key"  # no text of a test ends in its beginning: that would be held back
JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class Wire:
    """One protocol. `is_text` tells the events that show text."""

    path: str
    model: Callable[[Endpoint], StreamingModel]
    failures: Mapping[str, tuple[int, object]]
    add_unknown: Callable[[list[Event]], None]
    is_text: Callable[[Event], bool]
    read: Callable[[Any], Sent]
    lacks: Mapping[str, str] = field(default_factory=dict)

    def steps(self, answer: Answer) -> list[Event]:
        calls = [
            {"call_id": call.call_id, "name": call.name, "arguments": call.arguments}
            for call in answer.calls
        ]
        script: Event = {"text": answer.text, "calls": calls, "reasoning": answer.private}
        steps = answer_steps(self.path, script)
        if answer.unknown:
            self.add_unknown(steps)
        return steps


def endpoint_of(server: ScriptedEndpoint, **given: Any) -> Endpoint:
    """Where that server is, with a silence that no test waits for."""
    return Endpoint(server.url, KEY, **{"silence_seconds": 60.0, **given})


def fault_of(model: StreamingModel, text: str = "go") -> RunError:
    """How an answer to that text fails."""
    with pytest.raises(RunError) as caught:
        list(model.stream([Message("user", text)], ()))
    return caught.value


class Served:
    """The harness of the model kit around an adapter: its provider is a real server."""

    def __init__(self, wire: Wire, stack: ExitStack) -> None:
        self._wire = wire
        self._stack = stack
        self._server: ScriptedEndpoint | None = None
        self.lacks = {"cut-off answer": "each wire has tests of its own for it", **wire.lacks}

    def build(self, script: Script) -> StreamingModel:
        exchanges = [self._exchange(step) for step in script]
        self._stack.close()
        self._server = self._stack.enter_context(ScriptedEndpoint({"exchanges": exchanges}))
        return self._wire.model(endpoint_of(self._server))

    def _exchange(self, step: Answer | Failure) -> Event:
        if isinstance(step, Answer):
            return {"send": self._wire.steps(step)}
        status, error = self._wire.failures[step.kind]
        body = json.dumps(error).replace("MESSAGE", step.message)
        return {"status": status, "headers": JSON, "send": [{"raw": body}]}

    def sent(self) -> list[Sent]:
        assert self._server is not None
        assert {request.path for request in self._server.requests} == {self._wire.path}
        return [self._wire.read(request.json()) for request in self._server.requests]


class Stepped:
    """Lets the server send the next piece when the reader asks for more, and not before."""

    def __init__(self, model: StreamingModel, server: ScriptedEndpoint) -> None:
        self._model = model
        self._server = server
        self.given = 0

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | Retry | ModelTurn]:
        number = len(self._server.requests)
        self.given = 1
        for item in self._model.stream(messages, tools):
            yield item
            self.given += isinstance(item, str)
            self._server.open(f"{number}.{self.given}")


class ServedStream:
    """The harness of the streaming kit around an adapter."""

    def __init__(self, wire: Wire, stack: ExitStack) -> None:
        self._wire = wire
        self._stack = stack
        self._stepped: Stepped | None = None
        self.lacks = {"retries": "an adapter does not try again by itself"}

    def build(self, script: Sequence[Streamed]) -> StreamingModel:
        exchanges = [self._exchange(number, answer) for number, answer in enumerate(script)]
        self._stack.close()
        server = self._stack.enter_context(ScriptedEndpoint({"exchanges": exchanges}))
        self._stepped = Stepped(self._wire.model(endpoint_of(server)), server)
        return self._stepped

    def _exchange(self, number: int, answer: Streamed) -> Event:
        calls = [
            {"call_id": call.call_id, "name": call.name, "arguments": call.arguments}
            for call in answer.calls
        ]
        planned = answer_steps(self._wire.path, {"pieces": list(answer.pieces), "calls": calls})
        steps: list[Event] = []
        count = 0
        for step in planned:
            if self._wire.is_text(step.get("event", {})):
                count += 1
                if count > 1:
                    steps.append({"gate": f"{number}.{count}"})
            steps.append(step)
            if answer.fault and count == len(answer.pieces):
                return {"send": [*steps, {"cut": True}]}
        assert count == len(answer.pieces)
        return {"send": steps}

    def given(self) -> int:
        assert self._stepped is not None
        return self._stepped.given

    def shown(self, text: str) -> str:
        return text


def read_responses(body: Any) -> Sent:
    """A Responses request in the kit's words; one assistant entry for items that stand together."""
    entries: list[Entry] = []
    for item in body["input"]:
        kind, role = item.get("type", "message"), item.get("role", "assistant")
        if kind == "function_call_output":
            entries.append(Entry("tool", item["output"], call_id=item["call_id"]))
            continue
        if role != "assistant" or not entries or entries[-1].role != "assistant":
            entries.append(Entry(role, ""))
        last = entries.pop()
        text, calls, private = last.text, last.calls, last.private
        if kind == "message":
            content = item["content"]
            text += content if isinstance(content, str) else "".join(p["text"] for p in content)
        elif kind == "function_call":
            calls += (ToolCall(item["call_id"], item["name"], item["arguments"]),)
        elif kind == "reasoning":
            private += item["encrypted_content"]
        entries.append(Entry(role, text, calls, private=private))
    tools = tuple((t["name"], t["description"], t["parameters"]) for t in body.get("tools", ()))
    return Sent(body.get("instructions", ""), tuple(entries), tools)


def add_unknown_responses(steps: list[Event]) -> None:
    """A content part and an item that no adapter can know, in the stream and in its end."""
    part = {"type": "hologram", "text": "not for you"}
    item = {"id": "x_1", "type": "dream", "text": "nor this", "content": [part]}
    steps[-1]["event"]["response"]["output"].append(item)
    done = {"type": "response.output_item.done", "output_index": 9, "item": item}
    steps.insert(-1, {"event": done})
    steps.insert(-1, {"event": {"type": "response.dream.delta", "delta": "nor that"}})


def is_responses_text(event: Event) -> bool:
    return event.get("type") == "response.output_text.delta"


def error(code: str, type: str = "invalid_request_error") -> object:
    return {"error": {"message": "MESSAGE", "type": type, "param": None, "code": code}}


OPENAI_FAILURES = {
    "transient": (500, error("server_error", "server_error")),
    "permanent": (400, error("invalid_prompt")),
    "overflow": (400, error("context_length_exceeded")),
}
RESPONSES = Wire(
    path="/v1/responses",
    model=lambda endpoint: ResponsesModel(endpoint, "scripted"),
    failures=OPENAI_FAILURES,
    add_unknown=add_unknown_responses,
    is_text=is_responses_text,
    read=read_responses,
)


def read_chat(body: Any) -> Sent:
    """A Chat Completions request in the kit's words."""
    system, entries = "", []
    for entry in body["messages"]:
        calls = entry.get("tool_calls", ())
        if entry["role"] == "system":
            system += entry["content"]
            continue
        entries.append(
            Entry(
                entry["role"],
                entry["content"] or "",
                tuple(
                    ToolCall(c["id"], c["function"]["name"], c["function"]["arguments"])
                    for c in calls
                ),
                entry.get("tool_call_id"),
                "".join(c.get("extra_content", {}).get("seal", "") for c in calls),
            )
        )
    functions = [tool["function"] for tool in body.get("tools", ())]
    tools = tuple((f["name"], f["description"], f["parameters"]) for f in functions)
    return Sent(system, tuple(entries), tools)


def add_unknown_chat(steps: list[Event]) -> None:
    """Fields and a second choice that no adapter can know."""
    for step in steps[1:3]:
        step["event"]["choices"][0]["delta"]["hologram"] = "not for you"
    other = {"index": 1, "delta": {"content": "nor this"}, "finish_reason": None}
    steps[1]["event"]["choices"].append(other)


def is_chat_text(event: Event) -> bool:
    choices = event.get("choices")
    return bool(choices and choices[0]["delta"].get("content"))


CHAT = Wire(
    path="/v1/chat/completions",
    model=lambda endpoint: ChatCompletionsModel(endpoint, "scripted"),
    failures=OPENAI_FAILURES,
    add_unknown=add_unknown_chat,
    is_text=is_chat_text,
    read=read_chat,
)


def read_messages(body: Any) -> Sent:
    """An Anthropic request in the kit's words; a user entry with results is several of these."""
    entries: list[Entry] = []
    for entry in body["messages"]:
        text, private, calls = "", "", []
        for block in entry["content"]:
            if block["type"] == "tool_result":
                entries.append(Entry("tool", block["content"], call_id=block["tool_use_id"]))
            elif block["type"] == "text":
                text += block["text"]
            elif block["type"] == "tool_use":
                calls.append(ToolCall(block["id"], block["name"], json.dumps(block["input"])))
            elif block["type"] == "thinking":
                private += block["signature"]
        if text or calls or private:
            entries.append(Entry(entry["role"], text, tuple(calls), private=private))
    tools = tuple((t["name"], t["description"], t["input_schema"]) for t in body.get("tools", ()))
    return Sent(body.get("system", ""), tuple(entries), tools)


def add_unknown_messages(steps: list[Event]) -> None:
    """A block and an event that no adapter can know."""
    block = {"type": "hologram", "text": "not for you"}
    delta = {"type": "hologram_delta", "text": "nor this"}
    events = [
        {"type": "content_block_start", "index": 9, "content_block": block},
        {"type": "content_block_delta", "index": 9, "delta": delta},
        {"type": "content_block_stop", "index": 9},
        {"type": "dream", "text": "nor that"},
    ]
    steps[-2:-2] = [{"event": event} for event in events]


def anthropic_error(type: str) -> object:
    return {"type": "error", "error": {"type": type, "message": "MESSAGE"}}


MESSAGES = Wire(
    path="/v1/messages",
    model=lambda endpoint: AnthropicModel(endpoint, "scripted", max_tokens=1000),
    failures={
        "transient": (529, anthropic_error("overloaded_error")),
        "permanent": (400, anthropic_error("invalid_request_error")),
        "overflow": (413, anthropic_error("request_too_large")),
    },
    add_unknown=add_unknown_messages,
    is_text=lambda event: event.get("delta", {}).get("type") == "text_delta",
    read=read_messages,
    lacks={
        "results are paired": "the wire holds arguments as an object, so their exact text cannot "
        "go back; test_anthropic.py checks the pairing"
    },
)
WIRES = {"responses": RESPONSES, "chat": CHAT, "messages": MESSAGES}


def bodies(requests: Sequence[Request]) -> list[Any]:
    """The JSON of each request."""
    return [request.json() for request in requests]
