"""The official clients read what the scripted endpoint streams: the fake speaks the protocol.

Their types are checked strictly: every event must be one that the client knows, with no field
missing.
"""

from __future__ import annotations

from typing import Any

import anthropic
import openai
import pytest
from anthropic.types import RawMessageStreamEvent
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from curriculum.providers.scripted_answers import answer_events
from tests.providers.conftest import Serve

CALLS = [
    {"call_id": "call_1", "name": "bash", "arguments": {"command": "ls"}},
    {"call_id": "call_2", "name": "bash", "arguments": '{"command":  "pwd"}'},
]
ANSWERS: dict[str, dict[str, Any]] = {
    "text": {"text": "Hello \U0001f600 there"},
    "calls": {"calls": CALLS},
    "all": {"text": "I look.", "calls": CALLS, "reasoning": "sealed"},
    "nothing": {},
}


def openai_client(url: str) -> openai.OpenAI:
    return openai.OpenAI(
        base_url=url, api_key="test-key", max_retries=0, _strict_response_validation=True
    )


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("bytes_at_once", [1, 1000])
def test_openai_reads_a_responses_stream(serve: Serve, name: str, bytes_at_once: int) -> None:
    answer = ANSWERS[name]
    server = serve({"answer": answer, "bytes_at_once": bytes_at_once})
    with openai_client(server.url) as client:
        stream = client.responses.create(model="scripted", input="go", stream=True)
        events = list(stream)
    kinds = [event["type"] for event in answer_events("/v1/responses", answer)]
    assert [event.type for event in events] == kinds
    assert [event.sequence_number for event in events] == list(range(len(events)))
    end = events[-1]
    assert end.type == "response.completed"
    assert end.response.output_text == answer.get("text", "")
    asked = [(i.call_id, i.name) for i in end.response.output if i.type == "function_call"]
    assert asked == [(call["call_id"], call["name"]) for call in answer.get("calls", ())]
    seals = [i.encrypted_content for i in end.response.output if i.type == "reasoning"]
    assert seals == ([answer["reasoning"]] if "reasoning" in answer else [])
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == answer.get("text", "")


def test_openai_helper_gathers_the_same_answer(serve: Serve) -> None:
    """The client's own accumulator checks that deltas, parts and items fit together."""
    server = serve({"answer": ANSWERS["all"]})
    with (
        openai_client(server.url) as client,
        client.responses.stream(model="scripted", input="go") as stream,
    ):
        response = stream.get_final_response()
    assert response.output_text == "I look."
    assert response.usage is not None
    assert response.usage.total_tokens == 15


def test_openai_meets_the_faults_of_a_scenario(serve: Serve) -> None:
    failed = {"type": "error", "code": "server_error", "message": "broke", "sequence_number": 0}
    server = serve(
        {"status": 429, "headers": {"retry-after": "1"}, "send": [{"raw": "{}"}]},
        {"send": [{"event": failed}]},
        {"send": [{"cut": True}]},
    )
    with openai_client(server.url) as client:
        with pytest.raises(openai.RateLimitError):
            client.responses.create(model="scripted", input="go", stream=True)
        (event,) = client.responses.create(model="scripted", input="go", stream=True)
        assert event.type == "error"
        with pytest.raises(openai.APIConnectionError):
            list(client.responses.create(model="scripted", input="go", stream=True))


@pytest.mark.parametrize("name", ANSWERS)
def test_openai_reads_a_chat_stream(serve: Serve, name: str) -> None:
    answer = ANSWERS[name]
    server = serve({"answer": answer, "bytes_at_once": 1})
    with (
        openai_client(server.url) as client,
        client.chat.completions.stream(
            model="scripted",
            messages=[{"role": "user", "content": "go"}],
            stream_options={"include_usage": True},
        ) as stream,
    ):
        completion = stream.get_final_completion()
    message = completion.choices[0].message
    calls = answer.get("calls", ())
    assert (message.content or "") == answer.get("text", "")
    asked = [(call.id, call.function.name) for call in message.tool_calls or ()]
    assert asked == [(call["call_id"], call["name"]) for call in calls]
    assert completion.choices[0].finish_reason == ("tool_calls" if calls else "stop")
    assert completion.usage is not None
    assert completion.usage.total_tokens == 15


@pytest.mark.parametrize("name", ANSWERS)
def test_anthropic_reads_a_messages_stream(serve: Serve, name: str) -> None:
    answer = ANSWERS[name]
    server = serve({"answer": answer, "bytes_at_once": 1})
    client = anthropic.Anthropic(
        base_url=server.url.removesuffix("/v1"), api_key="test-key", max_retries=0
    )
    with (
        client,
        client.messages.stream(
            model="scripted", max_tokens=100, messages=[{"role": "user", "content": "go"}]
        ) as stream,
    ):
        message = stream.get_final_message()
    text = [block.text for block in message.content if block.type == "text"]
    assert "".join(text) == answer.get("text", "")
    asked = [(b.id, b.name) for b in message.content if b.type == "tool_use"]
    assert asked == [(call["call_id"], call["name"]) for call in answer.get("calls", ())]
    inputs = [block.input for block in message.content if block.type == "tool_use"]
    assert inputs == ([{"command": "ls"}, {"command": "pwd"}] if asked else [])
    seals = [block.signature for block in message.content if block.type == "thinking"]
    assert seals == ([answer["reasoning"]] if "reasoning" in answer else [])
    assert message.stop_reason == ("tool_use" if asked else "end_turn")
    assert message.usage.output_tokens == 5


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/chat/completions", "/v1/messages"])
@pytest.mark.parametrize("name", ANSWERS)
def test_every_event_has_the_shape_that_the_clients_types_demand(path: str, name: str) -> None:
    kinds: dict[str, Any] = {
        "/v1/responses": ResponseStreamEvent,
        "/v1/chat/completions": ChatCompletionChunk,
        "/v1/messages": RawMessageStreamEvent,
    }
    check = TypeAdapter(kinds[path])
    for event in answer_events(path, ANSWERS[name]):
        if event.get("type") != "ping":  # which Anthropic sends and its types do not name
            check.validate_python(event)
