"""Section G of the cases, over a real socket: only a response that is completed is an answer.

Most run behind AgentRunner with a tool that notes whether it ran. What belongs to the terminal
program (retries, the line for an empty answer) is tested here as far as the adapter goes.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from curriculum.core.errors import (
    ContextOverflowError,
    ModelError,
    ProtocolError,
    RunError,
    TransientModelError,
)
from curriculum.core.loop import AgentConfig, AgentRunner, RunResult
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import to_json
from curriculum.providers.responses import ResponsesModel
from curriculum.providers.scripted_answers import answer_steps
from curriculum.providers.scripted_endpoint import ScriptedEndpoint
from curriculum.providers.scripted_handler import format_event
from curriculum.tools.bash import Bash
from tests.providers.conftest import Serve
from tests.providers.wires import bodies, endpoint_of, fault_of

Event = dict[str, Any]
GO = [Message("user", "go")]
CALL = {"call_id": "call_1", "name": "note", "arguments": '{"text": "ran"}'}
CALL_ITEM = {"type": "function_call", "id": "fc_1", **CALL}


class Note:
    """A tool that notes that it ran."""

    def __init__(self) -> None:
        self.ran: list[object] = []
        self.definition = ToolDefinition("note", "Notes.", {"type": "object", "properties": {}})

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({"text": arguments}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        self.ran.append(prepared.action)
        return ToolResult("completed", "noted")


def model_of(server: ScriptedEndpoint, **given: Any) -> ResponsesModel:
    return ResponsesModel(endpoint_of(server), "scripted", **given)


def run(server: ScriptedEndpoint, note: Note, **given: Any) -> RunResult:
    return AgentRunner(model_of(server), ToolBox([note], granted=["note"]), **given).run("go")


def events(*, without: tuple[str, ...] = (), **answer: Any) -> list[Event]:
    steps = answer_steps("/v1/responses", answer)
    return [step["event"] for step in steps if step["event"]["type"] not in without]


def steps(*events: Event) -> Event:
    return {"send": [{"event": event} for event in events]}


def done(item: Event) -> Event:
    return {"type": "response.output_item.done", "item": item}


def completed(*output: Event, **fields: Any) -> Event:
    return {"type": "response.completed", "response": {"output": list(output), **fields}}


def failure(server: ScriptedEndpoint) -> RunError:
    return fault_of(model_of(server))


def answer_to(server: ScriptedEndpoint) -> ModelTurn:
    return model_of(server).respond(GO, ())


@pytest.mark.parametrize("ending", [[], [{"cut": True}], [{"reset": True}]])
def test_g1_a_call_in_a_stream_that_ends_early_does_not_run(
    serve: Serve, ending: list[Event]
) -> None:
    server = serve({"send": [{"event": done(CALL_ITEM)}, *ending]})
    note = Note()
    result = run(server, note)
    assert isinstance(result.error, TransientModelError)
    assert (result.stop_reason, note.ran) == ("failed", [])
    assert [message.role for message in result.messages] == ["user"]
    assert [e.payload["tool_calls"] for e in result.events if e.type == "model.response"] == [[]]


@pytest.mark.parametrize("items", [[], [CALL_ITEM]])
@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("max_output_tokens", "limit of output tokens; raise the limit"),
        ("content_filter", "a content filter stopped it"),
        ("a\x1b[2Jb", r"reason: a\x1b[2Jb"),
        (None, "not given"),
    ],
)
def test_g2_incomplete_is_no_success(
    serve: Serve, reason: str | None, said: str, items: list[Event]
) -> None:
    response = {"output": items, "incomplete_details": {"reason": reason}}
    ending = {"type": "response.incomplete", "response": response}
    note = Note()
    result = run(serve(steps(*map(done, items), ending)), note)
    assert type(result.error) is ModelError
    assert not result.error.retryable
    assert said in result.error.message
    assert note.ran == []


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("server_error", TransientModelError),
        ("context_length_exceeded", ContextOverflowError),
        ("invalid_prompt", ModelError),
        (None, ModelError),
    ],
)
def test_g3_failed_says_whether_to_try_again(
    serve: Serve, code: str | None, kind: type[ModelError]
) -> None:
    error = {"code": code, "message": "it broke"} if code else None
    server = serve(steps({"type": "response.failed", "response": {"error": error}}))
    fault = failure(server)
    assert type(fault) is kind
    assert fault.retryable == (code == "server_error")


@pytest.mark.parametrize(
    "ending",
    [
        {"type": "error", "code": "server_error", "message": "bad\x1b[2J \u202e luck"},
        {"type": "error", "error": {"code": "server_error", "message": "bad\x1b[2J \u202e luck"}},
        {"error": {"type": "server_error", "message": "bad\x1b[2J \u202e luck"}},
    ],
)
def test_g4_an_error_after_200_ends_the_answer(serve: Serve, ending: Event) -> None:
    fault = failure(serve(steps(*events(text="hi", without=("response.completed",)), ending)))
    assert isinstance(fault, TransientModelError)
    assert r"bad\x1b[2J \u202e luck" in fault.message


def test_g4_an_error_event_may_hold_plain_text(serve: Serve) -> None:
    fault = failure(serve({"send": [{"raw": "event: error\ndata: it \x1b broke\n\n"}]}))
    assert isinstance(fault, ModelError)
    assert r"it \x1b broke" in fault.message


@pytest.mark.parametrize("listed", [{"output": []}, {"output": None}, {}])
def test_g5_items_count_when_the_end_does_not_list_them(serve: Serve, listed: Event) -> None:
    stream = events(text="hi you", calls=[CALL], without=("response.completed",))
    end = {"type": "response.completed", "response": listed}
    turn = answer_to(serve(steps(*stream, end)))
    assert (turn.content, turn.tool_calls) == ("hi you", (ToolCall(**CALL),))
    assert [item["type"] for item in turn.opaque["items"]] == ["message", "function_call"]


def test_g5_items_count_when_only_the_end_lists_them(serve: Serve) -> None:
    (end,) = [e for e in events(text="hi you", calls=[CALL]) if e["type"] == "response.completed"]
    turn = answer_to(serve(steps(end)))
    assert (turn.content, turn.chunks) == ("hi you", ("hi you",))
    assert turn.tool_calls == (ToolCall(**CALL),)


def test_g5_items_that_were_begun_and_never_came_are_no_empty_answer(serve: Serve) -> None:
    added = {"type": "response.output_item.added", "item": CALL_ITEM}
    assert isinstance(failure(serve(steps(added, completed()))), ProtocolError)


def test_g5_an_end_that_lists_another_call_is_refused(serve: Serve) -> None:
    other = {**CALL_ITEM, "arguments": '{"text": "other"}'}
    assert isinstance(failure(serve(steps(done(CALL_ITEM), completed(other)))), ProtocolError)


def test_g5_an_item_as_it_was_done_is_the_one_that_counts(serve: Serve) -> None:
    """Sealed reasoning is whole in the item's own event; the end may list it without."""
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "whole"}
    turn = answer_to(serve(steps(done(item), completed({**item, "encrypted_content": None}))))
    assert isinstance(turn.opaque, dict)
    assert turn.opaque["items"] == [item]


def test_g5_an_end_that_lists_more_than_was_streamed_counts(serve: Serve) -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": []}
    part = {"type": "output_text", "text": "hi"}
    message = {"type": "message", "role": "assistant", "content": [part]}
    turn = answer_to(serve(steps(done(item), completed(item, message))))
    assert turn.content == "hi"
    assert isinstance(turn.opaque, dict)
    assert turn.opaque["items"] == [item, message]


def test_a_completed_response_that_holds_an_error_has_failed(serve: Serve) -> None:
    end = completed(CALL_ITEM, error={"code": "server_error", "message": "broke"})
    assert isinstance(failure(serve(steps(done(CALL_ITEM), end))), TransientModelError)


def test_g7_what_is_optional_may_be_missing(serve: Serve) -> None:
    part = {"type": "output_text", "text": "hi"}
    message = {"type": "message", "role": "assistant", "content": [part]}
    bare = {"type": "function_call", **CALL}
    delta = {"type": "response.output_text.delta", "delta": "hi"}
    turn = answer_to(serve(steps(delta, done(message), done(bare), completed(usage={}))))
    assert (turn.content, turn.tool_calls, turn.usage) == ("hi", (ToolCall(**CALL),), None)
    empty = {"type": "response.completed"}
    turn = answer_to(serve(steps(delta, empty)))
    assert (turn.content, turn.opaque) == ("hi", None)


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": -1, "output_tokens": 1},
        {"input_tokens": 1, "output_tokens": "1"},
        {"input_tokens": True, "output_tokens": 1},
        [],
    ],
)
def test_g7_a_count_that_is_none_is_no_usage(serve: Serve, usage: object) -> None:
    assert answer_to(serve(steps(completed(usage=usage)))).usage is None


def test_g8_a_call_without_an_id_of_its_own_is_paired_by_call_id(serve: Serve) -> None:
    bare = {"type": "function_call", **CALL}
    server = serve(steps(done(bare), completed()), {"answer": {"text": "done"}})
    note = Note()
    assert run(server, note).final_text == "done"
    sent = bodies(server.requests)[1]["input"]
    assert sent[1] == bare
    assert sent[2]["call_id"] == "call_1"
    assert note.ran == [CALL["arguments"]]


@pytest.mark.parametrize("call_id", [None, "", 7, {"a": 1}, "x" * 257])
def test_g9_a_call_without_a_usable_id_makes_the_response_invalid(
    serve: Serve, call_id: object
) -> None:
    item = {**CALL_ITEM, "call_id": call_id}
    if call_id is None:
        del item["call_id"]
    note = Note()
    result = run(serve(steps(done(item), completed())), note)
    assert isinstance(result.error, ProtocolError)
    assert (note.ran, len(result.messages)) == ([], 1)


@pytest.mark.parametrize(
    "broken", [{"name": None}, {"name": ""}, {"name": 5}, {"arguments": None}, {"arguments": {}}]
)
def test_g9_a_call_that_could_not_be_prepared_makes_the_response_invalid(
    serve: Serve, broken: Event
) -> None:
    fault = failure(serve(steps(done({**CALL_ITEM, **broken}), completed())))
    assert isinstance(fault, ProtocolError)


def test_g10_an_id_twice_in_a_response_is_refused(serve: Serve) -> None:
    note = Note()
    result = run(serve({"answer": {"calls": [CALL, CALL]}}), note)
    assert isinstance(result.error, ProtocolError)
    assert note.ran == []


def test_g10_an_id_of_an_earlier_response_is_refused(serve: Serve) -> None:
    note = Note()
    result = run(serve({"answer": {"calls": [CALL]}}, {"answer": {"calls": [CALL]}}), note)
    assert isinstance(result.error, ProtocolError)
    assert len(note.ran) == 1


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_g11_line_ends_do_not_matter(serve: Serve, end: str) -> None:
    server = serve({"answer": {"text": "hi \U0001f600 you", "calls": [CALL]}, "line_end": end})
    turn = answer_to(server)
    assert (turn.content, turn.tool_calls) == ("hi \U0001f600 you", (ToolCall(**CALL),))


def test_g11_mixed_line_ends_give_the_same_events(serve: Serve) -> None:
    ends = ["\n", "\r\n", "\r"]
    stream = events(text="hi you", calls=[CALL])
    sent = b"".join(format_event(e, None, ends[n % 3]) for n, e in enumerate(stream))
    mixed = sent.decode().replace("\n\n", "\n\r\n")
    assert answer_to(serve({"send": [{"raw": mixed}]})).content == "hi you"


def test_g13_separators_inside_the_json_are_text(serve: Serve) -> None:
    text = "a\u2028b\u0085c\u2029d"
    server = serve({"answer": {"pieces": [text, "\u2028"]}})
    assert answer_to(server).content == text + "\u2028"
    raw = json.dumps({"type": "response.output_text.delta", "delta": text}, ensure_ascii=False)
    assert text.encode() in raw.encode()


def test_g14_one_byte_at_a_time_is_the_same_answer(serve: Serve) -> None:
    answer = {"text": "hi \U0001f600 you", "calls": [CALL], "reasoning": "sealed"}
    server = serve({"answer": answer}, {"answer": answer, "bytes_at_once": 1})
    assert answer_to(server) == answer_to(server)


def test_g16_fields_may_stand_as_the_rules_allow(serve: Serve) -> None:
    raw = (
        'id: 7\nretry: 3000\n: hello\ndata:{"type":"response.output_text.delta",\n'
        'data: "delta":"hi"}\n\ndata\n\nevent: response.completed\nid\ndata: {"response":{}}\n\n'
    )
    assert answer_to(serve({"send": [{"raw": raw}]})).content == "hi"


def test_g18_what_is_unknown_is_passed_over(serve: Serve) -> None:
    stream = events(text="hi you")
    noise: list[Event] = [
        {"raw": "event: keepalive\ndata: {}\n\n: ping\n\n"},
        {"event": {"type": "response.foo.bar", "delta": "no"}},
        {"raw": "event: ping\ndata: not JSON\n\n"},
        {"raw": "event: ping\ndata: [NaN]\n\nevent: ping\ndata: 5\n\n"},
    ]
    sent = [step for event in stream for step in ({"event": event}, *noise)]
    assert answer_to(serve({"send": sent})).content == "hi you"


@pytest.mark.parametrize(
    "data",
    [
        "not JSON",
        "5",
        '{"a": NaN}',
        "[" * 3000,
        '{"response": ' * 70 + "{}" + "}" * 70,
        '{"response": {"output": [{"n": Infinity}]}}',
        f'{{"n": {"9" * 40}}}',
        '{"n": 1e999}',
        '{"a": ',
    ],
)
def test_g18_what_has_our_name_and_no_meaning_is_refused(serve: Serve, data: str) -> None:
    raw = f"event: response.completed\ndata: {data}\n\n"
    assert isinstance(failure(serve({"send": [{"raw": raw}]})), ProtocolError)


def test_g19_done_after_completed_is_nothing_and_instead_of_it_is_early(serve: Serve) -> None:
    end = {"raw": "data: [DONE]\n\n"}
    whole = steps(*events(text="hi"))
    assert answer_to(serve({"send": [*whole["send"], end]})).content == "hi"
    cut = steps(*events(text="hi", without=("response.completed",)))
    assert isinstance(failure(serve({"send": [*cut["send"], end]})), TransientModelError)


def test_g20_a_completed_answer_returns_at_once_and_hangs_up(serve: Serve) -> None:
    later = {"event": {"type": "response.output_text.delta", "delta": "more"}}
    server = serve({"send": [*steps(*events(text="hi"))["send"], later, {"hold": True}]})
    assert answer_to(server).content == "hi"
    assert server.wait_hang_up()


def test_g23_text_before_a_drop_was_shown_once_and_the_fault_says_so(serve: Serve) -> None:
    stream = events(text="hi you", without=("response.completed",))
    server = serve({"send": [*steps(*stream)["send"], {"cut": True}]}, {"answer": {"text": "no"}})
    result = run(server, Note())
    assert isinstance(result.error, TransientModelError)
    (response,) = [event for event in result.events if event.type == "model.response"]
    assert response.payload["content"] == "hi you"
    assert response.payload["chunks"] == {"count": 2, "complete": False}
    assert len(server.requests) == 1


@pytest.mark.parametrize("answer", [{}, {"reasoning": "sealed"}])
def test_g24_an_answer_without_text_is_an_empty_one(serve: Serve, answer: Event) -> None:
    """The terminal program shows a line for it; it must not look like a failure or hold None."""
    result = run(serve({"answer": answer}), Note())
    assert (result.stop_reason, result.final_text) == ("completed", "")


BAD_ARGUMENTS = [
    '{"command": "tr',
    "[]",
    '"ls"',
    "null",
    "{}",
    '{"command": 5}',
    '{"command": "true", "x": 1}',
    '{"command": "true", "command": "false"}',
    '{"command":' * 2000,
]


@pytest.mark.parametrize("arguments", BAD_ARGUMENTS)
def test_g25_bad_arguments_reach_no_shell_and_the_session_goes_on(
    serve: Serve, arguments: str
) -> None:
    call = {"call_id": "call_1", "name": "bash", "arguments": arguments}
    server = serve({"answer": {"calls": [call]}}, {"answer": {"text": "sorry"}})
    bash = Bash(directory="/", environment={"PATH": "/usr/bin:/bin"})
    result = AgentRunner(model_of(server), ToolBox([bash], granted=["bash"])).run("go")
    assert result.final_text == "sorry"
    assert "tool.start" not in [event.type for event in result.events]
    item, output = bodies(server.requests)[1]["input"][1:]
    assert (item["arguments"], output["call_id"]) == (arguments, "call_1")
    assert json.loads(output["output"])["status"] == "invalid_arguments"


def test_g26_an_unknown_tool_is_answered_under_its_call_id(serve: Serve) -> None:
    call = {**CALL, "name": "shell"}
    server = serve({"answer": {"calls": [call]}}, {"answer": {"text": "sorry"}})
    config = AgentConfig(max_tool_calls=1)
    assert run(server, Note(), config=config).final_text == "sorry"
    output = bodies(server.requests)[1]["input"][2]
    assert output["call_id"] == "call_1"
    assert json.loads(output["output"])["status"] == "unknown_tool"
    more = [{**call, "call_id": "call_2"}]
    server = serve({"answer": {"calls": [call]}}, {"answer": {"calls": more}})
    assert run(server, Note(), config=config).stop_reason == "max-tool-calls"


def test_g27_three_calls_at_once_are_run_in_order(serve: Serve) -> None:
    calls = [{**CALL, "call_id": f"call_{n}", "arguments": f'{{"n": {n}}}'} for n in (1, 2, 3)]
    server = serve({"answer": {"calls": calls}}, {"answer": {"text": "done"}})
    note = Note()
    assert run(server, note).final_text == "done"
    assert note.ran == [call["arguments"] for call in calls]
    first, second = bodies(server.requests)
    assert first["parallel_tool_calls"] is False
    outputs = [i for i in second["input"] if i.get("type") == "function_call_output"]
    assert [output["call_id"] for output in outputs] == ["call_1", "call_2", "call_3"]


def test_g28_a_model_that_calls_for_ever_is_stopped_and_each_call_has_its_output(
    serve: Serve,
) -> None:
    calls = [{"answer": {"calls": [{**CALL, "call_id": f"call_{n}"}]}} for n in range(9)]
    server = serve(*calls, {"answer": {"text": "done"}})
    note = Note()
    result = run(server, note)
    assert (result.stop_reason, len(server.requests), len(note.ran)) == ("max-turns", 8, 7)
    history = [*result.messages, Message("user", "and now?")]
    model_of(server).respond(history, ())
    sent = bodies(server.requests)[-1]["input"]
    asked = [item["call_id"] for item in sent if item.get("type") == "function_call"]
    given = [item["call_id"] for item in sent if item.get("type") == "function_call_output"]
    assert asked == given == [f"call_{n}" for n in range(8)]


def test_g30_a_refusal_is_text_and_unknown_parts_are_not(serve: Serve) -> None:
    parts = [
        {"type": "refusal", "refusal": "I will not."},
        {"type": "hologram", "text": "no"},
        "no part at all",
    ]
    message = {"type": "message", "role": "assistant", "content": parts}
    delta = {"type": "response.refusal.delta", "delta": "I will"}
    turn = answer_to(serve(steps(delta, done(message), completed(message))))
    assert turn.content == "I will not."
    assert turn.chunks == ("I will", " not.")
    assert turn.opaque["items"] == [message]


def test_a_tool_that_was_not_offered_is_refused(serve: Serve) -> None:
    item = {"type": "custom_tool_call", "call_id": "c", "name": "x", "input": "y"}
    assert isinstance(failure(serve(steps(done(item), completed(item)))), ProtocolError)


@pytest.mark.parametrize("status", ["incomplete", "failed"])
def test_an_item_that_is_not_whole_is_refused(serve: Serve, status: str) -> None:
    item = {**CALL_ITEM, "status": status}
    assert isinstance(failure(serve(steps(done(item), completed(item)))), ProtocolError)


def test_text_that_differs_from_what_was_shown_is_refused(serve: Serve) -> None:
    part = {"type": "output_text", "text": "hi me"}
    message = {"type": "message", "role": "assistant", "content": [part]}
    delta = {"type": "response.output_text.delta", "delta": "hi you"}
    assert isinstance(failure(serve(steps(delta, done(message), completed()))), ProtocolError)


def test_two_messages_of_an_answer_are_two_paragraphs(serve: Serve) -> None:
    def message(text: str, phase: str) -> list[Event]:
        part = {"type": "output_text", "text": text}
        item = {"type": "message", "role": "assistant", "phase": phase, "content": [part]}
        return [
            {"type": "response.output_item.added", "item": {**item, "content": []}},
            {"type": "response.output_text.delta", "delta": text},
            done(item),
        ]

    stream = [*message("I look.", "commentary"), *message("Here.", "final_answer"), completed()]
    turn = answer_to(serve(steps(*stream)))
    assert turn.content == "I look.\n\nHere."
    assert turn.chunks == ("I look.", "\n\nHere.")
    assert [item["phase"] for item in turn.opaque["items"]] == ["commentary", "final_answer"]


def test_a_character_cut_in_two_by_the_provider_is_shown_whole(serve: Serve) -> None:
    raw = "".join(
        f'data: {{"type":"response.output_text.delta","delta":"{half}"}}\n\n'
        for half in (r"a\ud83d", r"\ude00b", r"c\ud83d")
    )
    end = r'data: {"type":"response.completed","response":{"output":[{"type":"message","content":'
    end += r'[{"type":"output_text","text":"a\ud83d\ude00bc\ud83d"}]}]}}' + "\n\n"
    turn = answer_to(serve({"send": [{"raw": raw}, {"raw": end}]}))
    assert turn.content == "a\U0001f600bc\ufffd"
    assert turn.chunks == ("a", "\U0001f600b", "c", "\ufffd")
    assert to_json(turn.opaque)


@pytest.mark.parametrize("at_the_end", [False, True])
def test_a_lone_surrogate_in_a_call_goes_back_as_clean_text(serve: Serve, at_the_end: bool) -> None:
    item = r'{"type":"function_call","call_id":"call_1","name":"note",'
    item += r'"arguments":"{\"x\": \"\ud83d\"}"}'
    listed = item if at_the_end else ""
    raw = f'data: {{"type":"response.completed","response":{{"output":[{listed}]}}}}\n\n'
    if not at_the_end:
        raw = f'data: {{"type":"response.output_item.done","item":{item}}}\n\n{raw}'
    server = serve({"send": [{"raw": raw}]}, {"answer": {"text": "done"}})
    note = Note()
    result = run(server, note)
    assert result.final_text == "done"
    assert note.ran == ['{"x": "\ufffd"}']
    assert bodies(server.requests)[1]["input"][1]["arguments"] == '{"x": "\ufffd"}'
