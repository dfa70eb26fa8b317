"""A request is as short as it has to be, whole in its pairs, and can be rebuilt by any reader."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.core.context import (
    SUMMARY_INTRO,
    ContextWindow,
    Draft,
    DropTurns,
    Reduction,
    TruncateOutput,
    cut_result,
    cut_text,
    rebuild,
)
from curriculum.core.errors import (
    ContextLimitError,
    ContextOverflowError,
    ModelError,
    TransientModelError,
)
from curriculum.core.loop import AgentRunner, RunResult
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
from curriculum.core.model import ScriptedModel
from curriculum.core.summary import Summarise
from curriculum.core.tokens import MeasuredModel, TokenCounter, estimate_tokens
from curriculum.core.tools import ToolBox, ToolResult
from curriculum.core.trace import Recorder, to_json
from curriculum.core.values import replace
from tests.core.parts import (
    Probe,
    asks,
    call,
    ends_well,
    events_of,
    findings_in,
    payloads,
    runner_of,
    types,
)

Messages = Sequence[Message]


def by_characters(tools: Sequence[dict[str, object]] = ()) -> TokenCounter:
    """A counter whose token is a character: easy to reckon with."""
    return TokenCounter(tools, len)


def said(text: str, *calls: ToolCall) -> Message:
    return Message("assistant", text, calls)


def result_of(call_id: str, output: str) -> Message:
    return Message("tool", ToolResult("completed", output).content(), call_id=call_id)


def fit(
    messages: Messages, limit: int, *reductions: Reduction
) -> tuple[Messages, Mapping[str, Any] | None]:
    return ContextWindow(limit, by_characters(), reductions).fit(messages, None)


class Teller:
    """A summarising model: says a fixed text, or fails; keeps what it was shown."""

    def __init__(self, *says: str | Exception) -> None:
        self.says = list(says) or ["so it was"]
        self.requests: list[Messages] = []

    def respond(self, messages: Messages, tools: Sequence[dict[str, object]]) -> ModelTurn:
        assert tools == []
        self.requests.append(tuple(messages))
        answer = self.says[min(len(self.requests), len(self.says)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return ModelTurn(answer)


THREE_TURNS = [
    Message("system", "rules"),
    Message("user", "one" * 10),
    said("", ToolCall("c1", "read", "{}")),
    result_of("c1", "x" * 100),
    said("first"),
    Message("user", "two" * 10),
    said("second"),
    Message("user", "three"),
]


# Counting


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("世界", 2), ("\ud800", 1)]
)
def test_an_estimate_is_a_quarter_of_the_bytes_rounded_up(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_everything_that_is_sent_is_counted() -> None:
    counter = by_characters()
    assert counter.tokens([Message("user", "abc")]) == 4 + 3
    assert counter.tokens([said("ab", ToolCall("id", "read", "{}"))]) == 4 + 2 + 4 + 4 + 2
    tools = ToolBox([Probe()]).descriptors()
    assert by_characters(tools).tokens([]) == len(to_json(tools))


def test_an_empty_request_teaches_nothing_and_the_smallest_one_something() -> None:
    counter = by_characters()
    counter.observe([], 5)
    assert counter.tokens([Message("user", "abc")]) == 7
    for usage in (1, 8):
        counter = TokenCounter([{"name": "t"}], lambda text: 1)
        counter.observe([], usage)
        assert counter.tokens([]) == usage


def test_a_measured_model_is_told_of_the_tools() -> None:
    class Told:
        def respond(self, messages: Messages, tools: object) -> ModelTurn:
            return ModelTurn(f"{len(messages)} message, {tools}")

    model = MeasuredModel(Told(), TokenCounter())
    (turn,) = model.stream([Message("user", "go")], [{"name": "read"}])
    assert turn == ModelTurn("1 message, [{'name': 'read'}]")


def test_usage_corrects_the_estimate() -> None:
    counter, messages = TokenCounter(), [Message("user", "x" * 384)]
    assert counter.tokens(messages) == 100
    assert counter.room(100) == 100
    counter.observe(messages, 150)
    assert counter.tokens(messages) == 150
    assert counter.room(150) == 100
    counter.observe(messages, 80)
    assert counter.tokens(messages) == 80


@pytest.mark.parametrize(("usage", "tokens"), [(0, 100), (1, 50), (10**9, 800)])
def test_a_report_that_cannot_be_is_believed_only_so_far(usage: int, tokens: int) -> None:
    counter, messages = TokenCounter(), [Message("user", "x" * 384)]
    counter.observe(messages, usage)
    assert counter.tokens(messages) == tokens


@given(
    st.integers(0, 5000), st.integers(1, 5000), st.integers(1, 50_000), st.lists(st.text()).map(len)
)
def test_what_has_room_is_within_the_limit(limit: int, a: int, b: int, tools: int) -> None:
    counter = TokenCounter([{"name": "t"}] * tools, len)
    counter.observe([Message("user", "x" * a)], b)
    room = counter.room(limit)
    if room >= 4:
        assert counter.tokens([Message("user", "y" * (room - 4))]) <= limit
    assert counter.tokens([Message("user", "y" * max(0, room - 3))]) > limit


def test_a_measured_model_reports_what_each_request_took() -> None:
    counter = TokenCounter()
    script = [ModelTurn("one", chunks=("on", "e"), usage=Usage(40, 1)), ModelTurn("two")]
    model = MeasuredModel(ScriptedModel(script), counter)
    messages = [Message("user", "x" * 64)]
    assert counter.tokens(messages) == 20
    assert list(model.stream(messages, [])) == ["on", "e", script[0]]
    assert counter.tokens(messages) == 40
    assert list(model.stream(messages, [])) == [script[1]]
    assert counter.tokens(messages) == 40


# Policies


def test_what_fits_is_sent_as_it_is() -> None:
    view, report = fit(THREE_TURNS, 10_000, DropTurns())
    assert view is THREE_TURNS
    assert report is None


def test_the_oldest_turns_go_first_and_whole() -> None:
    view, report = fit(THREE_TURNS, 100, DropTurns())
    assert view == [THREE_TURNS[0], *THREE_TURNS[5:]]
    assert report == {
        "policy": "drop-turns",
        "reason": "budget",
        "dropped": [1, 2, 3, 4],
        "message_count_before": 8,
        "message_count": 4,
    }
    view, _ = fit(THREE_TURNS, 30, DropTurns())
    assert view == [THREE_TURNS[0], THREE_TURNS[7]]


def test_what_has_to_stay_and_does_not_fit_is_a_clear_error() -> None:
    with pytest.raises(ContextLimitError, match="left out already") as failure:
        fit(THREE_TURNS, 10, DropTurns(), TruncateOutput(5, 5))
    assert failure.value.payload() == {
        "kind": "context",
        "message": failure.value.message,
        "retryable": False,
        "resource": "tokens",
        "unit": "tokens",
        "limit": 10,
        "needed": 18,
    }


def test_the_current_turn_is_never_dropped() -> None:
    messages = [Message("user", "do it"), said("", call(1)), result_of("call-1", "x" * 100)]
    with pytest.raises(ContextLimitError):
        fit(messages, 50, DropTurns())


def test_a_call_whose_result_is_in_the_current_turn_stays_with_it() -> None:
    messages = [
        Message("user", "x" * 50),
        said("", call(1)),
        Message("user", "and?"),
        result_of("call-1", "late"),
    ]
    view, report = fit(messages, 110, DropTurns())
    assert view == messages[1:]
    assert report is not None


def test_long_output_keeps_its_head_and_tail_and_stays_json() -> None:
    messages = [Message("user", "u"), said("", call(1)), result_of("call-1", "a" * 500 + "z" * 500)]
    view, report = fit(messages, 200, TruncateOutput(10, 20))
    assert report is not None
    assert report["truncated"] == [{"index": 2, "head": 10, "tail": 20}]
    assert report["dropped"] == []
    assert json.loads(view[2].content) == {
        "output": "a" * 10 + "\n[... 970 characters left out ...]\n" + "z" * 20,
        "status": "completed",
        "truncated": True,
    }
    assert view[2].call_id == "call-1"


def test_what_fits_to_the_token_is_left_as_it_is_and_one_more_is_not() -> None:
    messages = [Message("user", "x" * 6), said("y" * 6), Message("user", "z" * 6)]
    view, report = fit(messages, 30, DropTurns())
    assert (view, report) == (messages, None)
    _, report = fit(messages, 29, DropTurns())
    assert report is not None
    assert report["dropped"] == [0, 1]
    assert list(fit(messages, 10, DropTurns())[0]) == messages[2:]
    with pytest.raises(ContextLimitError) as stop:
        fit(messages, 9, DropTurns())
    assert stop.value.message == (
        "the request is too long, and what may be left out is left out already"
    )


@pytest.mark.parametrize(("limit", "dropped"), [(40, [0, 1]), (39, [0, 1, 2, 3])])
def test_turns_are_left_out_until_it_fits_to_the_token(limit: int, dropped: list[int]) -> None:
    turn = [Message("user", "x" * 6), said("y" * 6)]
    _, report = fit([*turn, *turn, *turn], limit, DropTurns())
    assert report is not None
    assert report["dropped"] == dropped


@pytest.mark.parametrize(("more", "cut"), [(0, [2]), (1, [2, 3])])
def test_outputs_are_cut_until_it_fits_to_the_token(more: int, cut: list[int]) -> None:
    messages = [Message("user", "u"), said("", call(1), call(2))]
    messages += [result_of(f"call-{n}", "x" * 1000) for n in (1, 2)]
    first = [*messages[:2], cut_result(messages[2], 50, 50), messages[3]]
    _, report = fit(messages, by_characters().tokens(first) - more, TruncateOutput(50, 50))
    assert report is not None
    assert [one["index"] for one in report["truncated"]] == cut


def test_an_output_that_a_cut_would_make_no_shorter_stays_whole() -> None:
    """What a cut leaves out, its mark and `truncated` take up again."""
    whole = result_of("call-1", "x" * 120)
    mark = len(cut_result(whole, 50, 50).content) - len(whole.content)
    assert mark > 0
    short = [Message("user", "u"), said("", call(1)), result_of("call-1", "x" * (120 + mark))]
    assert len(cut_result(short[2], 50, 50).content) == len(short[2].content)
    with pytest.raises(ContextLimitError):
        fit(short, 100, TruncateOutput(50, 50))
    messages = [*short, said("", call(2)), result_of("call-2", "x" * 1000)]
    _, report = fit(messages, 500, TruncateOutput(50, 50))
    assert report is not None
    assert [one["index"] for one in report["truncated"]] == [4]


def test_unless_told_1000_characters_stay_at_each_end() -> None:
    messages = [Message("user", "u"), said("", call(1)), result_of("call-1", "x" * 9000)]
    _, report = fit(messages, 5000, TruncateOutput())
    assert report is not None
    assert report["truncated"] == [{"index": 2, "head": 1000, "tail": 1000}]


def test_what_a_person_or_the_model_said_is_never_cut() -> None:
    with pytest.raises(ContextLimitError):
        fit([said("x" * 5000), Message("user", "x" * 5000)], 1000, TruncateOutput(10, 10))


class Sweeps:
    """A reduction with a long name, that leaves out the first message."""

    def reduce(self, draft: Draft) -> Draft:
        names = (*draft.policies, "sweeps" * 12)
        return replace(draft, dropped=frozenset({0}), policies=names)


def test_the_names_of_the_policies_have_at_most_64_characters() -> None:
    _, report = fit([Message("user", "x" * 90), Message("user", "y")], 50, Sweeps())
    assert report is not None
    assert report["policy"] == ("sweeps" * 12)[:64]


def test_a_reduction_is_tried_only_if_those_before_it_were_not_enough() -> None:
    turn = [Message("user", "x" * 6), said("y" * 6)]
    _, report = fit([*turn, *turn], 20, DropTurns(), Sweeps())
    assert report is not None
    assert report["policy"] == "drop-turns"


def test_a_result_without_its_call_stands_alone() -> None:
    messages = [result_of("gone", "x" * 90), Message("user", "y")]
    view, _ = fit(messages, 50, DropTurns())
    assert view == messages[1:]


def test_where_nobody_has_asked_anything_no_turn_is_over() -> None:
    with pytest.raises(ContextLimitError):
        fit([said("x" * 90), said("y")], 50, DropTurns())


def test_what_is_as_large_as_what_was_refused_is_not_sent_and_one_less_is() -> None:
    window = ContextWindow(10_000, by_characters(), [DropTurns()])
    large, smaller = [Message("user", "x" * 96)], [Message("user", "x" * 95)]
    assert window.fit(large, None) == (large, None)
    with pytest.raises(ContextLimitError):
        window.fit(large, ContextOverflowError("too long"))
    with pytest.raises(ContextLimitError):
        window.fit(large, None)
    assert window.fit(smaller, None) == (smaller, None)


def test_an_overflow_before_anything_was_sent_leaves_no_room() -> None:
    window = ContextWindow(100, by_characters(), [DropTurns()])
    with pytest.raises(ContextLimitError):
        window.fit([Message("user", "go")], ContextOverflowError("too long"))


def test_only_as_many_outputs_are_cut_as_has_to_be_oldest_first() -> None:
    messages = [Message("user", "u"), said("", call(1), call(2))]
    messages += [result_of(f"call-{n}", "x" * 1000) for n in (1, 2)]
    _, report = fit(messages, 1500, TruncateOutput(50, 50))
    assert report is not None
    assert [cut["index"] for cut in report["truncated"]] == [2]


@pytest.mark.parametrize(
    "content", ["x" * 1000, '{"output":5}', "[" * 2000, '{"output":"' + "x" * 900 + '","n":NaN}']
)
def test_a_result_of_another_form_is_cut_as_text(content: str) -> None:
    cut = cut_result(Message("tool", content, call_id="c"), 10, 10)
    assert cut.content == cut_text(content, 10, 10)


def test_a_text_that_is_short_is_not_cut() -> None:
    assert cut_text("abcdef", 3, 3) == "abcdef"
    assert cut_text("abcdefg", 3, 3) == "abc\n[... 1 characters left out ...]\nefg"
    assert cut_text("abc", 0, 0) == "\n[... 3 characters left out ...]\n"


def test_a_chain_goes_on_where_one_policy_is_not_enough() -> None:
    view, report = fit(THREE_TURNS, 60, TruncateOutput(10, 10), DropTurns())
    assert report is not None
    assert report["policy"] == "truncate-output_drop-turns"
    assert "truncated" not in report  # what was cut has gone altogether
    assert view == [THREE_TURNS[0], *THREE_TURNS[5:]] or view == [THREE_TURNS[0], THREE_TURNS[7]]


# Summaries


def test_a_summary_stands_where_the_first_message_was_left_out() -> None:
    teller = Teller("it was about x")
    view, report = fit(THREE_TURNS, 250, Summarise(teller))
    assert report is not None
    assert report["summary"] == "it was about x"
    assert report["policy"] == "summarise"
    assert view[0] == THREE_TURNS[0]
    assert view[1] == Message("user", SUMMARY_INTRO + "it was about x")
    assert view[2:] == [m for n, m in enumerate(THREE_TURNS[1:], 1) if n not in report["dropped"]]
    assert view[-1] == THREE_TURNS[-1]
    [[prompt, data]] = teller.requests
    assert prompt.role == "system"
    assert "one" * 10 in data.content
    assert "three" not in data.content


def test_a_summary_is_made_once_and_folded_into_the_next() -> None:
    teller = Teller("first account", "second account")
    window = ContextWindow(250, by_characters(), [Summarise(teller)])
    messages = list(THREE_TURNS)
    window.fit(messages, None)
    messages += [said("third")]
    window.fit(messages, None)
    assert len(teller.requests) == 1
    messages += [Message("user", "y" * 150), said("fourth"), Message("user", "go on")]
    _, report = window.fit(messages, None)
    assert report is not None
    assert report["summary"] == "second account"
    assert len(teller.requests) == 2
    assert "first account" in teller.requests[1][1].content
    assert "one" * 10 not in teller.requests[1][1].content


def test_steps_of_the_current_turn_can_be_summarised_but_not_its_input() -> None:
    messages = [Message("user", "a long task")]
    for number in range(6):
        messages += [said("", call(number)), result_of(f"call-{number}", "x" * 100)]
    view, report = fit(messages, 600, Summarise(Teller()))
    assert report is not None
    assert view[0] == messages[0]
    assert view[1].content.startswith(SUMMARY_INTRO)
    assert view[-4:] == messages[-4:]
    assert 0 not in report["dropped"]


@pytest.mark.parametrize("failing", [TransientModelError("busy"), ModelError("no"), "", "  \n"])
def test_a_summariser_that_fails_leaves_it_to_the_next_policy(failing: str | Exception) -> None:
    view, report = fit(THREE_TURNS, 100, Summarise(Teller(failing)), DropTurns())
    assert report is not None
    assert report["policy"] == "drop-turns"
    assert "summary" not in report
    assert view == [THREE_TURNS[0], *THREE_TURNS[5:]]


def test_a_summary_that_is_too_long_is_cut_to_half_of_the_room() -> None:
    view, report = fit(THREE_TURNS, 250, Summarise(Teller("word " * 10_000)), DropTurns())
    assert report is not None
    assert 0 < len(report["summary"]) <= 125
    assert by_characters().tokens(view) <= 250


def test_a_summary_of_another_conversation_is_not_used() -> None:
    teller = Teller("of the first", "of the second")
    summarise = Summarise(teller)
    fit(THREE_TURNS, 250, summarise)
    others = [Message("user", "z" * 200), said("ok"), said("ok"), Message("user", "go")]
    _, report = fit(others, 200, summarise)
    assert report is not None
    assert report["summary"] == "of the second"
    assert "of the first" not in teller.requests[1][1].content


# Any history, any policy

TEXTS = st.one_of(st.text(max_size=8), st.integers(0, 300).map(lambda n: "x" * n))


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Turns of a conversation: each answer's calls have their results, in any order."""
    messages = [Message("system", draw(TEXTS))] if draw(st.booleans()) else []
    if draw(st.booleans()):
        messages.append(said("an answer to nothing"))
    number = 0
    for _ in range(draw(st.integers(1, 4))):
        messages.append(Message("user", draw(TEXTS)))
        for _ in range(draw(st.integers(0, 3))):
            calls = [call(number + n) for n in range(draw(st.integers(0, 3)))]
            number += len(calls)
            messages.append(said(draw(TEXTS), *calls))
            for one in draw(st.permutations(calls)):
                raw = draw(st.booleans())
                output = draw(TEXTS)
                content = output if raw else ToolResult("completed", output).content()
                messages.append(Message("tool", content, call_id=one.call_id))
        if draw(st.integers(0, 9)) == 0:
            messages.append(Message("system", "a note on the way"))
    return messages


REDUCTIONS: list[Callable[[st.DrawFn], Reduction]] = [
    lambda draw: DropTurns(),
    lambda draw: TruncateOutput(draw(st.integers(0, 40)), draw(st.integers(0, 40))),
    lambda draw: Summarise(
        Teller(draw(st.sampled_from(["", "short", "long " * 50, "\ud800"]))),
        draw(st.integers(1, 3)),
    ),
]


@st.composite
def windows(draw: st.DrawFn) -> tuple[int, ContextWindow]:
    limit = draw(st.integers(1, 1500))
    makers = draw(st.lists(st.sampled_from(REDUCTIONS), max_size=3))
    return limit, ContextWindow(limit, by_characters(), [make(draw) for make in makers])


def check_request(messages: Messages, view: Messages, limit: int) -> None:
    """What holds of every request, whatever was left out."""
    assert by_characters().tokens(view) <= limit
    open_calls: set[str | None] = set()
    for message in view:
        open_calls |= {one.call_id for one in message.tool_calls}
        if message.role == "tool":
            assert message.call_id in open_calls
            open_calls.remove(message.call_id)
    assert not open_calls
    assert [m for m in view if m.role == "system"] == [m for m in messages if m.role == "system"]
    inputs = [m for m in messages if m.role == "user"]
    assert inputs[-1] in view
    assert view[-1].role == messages[-1].role


def is_a_clear_stop(stop: ContextLimitError, limit: int) -> bool:
    needed = stop.details["needed"]
    return isinstance(needed, int) and needed > limit == stop.details["limit"]


@given(histories(), windows())
def test_any_request_is_valid_and_within_the_limit_or_a_clear_error(
    messages: list[Message], window: tuple[int, ContextWindow]
) -> None:
    limit, policy = window
    before = list(messages)
    view, report, stop = [], None, None
    try:
        view, report = policy.fit(messages, None)
    except ContextLimitError as fault:
        stop = fault
    assert messages == before
    if stop:
        assert is_a_clear_stop(stop, limit)
        return
    check_request(messages, view, limit)
    if report is None:
        assert view is messages
    else:
        assert json.loads(to_json(report)) == report  # nothing in it is only known to us
        assert list(view) == rebuild(messages, json.loads(to_json(report)))
        assert report["message_count"] == len(view)
        assert report["message_count_before"] == len(messages)


@given(histories(), windows())
def test_an_overflow_is_answered_by_at_most_half_of_what_was_sent(
    messages: list[Message], window: tuple[int, ContextWindow]
) -> None:
    limit, policy = window
    try:
        sent, _ = policy.fit(messages, None)
        again, report = policy.fit(messages, ContextOverflowError("too long"))
    except ContextLimitError:
        return
    counter = by_characters()
    assert counter.tokens(again) <= counter.tokens(sent) // 2
    check_request(messages, again, limit)
    assert report is not None
    assert report["reason"] == "overflow"
    assert list(again) == rebuild(messages, report)


@given(histories(), st.integers(1, 1500))
def test_dropping_takes_no_more_than_it_has_to(messages: list[Message], limit: int) -> None:
    try:
        _, report = fit(messages, limit, DropTurns())
    except ContextLimitError:
        return
    if report is None:
        return
    starts = [n for n, m in enumerate(messages) if m.role == "user"]
    last_gone = max(report["dropped"])
    last_start = max((n for n in starts if n <= last_gone), default=0)
    back = [n for n in report["dropped"] if n >= last_start]
    fuller = {**report, "dropped": [n for n in report["dropped"] if n not in back]}
    assert by_characters().tokens(rebuild(messages, fuller)) > limit


# Behind a runner


def messages_in(result: RunResult, start: Messages = ()) -> list[tuple[list[Message], Any, Any]]:
    """Each request of a trace: (messages before it, context.compact payload or None, request).

    Read from the lines alone, as somebody would who has only the file.
    """
    messages, requests, report = list(start), [], None
    for line in (json.loads(event.to_line()) for event in result.events):
        payload = line["payload"]
        if line["type"] == "user.message":
            messages.append(Message("user", payload["content"]))
        elif line["type"] == "context.compact":
            report = payload
        elif line["type"] == "model.request":
            requests.append((list(messages), report, payload))
            report = None
        elif line["type"] == "model.response" and payload["status"] == "completed":
            calls = tuple(ToolCall(**one) for one in payload["tool_calls"])
            messages.append(Message("assistant", payload["content"], calls))
        elif line["type"] == "tool.result":
            call_id = payload.pop("call_id")
            messages.append(Message("tool", to_json(payload), call_id=call_id))
    return requests


def check_rebuilt(result: RunResult, model: ScriptedModel, start: Messages = ()) -> None:
    requests = messages_in(result, start)
    assert len(requests) == len(model.requests)
    for (messages, report, request), seen in zip(requests, model.requests, strict=True):
        shown = messages if report is None else rebuild(messages, report)
        assert shown == list(seen)
        assert request["roles"] == [message.role for message in seen]


ANSWERS = st.lists(
    st.one_of(
        st.integers(0, 2),
        st.sampled_from(["overflow", "usage"]),
    ),
    max_size=12,
)


@given(
    ANSWERS, windows(), st.lists(st.integers(0, 400), min_size=1, max_size=4), st.sampled_from("rt")
)
def test_every_request_of_any_run_can_be_rebuilt_from_its_trace(
    answers: list[int | str], window: tuple[int, ContextWindow], inputs: list[int], kind: str
) -> None:
    script: list[ModelTurn | Exception] = []
    made = 0
    for answer in answers:
        if answer == "overflow":
            script.append(ContextOverflowError("too long"))
            continue
        count = answer if isinstance(answer, int) else 0
        calls = [call(made + n) for n in range(count)]
        made += count
        script.append(ModelTurn("said", tuple(calls), usage=Usage(500, 1)))
    model = ScriptedModel([*script, *[ModelTurn("done")] * 4])
    probe = Probe(act=lambda running: ToolResult("completed", "é" * 200))
    runner = AgentRunner(
        model,
        ToolBox([probe], ["probe"]),
        system_prompt="rules" if kind == "r" else "",
        context=window[1],
        recorder=Recorder.golden(),
    )
    result = None
    for size in inputs:
        result = runner.turn("x" * size)
    assert result is not None
    result = ends_well_after(runner, result)
    start = [Message("system", "rules")] if kind == "r" else []
    check_rebuilt(result, model, start)


def ends_well_after(runner: AgentRunner, result: RunResult) -> RunResult:
    """A session of several turns may hold errors of earlier ones, but validates all the same."""
    stopped = runner.stop(result)
    assert findings_in(stopped) == []
    return stopped


def test_an_overflow_is_compacted_once_and_then_a_clear_stop() -> None:
    history = [Message("user", "x" * 100), said("y" * 100)]
    for second, reason in (
        (ModelTurn("done"), "completed"),
        (ContextOverflowError("no"), "failed"),
    ):
        model = ScriptedModel([ContextOverflowError("too long"), second])
        runner = AgentRunner(
            model,
            history=history,
            context=ContextWindow(10_000, by_characters(), [DropTurns()]),
            recorder=Recorder.golden(),
        )
        result = ends_well(runner.run("and now"))
        assert result.stop_reason == reason
        assert [len(seen) for seen in model.requests] == [3, 1]
        assert [p["reason"] for p in payloads(result, "context.compact")] == ["overflow"]
        check_rebuilt(result, model, history)


def test_an_overflow_with_nothing_to_leave_out_is_one_error() -> None:
    result = ends_well(
        runner_of(
            [ContextOverflowError("too long")],
            context=ContextWindow(10_000, by_characters(), [DropTurns()]),
        ).run("go")
    )
    assert result.stop_reason == "failed"
    assert payloads(result, "error")[0]["kind"] == "context"
    assert types(result).count("model.request") == 1


def test_what_was_refused_once_is_not_sent_again() -> None:
    script = [
        ModelTurn("one"),
        ContextOverflowError("too long"),
        ModelTurn("two"),
        ModelTurn("three"),
    ]
    model = ScriptedModel(script)
    runner = AgentRunner(
        model,
        context=ContextWindow(10_000, by_characters(), [DropTurns()]),
        recorder=Recorder.golden(),
    )
    for text in ("x" * 100, "y" * 20, "z"):
        result = runner.turn(text)
    assert [len(seen) for seen in model.requests] == [1, 3, 1, 3]
    result = runner.stop(result)
    assert [p["reason"] for p in payloads(result, "context.compact")] == ["overflow", "budget"]
    assert payloads(result, "context.compact")[1]["dropped"] == [0, 1]


def test_a_request_that_cannot_fit_is_not_sent() -> None:
    context = ContextWindow(5, by_characters(), [DropTurns()])
    result = ends_well(runner_of([ModelTurn("done")], context=context).run("a long question"))
    assert types(result) == ["session.start", "user.message", "error", "session.stop"]
    assert payloads(result, "error")[0]["kind"] == "context"


def test_messages_are_kept_whatever_a_request_leaves_out() -> None:
    probe = Probe(act=lambda running: ToolResult("completed", "x" * 1000))
    context = ContextWindow(300, by_characters(), [TruncateOutput(10, 10)])
    result = ends_well(
        runner_of([asks(call(1)), ModelTurn("ok")], probe, context=context).run("go")
    )
    assert json.loads(result.messages[2].content)["output"] == "x" * 1000
    assert len(events_of(result, "context.compact")) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: ContextWindow(0, TokenCounter(), []),
        lambda: TruncateOutput(-1, 0),
        lambda: TruncateOutput(0, -1),
        lambda: Summarise(Teller(), keep=0),
        lambda: Summarise(Teller(), most_characters=0),
    ],
)
def test_bounds_make_sense(make: Callable[[], object]) -> None:
    said = (
        r"^(the limit must be|head and tail are numbers of characters,|keep, most_.* be) at least"
    )
    with pytest.raises(ValueError, match=said):
        make()
