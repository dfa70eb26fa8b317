"""The three protocols in the words of the conformance kits: answers as exchanges, requests read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import Retry, StreamingModel
from curriculum.grading.model_under_test import Answer, Entry, Failure, Script, Sent
from curriculum.grading.stream_under_test import Streamed
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.responses import ResponsesModel
from curriculum.providers.scripted_answers import answer_events
from curriculum.providers.scripted_endpoint import Request, ScriptedEndpoint

Event = dict[str, Any]
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

    def events(self, answer: Answer) -> list[Event]:
        calls = [
            {"call_id": call.call_id, "name": call.name, "arguments": call.arguments}
            for call in answer.calls
        ]
        script: Event = {"text": answer.text, "calls": calls, "reasoning": answer.private}
        events = answer_events(self.path, script)
        if answer.unknown:
            self.add_unknown(events)
        return events


def endpoint_of(server: ScriptedEndpoint, **given: Any) -> Endpoint:
    """Where that server is, with a silence that no test waits for."""
    return Endpoint(server.url, "test-key", **{"silence_seconds": 10.0, **given})


class Served:
    """The harness of the model kit around an adapter: its provider is a real server."""

    def __init__(self, wire: Wire, stack: ExitStack) -> None:
        self._wire = wire
        self._stack = stack
        self._server: ScriptedEndpoint | None = None
        self.lacks = wire.lacks

    def build(self, script: Script) -> StreamingModel:
        exchanges = [self._exchange(step) for step in script]
        self._stack.close()
        self._server = self._stack.enter_context(ScriptedEndpoint({"exchanges": exchanges}))
        return self._wire.model(endpoint_of(self._server))

    def _exchange(self, step: Answer | Failure) -> Event:
        if isinstance(step, Answer):
            return {"send": [{"event": event} for event in self._wire.events(step)]}
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
        events = answer_events(self._wire.path, {"pieces": list(answer.pieces), "calls": calls})
        steps: list[Event] = []
        count = 0
        for event in events:
            if self._wire.is_text(event):
                count += 1
                if count > 1:
                    steps.append({"gate": f"{number}.{count}"})
            steps.append({"event": event})
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


def add_unknown_responses(events: list[Event]) -> None:
    """A content part and an item that no adapter can know, in the stream and in its end."""
    part = {"type": "hologram", "text": "not for you"}
    item = {"id": "x_1", "type": "dream", "text": "nor this", "content": [part]}
    at = len(events) - 1
    events[at]["response"]["output"].append(item)
    events.insert(at, {"type": "response.output_item.done", "output_index": 9, "item": item})
    events.insert(at, {"type": "response.dream.delta", "delta": "nor that"})


def error(code: str, type: str = "invalid_request_error") -> object:
    return {"error": {"message": "MESSAGE", "type": type, "param": None, "code": code}}


RESPONSES = Wire(
    path="/v1/responses",
    model=lambda endpoint: ResponsesModel(endpoint, "scripted"),
    failures={
        "transient": (500, error("server_error", "server_error")),
        "permanent": (400, error("invalid_prompt")),
        "overflow": (400, error("context_length_exceeded")),
    },
    add_unknown=add_unknown_responses,
    is_text=lambda event: event["type"] == "response.output_text.delta",
    read=read_responses,
)
WIRES = {"responses": RESPONSES}


def bodies(requests: Sequence[Request]) -> list[Any]:
    """The JSON of each request."""
    return [request.json() for request in requests]
