"""The key in what a model answers: masked before anybody sees it, however it is cut or spelled.

Each answer comes from a real server. What was shown, piece by piece, must be the text of the turn.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from curriculum.core.errors import ModelError, ProtocolError, TransientModelError
from curriculum.core.loop import AgentRunner, RunResult
from curriculum.core.messages import Message, ModelTurn
from curriculum.core.trace import to_json
from curriculum.core.values import as_data
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.key_mask import MARK, KeyMask, MaskedText
from curriculum.providers.scripted_answers import answer_steps
from curriculum.providers.scripted_endpoint import ScriptedEndpoint
from tests.providers.conftest import Serve
from tests.providers.wires import WIRES

KEY = "sk-secret-7f3a"
ESCAPED = "".join(f"\\u{ord(char):04x}" for char in KEY)
GO = [Message("user", "go")]
Event = dict[str, Any]

two = [(KEY[:cut], KEY[cut:]) for cut in range(1, len(KEY))]
three = [
    (KEY[:first], KEY[first:second], KEY[second:])
    for first in (1, 3, len(KEY) - 2)
    for second in (first + 1, len(KEY) - 1)
]
CUTS: list[tuple[str, ...]] = [(KEY,), *two, *three, tuple(KEY)]
every_wire = pytest.mark.parametrize("wire", WIRES)


def streamed(wire: str, server: ScriptedEndpoint, key: str | None = KEY) -> list[Any]:
    """What one request yields."""
    return list(WIRES[wire].model(Endpoint(server.url, key)).stream(GO, ()))


def run(wire: str, server: ScriptedEndpoint, key: str = KEY) -> RunResult:
    return AgentRunner(WIRES[wire].model(Endpoint(server.url, key))).run("go")


def assert_hidden(result: RunResult) -> None:
    """The key is in no event and no message, nor in the deltas of a request put together."""
    events = [as_data(event) for event in result.events]
    assert KEY not in to_json(events)
    assert KEY not in repr(result.messages)
    texts: dict[str, str] = {}
    for event in result.events:
        if event.type == "model.delta":
            request = str(event.payload["request_id"])
            texts[request] = texts.get(request, "") + str(event.payload["text"])
    assert KEY not in "".join(texts.values())
    answers = {str(e.payload["request_id"]): e for e in result.events if e.type == "model.response"}
    for request, text in texts.items():
        assert answers[request].payload["content"] == text


def cut_arguments(wire: str, steps: list[Event], parts: Sequence[str]) -> list[Event]:
    """The steps of an answer with one call, whose arguments arrive in these parts."""
    cut: list[Event] = []
    for step in steps:
        event = json.loads(json.dumps(step.get("event", {})))
        kind = event.get("delta", {}).get("type") if wire == "messages" else event.get("type")
        choices = event.get("choices", ())
        calls = [call for choice in choices for call in choice["delta"].get("tool_calls", ())]
        if calls and "id" not in calls[0]:
            new = [{"index": 0, "function": {"arguments": part}} for part in parts]
            made = [
                {**event, "choices": [{**choices[0], "delta": {"tool_calls": [n]}}]} for n in new
            ]
        elif kind == "input_json_delta":
            made = [{**event, "delta": {**event["delta"], "partial_json": part}} for part in parts]
        elif kind == "response.function_call_arguments.delta":
            made = [{**event, "delta": part} for part in parts]
        else:
            cut.append(step)
            continue
        cut += [{"event": one} for one in made if parts]
        parts = ()
    return cut


@every_wire
def test_a_key_in_the_text_is_masked_wherever_it_is_cut(wire: str, serve: Serve) -> None:
    answers = [{"pieces": ["It is ", *cut, ", I think"]} for cut in CUTS]
    server = serve(*[{"send": answer_steps(WIRES[wire].path, answer)} for answer in answers])
    for cut in CUTS:
        *pieces, turn = streamed(wire, server)
        assert "".join(pieces) == turn.content == f"It is {MARK}, I think", cut
        assert turn.chunks == tuple(pieces)
        assert KEY not in repr(turn)
        assert all(pieces)


@every_wire
def test_a_key_in_the_arguments_is_masked_wherever_it_is_cut(wire: str, serve: Serve) -> None:
    call = {"call_id": "call_1", "name": "bash", "arguments": f'{{"command":"echo {KEY}"}}'}
    steps = answer_steps(WIRES[wire].path, {"calls": [call]})
    sends = [cut_arguments(wire, steps, ['{"command":"echo ', *cut, '"}']) for cut in CUTS]
    server = serve(*[{"send": send} for send in sends])
    for cut in CUTS:
        (turn,) = streamed(wire, server)
        assert turn.tool_calls[0].arguments == f'{{"command":"echo {MARK}"}}', cut
        assert KEY not in repr(turn)


@every_wire
@pytest.mark.parametrize(
    "arguments",
    [
        f'{{"command":"echo {ESCAPED}"}}',
        f'{{"command":"echo {KEY[:5]}{ESCAPED[30:]}"}}',
        f'{{"{ESCAPED}":"x"}}',
        f'{{"{KEY}":"x"}}',
        f'{{"a":1,"a":"{ESCAPED}"}}',
        f'{{"command":"echo {ESCAPED}"',
        f'["{ESCAPED}", {KEY}',
        f'{{"command":"echo {ESCAPED}',
        f'{{"command":"\\q \\\\{ESCAPED}"}}',
    ],
)
def test_no_spelling_of_the_key_comes_out_of_the_arguments(
    wire: str, serve: Serve, arguments: str
) -> None:
    calls = [{"call_id": "call_1", "name": "bash", "arguments": arguments}]
    server = serve({"answer": {"calls": calls}}, {"answer": {"text": "Done."}})
    result = run(wire, server)
    assert result.stop_reason == "completed"
    assert_hidden(result)
    assert MARK in repr(result.messages)
    assert KEY not in server.requests[1].body.decode()
    assert ESCAPED not in server.requests[1].body.decode().replace("\\\\", "\\")


@every_wire
@pytest.mark.parametrize("field", ["name", "call_id"])
def test_a_call_that_is_named_by_the_key_ends_the_turn(wire: str, serve: Serve, field: str) -> None:
    call = {"call_id": "call_1", "name": "bash", "arguments": "{}", field: f"x{KEY}"}
    result = run(wire, serve({"answer": {"text": "Now.", "calls": [call]}}))
    assert isinstance(result.error, ProtocolError)
    assert "named a tool or a call by the API key" in result.error.message
    assert_hidden(result)


@every_wire
def test_a_key_in_what_goes_back_to_the_provider_is_masked_there_too(
    wire: str, serve: Serve
) -> None:
    call = {"call_id": "call_1", "name": "bash", "arguments": f'{{"command":"{KEY}"}}'}
    answer = {"text": f"See {KEY}.", "calls": [call], "reasoning": f"sealed {KEY}"}
    server = serve({"answer": answer}, {"answer": {"text": "Done."}})
    assert_hidden(run(wire, server))
    body = server.requests[1].body.decode()
    assert KEY not in body
    assert f"See {MARK}." in body


@every_wire
def test_a_text_that_only_begins_like_the_key_is_shown_whole(wire: str, serve: Serve) -> None:
    pieces = [KEY[:-1], "!", "s", "k", "-", "sk-s", KEY[:6]]
    *shown, turn = streamed(wire, serve({"answer": {"pieces": pieces}}))
    assert "".join(shown) == turn.content == "".join(pieces)


@every_wire
def test_of_a_key_that_is_cut_off_nothing_is_shown(wire: str, serve: Serve) -> None:
    steps = answer_steps(WIRES[wire].path, {"pieces": ["It is ", *KEY]})
    texts = [at for at, step in enumerate(steps) if WIRES[wire].is_text(step.get("event", {}))]
    result = run(wire, serve({"send": [*steps[: texts[-1]], {"cut": True}]}))
    assert isinstance(result.error, TransientModelError)
    (response,) = [event for event in result.events if event.type == "model.response"]
    assert response.payload["content"] == "It is "
    assert_hidden(result)


@every_wire
def test_a_stand_in_for_a_key_is_a_word_like_any_other(wire: str, serve: Serve) -> None:
    """Local servers want some key: EMPTY, ollama. A model must be able to say that."""
    call = {"call_id": "call_1", "name": "bash", "arguments": '{"command":"ollama list"}'}
    server = serve({"answer": {"text": "ollama it is", "calls": [call]}})
    *shown, turn = streamed(wire, server, "ollama")
    assert "".join(shown) == turn.content == "ollama it is"
    assert turn.tool_calls[0].arguments == '{"command":"ollama list"}'


@every_wire
def test_without_a_key_nothing_is_changed(wire: str, serve: Serve) -> None:
    pieces = [KEY[:4], KEY[4:]]
    *shown, turn = streamed(wire, serve({"answer": {"pieces": pieces}}), None)
    assert (shown, turn.content) == (pieces, KEY)


@every_wire
def test_a_providers_error_that_repeats_the_key_is_masked(wire: str, serve: Serve) -> None:
    error = {"error": {"type": "server_error", "message": f"you sent {KEY}"}}
    server = serve(
        {"status": 400, "headers": {"x-key": KEY}, "send": [{"raw": json.dumps(error)}]},
        {"send": [{"event": {"type": "error", **error}}]},
        {"send": [{"raw": f"event: error\ndata: {KEY}\n\n"}]},
    )
    for _ in range(3):
        result = run(wire, server)
        assert isinstance(result.error, ModelError)
        assert MARK in result.error.message
        assert_hidden(result)


@pytest.mark.parametrize("key", ["aabaabaab", "]DETCADER[", 'a"b\\c/d"e', "aaaaaaaaa"])
def test_the_stream_is_masked_as_the_whole_text_would_be(key: str) -> None:
    """Also for keys that begin again within themselves, or look like the mark."""
    texts = [
        key * 2,
        f"a{key}{key[:3]}",
        key[:-1] + key,
        key[1:] + key,
        f"x{MARK}{key}]DET",
        "aab" * 9,
    ]
    for text in texts:
        for size in range(1, len(key) + 2):
            shown = MaskedText(KeyMask(key))
            given = [text[at : at + size] for at in range(0, len(text), size)]
            pieces = [out for piece in given for out in shown.add(piece)] + list(shown.end())
            assert "".join(pieces) == text.replace(key, MARK), (text, size)


def test_a_key_with_characters_that_json_escapes_is_found_in_arguments() -> None:
    key = 'sk"\\/secret'
    text = json.dumps({"command": key, key: [key]}).replace("/", "\\/")
    masked = json.loads(KeyMask(key).json_text(text))
    assert masked == {"command": MARK, MARK: [MARK]}


def test_an_escape_that_is_escaped_spells_no_key() -> None:
    text = json.dumps({"command": ESCAPED})
    assert KeyMask(KEY).json_text(text) == text


def test_a_turn_keeps_all_else(serve: Serve) -> None:
    (*_, turn) = streamed("responses", serve({"answer": {"text": KEY}}))
    assert isinstance(turn, ModelTurn)
    assert (turn.stop, turn.usage and turn.usage.input_tokens) == (True, 10)


@pytest.mark.parametrize("url", [f"https://host/{KEY}/v1", f"https://host/v1?key={KEY}"])
def test_an_address_that_holds_the_key_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(ValueError, match="the base URL holds the API key") as caught:
        Endpoint(url, f" {KEY}\n")
    assert KEY not in str(caught.value)
    assert Endpoint(url.replace(KEY, "other"), KEY)
