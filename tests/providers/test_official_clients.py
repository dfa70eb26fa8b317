"""The official clients read what the scripted endpoint streams: the fake speaks the protocol.

Their types are checked strictly: every event must be one that the client knows, with no field
missing.
"""

from __future__ import annotations

from typing import Any

import openai
import pytest

from curriculum.providers.scripted_answers import answer_steps
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
    kinds = [step["event"]["type"] for step in answer_steps("/v1/responses", answer)]
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
