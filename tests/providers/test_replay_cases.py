"""Section I of the cases, over a real socket: what goes back in the next request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from curriculum.core.errors import ContextOverflowError, ModelError, TransientModelError
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import Retry
from curriculum.core.tools import ToolBox
from curriculum.grading.model_under_test import Echo
from curriculum.providers.responses import OPTIONAL, ResponsesModel
from curriculum.providers.scripted_endpoint import ScriptedEndpoint
from tests.providers.conftest import Serve
from tests.providers.wires import JSON, bodies, endpoint_of

Event = dict[str, Any]
CALL = {"call_id": "call_1", "name": "echo", "arguments": '{"text": "x"}'}
FIRST = {"answer": {"reasoning": "sealed-1", "text": "I look.", "calls": [CALL]}}
SECOND = {"answer": {"reasoning": "sealed-2", "text": "Here it is."}}
THIRD = {"answer": {"text": "Bye."}}


def model_of(server: ScriptedEndpoint, **given: Any) -> ResponsesModel:
    return ResponsesModel(endpoint_of(server), "scripted", **given)


def refusal(status: int, message: str, **fields: object) -> Event:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    body = json.dumps({"error": {**error, **fields}})
    return {"status": status, "headers": JSON, "send": [{"raw": body}]}


STALE = [
    refusal(
        400, "The encrypted content gAAA could not be verified.", code="invalid_encrypted_content"
    ),
    refusal(400, "The encrypted content gAAA could not be decrypted or parsed."),
    refusal(400, "no", code="thinking_signature_invalid"),
]


def two_turns(server: ScriptedEndpoint, **given: Any) -> list[Message]:
    """A conversation of two inputs; its messages."""
    runner = AgentRunner(model_of(server, **given), ToolBox([Echo("echo")], granted=["echo"]))
    runner.turn("go")
    return list(runner.stop(runner.turn("and now?")).messages)


def kinds(body: Any) -> list[str]:
    return [item.get("role") or item["type"] for item in body["input"]]


def test_i1_items_go_back_whole_in_order_and_side_by_side(serve: Serve) -> None:
    server = serve(FIRST, SECOND, THIRD)
    messages = two_turns(server)
    assert messages[-1].content == "Bye."
    first, second, third = bodies(server.requests)
    assert kinds(first) == ["user"]
    items = ["reasoning", "assistant", "function_call", "function_call_output"]
    assert kinds(second) == ["user", *items]
    assert kinds(third) == ["user", *items, "reasoning", "assistant", "user"]
    assert third["input"][: len(second["input"])] == second["input"]
    assert second["input"][2]["phase"] == "commentary"
    assert third["input"][6]["phase"] == "final_answer"
    assert second["input"][4]["call_id"] == second["input"][3]["call_id"] == "call_1"


def test_i1_the_items_are_the_ones_that_came_untouched(serve: Serve) -> None:
    strange = {
        "type": "reasoning",
        "id": "rs_x",
        "encrypted_content": "s",
        "summary": [],
        "new": [1.5],
    }
    call = {"type": "function_call", "status": "completed", "odd": None, **CALL}
    stream = [
        {"event": {"type": "response.output_item.done", "item": item}} for item in (strange, call)
    ]
    end = {"event": {"type": "response.completed", "response": {"output": []}}}
    server = serve({"send": [*stream, end]}, THIRD)
    AgentRunner(model_of(server), ToolBox([Echo("echo")], granted=["echo"])).run("go")
    assert bodies(server.requests)[1]["input"][1:3] == [strange, call]


def test_i1_items_that_came_out_of_order_go_back_in_their_order(serve: Serve) -> None:
    items = [{"type": "reasoning", "id": "rs_1", "summary": []}, {"type": "function_call", **CALL}]
    stream = [
        {"event": {"type": "response.output_item.done", "output_index": n, "item": items[n]}}
        for n in (1, 0)
    ]
    end = {"event": {"type": "response.completed", "response": {}}}
    turn = model_of(serve({"send": [*stream, end]})).respond([Message("user", "go")], ())
    assert isinstance(turn.opaque, dict)
    assert turn.opaque["items"] == items


def test_i2_reasoning_goes_back_as_content_and_nothing_is_stored(serve: Serve) -> None:
    server = serve(FIRST, SECOND, THIRD)
    two_turns(server)
    for body in bodies(server.requests):
        assert body["store"] is False
        assert body["stream"] is True
        assert body["include"] == ["reasoning.encrypted_content"]
        assert body["parallel_tool_calls"] is False
        assert "previous_response_id" not in body
    sealed = [i for i in bodies(server.requests)[2]["input"] if i.get("type") == "reasoning"]
    assert [item["encrypted_content"] for item in sealed] == ["sealed-1", "sealed-2"]
    assert "item_reference" not in json.dumps(bodies(server.requests))


@pytest.mark.parametrize("stale", STALE)
def test_i3_reasoning_that_cannot_be_read_is_left_out_once(serve: Serve, stale: Event) -> None:
    server = serve(FIRST, stale, SECOND, THIRD)
    messages = two_turns(server)
    assert messages[-1].content == "Bye."
    requests = bodies(server.requests)
    assert "sealed-1" in json.dumps(requests[1])
    without = requests[2]["input"]
    assert kinds(requests[2]) == ["user", "assistant", "function_call", "function_call_output"]
    assert without[1]["content"] == "I look."
    assert without[2] == {"type": "function_call", **CALL}  # no id that would ask for its reasoning
    assert "sealed-1" not in json.dumps(requests[3]), "what was refused is not sent again"
    assert "sealed-2" in json.dumps(requests[3])


def test_i3_the_second_try_is_seen_and_is_the_last(serve: Serve) -> None:
    server = serve(FIRST, STALE[0], STALE[0], THIRD)
    model = model_of(server)
    turn = model.respond([Message("user", "go")], ())
    history = [
        Message("user", "go"),
        Message("assistant", turn.content, turn.tool_calls, opaque=turn.opaque),
        Message("tool", "{}", call_id="call_1"),
    ]
    stream = model.stream(history, ())
    assert isinstance(next(stream), Retry)
    with pytest.raises(ModelError, match="cannot read its earlier reasoning"):
        next(stream)
    assert len(server.requests) == 3
    assert model.respond(history, ()).content == "Bye."


def test_i3_without_reasoning_to_leave_out_it_is_a_clear_stop(serve: Serve) -> None:
    server = serve(STALE[0], THIRD)
    with pytest.raises(ModelError, match="start a new session") as caught:
        model_of(server).respond([Message("user", "go")], ())
    assert not caught.value.retryable
    assert len(server.requests) == 1


def test_i3_after_text_was_shown_there_is_no_second_try(serve: Serve) -> None:
    delta = {"event": {"type": "response.output_text.delta", "delta": "half"}}
    error = {"event": {"type": "error", "code": "invalid_encrypted_content", "message": "no"}}
    server = serve(FIRST, {"send": [delta, error]}, SECOND)
    model = model_of(server)
    turn = model.respond([Message("user", "go")], ())
    history = [
        Message("user", "go"),
        Message("assistant", turn.content, turn.tool_calls, opaque=turn.opaque),
        Message("tool", "{}", call_id="call_1"),
    ]
    stream = model.stream(history, ())
    assert next(stream) == "half"
    with pytest.raises(ModelError, match="start a new session"):
        next(stream)
    assert len(server.requests) == 2


def test_i3_a_run_with_the_second_try_has_both_requests_in_its_trace(serve: Serve) -> None:
    server = serve(FIRST, STALE[0], SECOND)
    model = model_of(server)
    result = AgentRunner(model, ToolBox([Echo("echo")], granted=["echo"])).run("go")
    assert result.final_text == "Here it is."
    attempts = [e.payload["attempt"] for e in result.events if e.type == "model.request"]
    assert attempts == [1, 1, 2]


@pytest.mark.parametrize(
    ("message", "param", "named"),
    [
        ("Encrypted content is not supported with this model.", "include", "include"),
        ("Unknown parameter: 'include'.", None, "include"),
        ("Unsupported value", "include[0]", "include"),
        ("Encrypted content is not supported with this model.", None, "include"),
        ("Unrecognized request argument supplied: store", None, "store"),
        ("no such thing", "parallel_tool_calls", "parallel_tool_calls"),
        ("Unknown parameter: 'tools[0].strict'.", "tools[0].strict", "strict"),
    ],
)
def test_i6_a_field_that_the_server_does_not_take_is_named(
    serve: Serve, message: str, param: str | None, named: str
) -> None:
    server = serve(refusal(400, message, param=param))
    with pytest.raises(ModelError, match=f"does not take '{named}', omit it") as caught:
        model_of(server).respond([Message("user", "go")], ())
    assert not caught.value.retryable


def test_i7_a_strict_server_gets_a_minimal_request(serve: Serve) -> None:
    server = serve(FIRST, THIRD)
    model = model_of(server, omit=OPTIONAL)
    tools = ToolBox([Echo("echo")], granted=["echo"])
    assert AgentRunner(model, tools, system_prompt="be brief").run("go").final_text == "Bye."
    for body in bodies(server.requests):
        assert body.keys() == {"model", "input", "stream", "instructions", "tools"}
        assert body["tools"] == [{"type": "function", **tools.descriptors()[0]}]


def test_i7_a_request_without_tools_or_prompt_has_no_fields_for_them(serve: Serve) -> None:
    server = serve(THIRD)
    model_of(server).respond([Message("user", "go")], ())
    (body,) = bodies(server.requests)
    assert body.keys() == {"model", "input", "stream", "store", "include"}


def test_i7_only_optional_fields_can_be_omitted(serve: Serve) -> None:
    with pytest.raises(ValueError, match=r"cannot omit \['stream'\]; optional are include"):
        model_of(serve(THIRD), omit=["stream"])


@pytest.mark.parametrize("late", [False, True])
def test_i8_a_request_that_is_too_long_is_one_clear_error(serve: Serve, late: bool) -> None:
    error = {"code": "context_length_exceeded", "message": "Your input is too long."}
    failed = {"type": "response.failed", "response": {"error": error}}
    refused = {"send": [{"event": failed}]} if late else refusal(400, **error)  # type: ignore[arg-type]
    server = serve(FIRST, refused, SECOND)
    model = model_of(server)
    result = AgentRunner(model, ToolBox([Echo("echo")], granted=["echo"])).run("go")
    assert isinstance(result.error, ContextOverflowError)
    assert len(server.requests) == 2, "nothing is tried again"
    history = [*result.messages, Message("user", "shorter, please")]
    assert model.respond(history, ()).content == "Here it is."


def test_history_of_another_provider_goes_out_in_neutral_words(serve: Serve) -> None:
    server = serve(THIRD)
    call = ToolCall("call_9", "echo", "{}")
    history = [
        Message("system", "be brief"),
        Message("user", "go"),
        Message("assistant", "", (call,), opaque={"provider": "other", "items": [{"type": "x"}]}),
        Message("tool", "{}", call_id="call_9"),
        Message("assistant", "done", opaque=["what is this"]),
        Message("system", "the user is back"),
        Message("user", "again"),
    ]
    model_of(server).respond(history, ())
    (body,) = bodies(server.requests)
    assert body["instructions"] == "be brief"
    assert body["input"] == [
        {"type": "message", "role": "user", "content": "go"},
        {"type": "function_call", "call_id": "call_9", "name": "echo", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_9", "output": "{}"},
        {"type": "message", "role": "assistant", "content": "done"},
        {"type": "message", "role": "system", "content": "the user is back"},
        {"type": "message", "role": "user", "content": "again"},
    ]


def test_a_failed_answer_is_not_in_the_next_request(serve: Serve) -> None:
    delta = {"event": {"type": "response.output_text.delta", "delta": "half an ans"}}
    server = serve({"send": [delta, {"cut": True}]}, THIRD)
    model = model_of(server)
    result = AgentRunner(model).run("go")
    assert isinstance(result.error, TransientModelError)
    assert isinstance(model.respond(result.messages, ()), ModelTurn)
    assert "half an ans" not in json.dumps(bodies(server.requests)[1])
