"""One call, one id, one result. An id that cannot pair them makes the whole answer invalid."""

from __future__ import annotations

import json

import pytest

from curriculum.core.messages import Message, ModelTurn, ToolCall
from tests.core.parts import Probe, asks, call, ends_well, payloads, runner_of, statuses, types


def refused(script: list[ModelTurn], *probes: Probe, history: tuple[Message, ...] = ()) -> str:
    """Run the script; nothing of its last answer may be kept or run. Returns the message."""
    result = ends_well(runner_of(script, *probes, history=history).run("go"))
    error = payloads(result, "error")[0]
    assert error["kind"] == "protocol"
    last = payloads(result, "model.response")[-1]
    assert (last["status"], last["tool_calls"]) == ("failed", [])
    assert result.messages[-1].role != "assistant"
    return str(error["message"])


@pytest.mark.parametrize("call_id", ["", None, 7, "x" * 257])
def test_a_call_without_a_usable_id_makes_the_whole_answer_invalid(call_id: object) -> None:
    probe = Probe()
    refused([asks(call(0), ToolCall(call_id, "probe"))], probe)  # type: ignore[arg-type]
    assert probe.prepared == []


@pytest.mark.parametrize("field", [{"name": None}, {"arguments": None}, {"arguments": {}}])
def test_a_call_that_is_not_text_makes_the_whole_answer_invalid(field: dict[str, object]) -> None:
    fields = {"call_id": "c", "name": "probe", "arguments": "{}", **field}
    assert "not made of text" in refused([asks(ToolCall(**fields))], Probe())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        (ModelTurn(tool_calls=call(0)), "a comma missing"),  # type: ignore[arg-type]
        (ModelTurn(tool_calls=[call(0)]), "no tuple"),  # type: ignore[arg-type]
        (ModelTurn(tool_calls=("call-0",)), "not made of text"),  # type: ignore[arg-type]
        (ModelTurn(call(0)), "not text"),  # type: ignore[arg-type]
        (ModelTurn(chunks=("a", 5)), "not text"),  # type: ignore[arg-type]
    ],
)
def test_a_turn_of_the_wrong_types_says_which(turn: ModelTurn, said: str) -> None:
    class Gives:
        def stream(self, messages: object, tools: object) -> object:
            yield turn

    runner = runner_of([], Probe())
    runner.model = Gives()  # type: ignore[assignment]
    result = ends_well(runner.run("go"))
    assert payloads(result, "error")[0]["kind"] == "protocol"
    assert said in payloads(result, "error")[0]["message"]


def test_two_calls_that_share_an_id_make_the_whole_answer_invalid() -> None:
    probe = Probe()
    assert "share the call_id 'call-0'" in refused([asks(call(0), call(0))], probe)
    assert probe.prepared == []


def test_an_id_reused_within_the_run_stops_before_any_of_its_calls_runs() -> None:
    probe = Probe()
    message = refused([asks(call(0)), asks(call(1), call(0, arguments="second"))], probe)
    assert "was used before" in message
    assert probe.ran == ["{}"]


def test_an_id_of_an_earlier_turn_or_session_is_reused_too() -> None:
    history = (
        Message("user", "before"),
        Message("assistant", "", (call(0),)),
        Message("tool", "{}", call_id="call-0"),
        Message("assistant", "done"),
    )
    assert "was used before" in refused([asks(call(0))], Probe(), history=history)


def test_the_longest_id_and_any_characters_are_fine() -> None:
    calls = [ToolCall("x" * 256, "probe"), ToolCall("\u202e \n'\"", "probe")]
    result = ends_well(runner_of([asks(*calls), ModelTurn("done")], Probe()).run("go"))
    assert set(statuses(result).values()) == {"completed"}


def test_ids_are_compared_after_their_text_is_cleaned() -> None:
    calls = [ToolCall("\ud800", "probe"), ToolCall("\udfff", "probe")]
    assert "share the call_id" in refused([asks(*calls)], Probe())


def test_results_reach_the_model_in_the_order_of_the_calls_paired_by_id() -> None:
    probe = Probe()
    script = [
        asks(call(2, arguments="a"), call(0, "nothing"), call(1, arguments="bad"), text="text"),
        ModelTurn("done"),
    ]
    runner = runner_of(script, probe)
    result = ends_well(runner.run("go"))
    shown = runner.model.requests[1]  # type: ignore[union-attr]
    assert [message.role for message in shown] == ["user", "assistant", "tool", "tool", "tool"]
    assert [message.call_id for message in shown[2:]] == ["call-2", "call-0", "call-1"]
    contents = [json.loads(message.content) for message in shown[2:]]
    assert [content["status"] for content in contents] == [
        "completed",
        "unknown_tool",
        "invalid_arguments",
    ]
    assert shown[1].content == "text"
    assert types(result).count("tool.start") == 1


def test_text_with_lone_surrogates_is_clean_in_messages_events_and_records() -> None:
    turn = ModelTurn("a\ud83d", (ToolCall("c", "probe\ud83d", '{"x":"\ud83d"}'),))
    result = ends_well(runner_of([turn, ModelTurn("done")], Probe()).run("hi\udfff"))
    assert [message.content for message in result.messages][:2] == ["hi\ufffd", "a\ufffd"]
    assert result.messages[1].tool_calls[0].arguments == '{"x":"\ufffd"}'
    "".join(event.to_line() for event in result.events).encode()
