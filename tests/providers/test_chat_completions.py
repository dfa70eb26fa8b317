"""What is particular to Chat Completions: parts of calls, reasons to finish, servers that vary."""

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
from curriculum.providers.chat_completions import OPTIONAL, ChatCompletionsModel
from curriculum.providers.scripted_endpoint import ScriptedEndpoint
from tests.providers.conftest import Serve
from tests.providers.wires import bodies, endpoint_of, fault_of

Event = dict[str, Any]
GO = [Message("user", "go")]
DONE = {"raw": "data: [DONE]\n\n"}


def chunk(finish: str | None = None, **delta: Any) -> Event:
    return {"event": {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}}


def part(index: int | None = 0, id: str | None = None, **function: Any) -> Event:
    call: Event = {"function": function}
    call |= {} if index is None else {"index": index}
    call |= {} if id is None else {"id": id}
    return chunk(tool_calls=[call])


def model_of(server: ScriptedEndpoint, **given: Any) -> ChatCompletionsModel:
    return ChatCompletionsModel(endpoint_of(server), "scripted", **given)


def turn_of(serve: Serve, *steps: Event) -> ModelTurn:
    return model_of(serve({"send": list(steps)})).respond(GO, ())


def failure_of(serve: Serve, *steps: Event) -> RunError:
    return fault_of(model_of(serve({"send": list(steps)})))


def test_calls_come_in_parts_and_side_by_side(serve: Serve) -> None:
    turn = turn_of(
        serve,
        part(1, "b", name="echo", arguments=""),
        part(0, "a", name="echo", arguments='{"te'),
        part(1, None, arguments="[1,"),
        part(0, None, arguments='xt": 1}'),
        part(1, None, arguments=" 2]"),
        chunk("tool_calls"),
        DONE,
    )
    calls = (ToolCall("a", "echo", '{"text": 1}'), ToolCall("b", "echo", "[1, 2]"))
    assert turn.tool_calls == calls
    assert (turn.stop, turn.opaque) == (False, None)


def test_calls_without_an_index_are_told_apart_by_their_ids(serve: Serve) -> None:
    turn = turn_of(
        serve,
        part(None, "a", name="x", arguments="{}"),
        part(None, "b", name="y", arguments="{"),
        part(None, None, arguments="}"),
        chunk("stop"),
        DONE,
    )
    assert turn.tool_calls == (ToolCall("a", "x", "{}"), ToolCall("b", "y", "{}"))


def test_a_name_that_is_sent_again_is_one_name(serve: Serve) -> None:
    parts = [part(0, "a", name="x", arguments=text) for text in ("{", "}")]
    assert turn_of(serve, *parts, chunk("stop"), DONE).tool_calls == (ToolCall("a", "x", "{}"),)


@pytest.mark.parametrize(
    "broken",
    [
        part(0, None, name="x", arguments="{}"),
        part(0, "", name="x", arguments="{}"),
        part(0, "a", arguments="{}"),
        part(0, "a", name="x", arguments={"text": 1}),
        chunk(tool_calls=["x"]),
        chunk(tool_calls=[{"index": "0", "id": "a"}]),
        {"raw": "data: {\n\n"},
    ],
)
def test_a_call_that_cannot_be_paired_makes_the_answer_invalid(serve: Serve, broken: Event) -> None:
    assert isinstance(failure_of(serve, broken, chunk("tool_calls"), DONE), ProtocolError)


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("length", "limit of output tokens"),
        ("content_filter", "content filter"),
        ("function_call", "reason: function_call"),
        ("error\x1b", r"reason: error\x1b"),
    ],
)
def test_an_answer_that_is_not_finished_is_no_answer(serve: Serve, reason: str, said: str) -> None:
    fault = failure_of(serve, part(0, "a", name="x", arguments="{}"), chunk(reason), DONE)
    assert type(fault) is ModelError
    assert said in fault.message


@pytest.mark.parametrize("ending", [[DONE], [], [{"cut": True}]])
def test_without_a_reason_to_finish_the_stream_was_cut(serve: Serve, ending: list[Event]) -> None:
    assert isinstance(failure_of(serve, chunk(content="half"), *ending), TransientModelError)


def test_a_clean_end_after_the_reason_is_enough(serve: Serve) -> None:
    assert turn_of(serve, chunk(content="hi"), chunk("stop")).content == "hi"
    cut = failure_of(serve, chunk(content="hi"), chunk("stop"), {"cut": True})
    assert isinstance(cut, TransientModelError)


def test_done_ends_the_answer_at_once(serve: Serve) -> None:
    server = serve({"send": [chunk("stop", content="hi"), DONE, {"hold": True}]})
    assert model_of(server).respond(GO, ()).content == "hi"
    assert server.wait_hang_up()


def test_usage_may_stand_anywhere_or_nowhere(serve: Serve) -> None:
    usage = {"event": {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}}
    assert turn_of(serve, chunk("stop", content="hi"), usage, DONE).usage == Usage(3, 4)
    assert turn_of(serve, usage, chunk("stop", content="hi"), DONE).usage == Usage(3, 4)
    assert turn_of(serve, chunk("stop", content="hi"), DONE).usage is None


def test_reasoning_is_neither_shown_nor_kept_and_a_refusal_is_text(serve: Serve) -> None:
    turn = turn_of(
        serve,
        chunk(reasoning_content="secret", reasoning="secret"),
        chunk(content=None, refusal="I will not."),
        chunk("stop"),
        DONE,
    )
    assert (turn.content, turn.opaque) == ("I will not.", None)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": "context_length_exceeded", "message": "x"}, ContextOverflowError),
        ({"type": "server_error", "message": "x"}, TransientModelError),
        ("it just broke", ModelError),
    ],
)
def test_an_error_in_the_stream_ends_it(
    serve: Serve, error: object, kind: type[ModelError]
) -> None:
    fault = failure_of(serve, chunk(content="half"), {"event": {"error": error}}, DONE)
    assert type(fault) is kind


def test_what_a_call_carries_goes_back_with_it(serve: Serve) -> None:
    call = {"call_id": "a", "name": "echo", "arguments": '{"text": "x"}'}
    server = serve({"answer": {"calls": [call], "reasoning": "sealed"}}, {"answer": {"text": "ok"}})
    AgentRunner(model_of(server), ToolBox([Echo("echo")], granted=["echo"])).run("go")
    sent = bodies(server.requests)[1]["messages"]
    function = {"name": "echo", "arguments": '{"text": "x"}'}
    wanted = {"id": "a", "type": "function", "function": function}
    assert sent[1]["tool_calls"] == [{**wanted, "extra_content": {"seal": "sealed"}}]
    assert sent[1]["content"] is None
    assert (sent[2]["role"], sent[2]["tool_call_id"]) == ("tool", "a")


def test_the_request_is_minimal_when_the_server_is_strict(serve: Serve) -> None:
    server = serve({"answer": {"text": "ok"}}, {"answer": {"text": "ok"}})
    tools = [Echo("echo").definition.descriptor()]
    history = [*GO, Message("assistant", ""), Message("user", "go on")]
    model_of(server, omit=OPTIONAL).respond(history, tools)
    model_of(server).respond(GO, tools)
    strict, whole = bodies(server.requests)
    assert strict.keys() == {"model", "stream", "messages", "tools"}
    assert [message["role"] for message in strict["messages"]] == ["user", "user"]
    assert whole["stream_options"] == {"include_usage": True}
    assert whole["parallel_tool_calls"] is False
    with pytest.raises(ValueError, match="cannot omit"):
        model_of(server, omit=["tools"])
