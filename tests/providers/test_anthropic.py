"""What is particular to Anthropic Messages: blocks, sealed thinking, arguments as an object."""

from __future__ import annotations

from typing import Any

import pytest

from curriculum.core.errors import (
    ContextOverflowError,
    ModelError,
    ProtocolError,
    RunError,
    TransientModelError,
)
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
from curriculum.core.tools import ToolBox
from curriculum.grading.model_under_test import Echo
from curriculum.providers.anthropic_messages import AnthropicModel
from curriculum.providers.scripted_answers import answer_events
from curriculum.providers.scripted_endpoint import ScriptedEndpoint
from tests.providers.conftest import Serve
from tests.providers.wires import KEY, bodies, endpoint_of, fault_of

Event = dict[str, Any]
GO = [Message("user", "go")]
CALL = {"call_id": "toolu_1", "name": "echo", "arguments": '{"text":  "x"}'}


def model_of(server: ScriptedEndpoint, **given: Any) -> AnthropicModel:
    return AnthropicModel(endpoint_of(server), "scripted", **given)


def events(**answer: Any) -> list[Event]:
    return answer_events("/v1/messages", answer)


def turn_of(serve: Serve, *events: Event) -> ModelTurn:
    return model_of(serve({"send": [{"event": event} for event in events]})).respond(GO, ())


def failure_of(serve: Serve, *events: Event) -> RunError:
    return fault_of(model_of(serve({"send": [{"event": event} for event in events]})))


def block(index: int, begun: Event, *deltas: Event) -> list[Event]:
    return [
        {"type": "content_block_start", "index": index, "content_block": begun},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def ending(reason: str | None = "end_turn", **usage: Any) -> list[Event]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]


def text(index: int, *pieces: str) -> list[Event]:
    deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
    return block(index, {"type": "text", "text": ""}, *deltas)


def test_results_are_paired_under_the_calls_in_one_user_entry(serve: Serve) -> None:
    calls = [CALL, {**CALL, "call_id": "toolu_2"}]
    server = serve({"answer": {"text": "I look.", "calls": calls}}, {"answer": {"text": "ok"}})
    tools = ToolBox([Echo("echo")], granted=["echo"])
    assert AgentRunner(model_of(server), tools).run("go").final_text == "ok"
    first, second = bodies(server.requests)
    assert first["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert [entry["role"] for entry in second["messages"]] == ["user", "assistant", "user"]
    asked = [b for b in second["messages"][1]["content"] if b["type"] == "tool_use"]
    given = second["messages"][2]["content"]
    assert [b["id"] for b in asked] == [b["tool_use_id"] for b in given] == ["toolu_1", "toolu_2"]
    assert [b["input"] for b in asked] == [{"text": "x"}] * 2


def test_the_tool_gets_the_arguments_as_the_model_wrote_them(serve: Serve) -> None:
    turn = turn_of(serve, *events(calls=[CALL]))
    assert turn.tool_calls == (ToolCall("toolu_1", "echo", '{"text":  "x"}'),)


@pytest.mark.parametrize(
    ("pieces", "start", "arguments", "back"),
    [
        ([], {}, "{}", {}),
        ([""], {}, "{}", {}),
        ([], {"a": 1}, '{"a": 1}', {"a": 1}),
        (['{"a"', ": 1}"], {}, '{"a": 1}', {"a": 1}),
        (['{"a'], {}, '{"a', {"invalid_arguments": '{"a'}),
        (["[1]"], {}, "[1]", {"invalid_arguments": "[1]"}),
        (['{"a": NaN}'], {}, '{"a": NaN}', {"invalid_arguments": '{"a": NaN}'}),
        (["[" * 3000], {}, "[" * 3000, {"invalid_arguments": "[" * 3000}),
    ],
)
def test_arguments_that_are_no_object_reach_the_tool_and_do_not_break_the_replay(
    serve: Serve, pieces: list[str], start: Event, arguments: str, back: Event
) -> None:
    begun = {"type": "tool_use", "id": "toolu_1", "name": "echo", "input": start}
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    turn = turn_of(serve, *block(0, begun, *deltas), *ending("tool_use"))
    assert turn.tool_calls == (ToolCall("toolu_1", "echo", arguments),)
    assert isinstance(turn.opaque, dict)
    assert turn.opaque["content"] == [{**begun, "input": back}]


def test_thinking_goes_back_sealed_and_is_not_shown(serve: Serve) -> None:
    thinking = block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "let me "},
        {"type": "thinking_delta", "thinking": "see"},
        {"type": "signature_delta", "signature": "seal"},
    )
    redacted = block(1, {"type": "redacted_thinking", "data": "blob"})
    sent = [*thinking, *redacted, *text(2, "Here", " it is."), *ending()]
    server = serve({"send": [{"event": event} for event in sent]}, {"answer": {"text": "ok"}})
    model = model_of(server)
    turn = model.respond(GO, ())
    assert (turn.content, turn.chunks) == ("Here it is.", ("Here", " it is."))
    history = [*GO, Message("assistant", turn.content, opaque=turn.opaque), Message("user", "and?")]
    model.respond(history, ())
    assert bodies(server.requests)[1]["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "let me see", "signature": "seal"},
        {"type": "redacted_thinking", "data": "blob"},
        {"type": "text", "text": "Here it is."},
    ]


def test_text_blocks_side_by_side_are_one_text_and_others_are_paragraphs(serve: Serve) -> None:
    call = block(2, {"type": "tool_use", "id": "t", "name": "echo", "input": {}})
    turn = turn_of(serve, *text(0, "a"), *text(1, "b"), *call, *text(3, "c"), *ending("tool_use"))
    assert turn.content == "ab\n\nc"


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("max_tokens", ModelError),
        ("refusal", ModelError),
        ("pause_turn", ModelError),
        ("model_context_window_exceeded", ContextOverflowError),
        (None, ProtocolError),
    ],
)
def test_only_a_good_reason_to_stop_makes_a_turn(
    serve: Serve, reason: str | None, kind: type[RunError]
) -> None:
    fault = failure_of(serve, *text(0, "half"), *ending(reason))
    assert type(fault) is kind
    assert not fault.retryable


def test_a_stream_without_its_end_was_cut(serve: Serve) -> None:
    whole = events(text="hi", calls=[CALL])
    for count in range(len(whole)):
        assert isinstance(failure_of(serve, *whole[:count]), TransientModelError)


@pytest.mark.parametrize(
    "broken",
    [
        [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}],
        [{"type": "content_block_stop", "index": 0}],
        [*text(0, "a"), *text(0, "b")],
        [*text(0, "a"), {"type": "content_block_delta", "index": 0, "delta": {}}],
        text(0, "a")[:-1],
        [{"type": "content_block_start", "content_block": {"type": "text"}}],
        block(0, {"type": "tool_use", "id": "", "name": "echo", "input": {}}),
        block(0, {"type": "tool_use", "id": "a", "input": {}}),
        [{"type": "message_stop"}],
    ],
)
def test_events_that_do_not_fit_are_refused(serve: Serve, broken: list[Event]) -> None:
    assert isinstance(failure_of(serve, *broken, *ending()), ProtocolError)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("overloaded_error", TransientModelError),
        ("api_error", TransientModelError),
        ("invalid_request_error", ModelError),
    ],
)
def test_an_error_event_ends_the_answer(serve: Serve, error: str, kind: type[ModelError]) -> None:
    event = {"type": "error", "error": {"type": error, "message": "no"}}
    assert type(failure_of(serve, *text(0, "half"), event)) is kind


def test_a_prompt_that_is_too_long_is_an_overflow(serve: Serve) -> None:
    event = {"error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 5"}}
    assert isinstance(failure_of(serve, {"type": "error", **event}), ContextOverflowError)


def test_tokens_from_the_cache_count_as_input(serve: Serve) -> None:
    usage = {"input_tokens": 3, "cache_read_input_tokens": 4, "cache_creation_input_tokens": None}
    start = {"type": "message_start", "message": {"usage": {**usage, "output_tokens": 1}}}
    assert turn_of(serve, start, *text(0, "a"), *ending(output_tokens=9)).usage == Usage(7, 9)
    assert turn_of(serve, *text(0, "a"), *ending(output_tokens=9)).usage is None


def test_the_key_and_the_version_stand_in_their_own_headers(serve: Serve) -> None:
    server = serve({"answer": {"text": "ok"}})
    model_of(server, max_tokens=7).respond(GO, ())
    (request,) = server.requests
    assert request.path == "/v1/messages"
    assert request.headers["x-api-key"] == KEY
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in request.headers
    assert request.json()["max_tokens"] == 7


def test_entries_take_turns_and_empty_ones_are_left_out(serve: Serve) -> None:
    server = serve({"answer": {"text": "ok"}})
    call = ToolCall("a", "echo", "not JSON")
    history = [
        Message("system", "be brief"),
        Message("user", "one"),
        Message("assistant", " \n"),
        Message("user", "two"),
        Message("assistant", "", (call,), opaque={"provider": "other"}),
        Message("tool", "{}", call_id="a"),
        Message("user", "three"),
        Message("system", "the user is back"),
    ]
    model_of(server).respond(history, ())
    (body,) = bodies(server.requests)
    assert body["system"] == "be brief\n\nthe user is back"
    use = {"type": "tool_use", "id": "a", "name": "echo"}
    assert body["messages"] == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
        },
        {"role": "assistant", "content": [{**use, "input": {"invalid_arguments": "not JSON"}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "{}"},
                {"type": "text", "text": "three"},
            ],
        },
    ]
