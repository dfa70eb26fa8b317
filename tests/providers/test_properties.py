"""Whatever a server sends, an adapter answers with a turn or with one of our errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curriculum.core.errors import ModelError, ProtocolError
from curriculum.core.messages import ModelTurn
from curriculum.core.trace import to_json
from curriculum.providers.answer import Answer
from curriculum.providers.anthropic_answer import AnthropicAnswer
from curriculum.providers.chat_completions import ChatAnswer
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.faults import Faults
from curriculum.providers.responses_answer import ResponsesAnswer
from curriculum.providers.scripted_answers import answer_steps
from curriculum.providers.scripted_handler import format_event
from curriculum.providers.sse import read_events

Event = dict[str, Any]
FAULTS = Faults(Endpoint("http://127.0.0.1/v1", "test-key"), ("include",))
READERS: dict[str, tuple[str, Callable[[Faults], Answer]]] = {
    "responses": ("/v1/responses", ResponsesAnswer),
    "chat": ("/v1/chat/completions", ChatAnswer),
    "messages": ("/v1/messages", AnthropicAnswer),
}

texts = st.text(st.characters(codec=None), max_size=8)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(
    ["type", "error", "delta", "item", "response", "choices", "index", "content_block", "usage"]
)
calls = st.fixed_dictionaries({"call_id": texts, "name": texts, "arguments": texts})
answers = st.fixed_dictionaries(
    {},
    optional={
        "pieces": st.lists(texts, max_size=4),
        "calls": st.lists(calls, max_size=3),
        "reasoning": texts,
    },
)


def data_of(steps: list[Event]) -> bytes:
    parts = [
        format_event(step["event"]) if "event" in step else step["raw"].encode() for step in steps
    ]
    return b"".join(parts)


def read(kind: str, chunks: list[bytes]) -> tuple[list[str], ModelTurn]:
    """What was shown, and the turn. Raises what the adapter would."""
    answer = READERS[kind][1](FAULTS)
    shown: list[str] = []
    for event in read_events(chunks):
        shown += answer.take(event)
        if answer.turn is not None:
            break
    else:
        answer.end()
    assert answer.turn is not None
    return shown, answer.turn


def check(kind: str, chunks: list[bytes]) -> None:
    """A turn that can be kept and shown, or one of our errors with a message that can be shown."""
    try:
        shown, turn = read(kind, chunks)
    except (ModelError, ProtocolError) as fault:
        said = fault.message
    else:
        said = "x"
        check_turn(shown, turn)
    assert said.isprintable()


def check_turn(shown: list[str], turn: ModelTurn) -> None:
    """The turn is what was shown, and everything in it can be written down."""
    assert "".join(shown) == turn.content
    assert all(shown)
    assert tuple(shown) == turn.chunks
    turn.content.encode()
    to_json(turn.opaque)
    json.dumps(turn.opaque, ensure_ascii=False).encode()  # no half of a character is left in it
    for call in turn.tool_calls:
        assert call.call_id
        assert call.name
        assert isinstance(call.arguments, str)


def mutate(event: Event, path: list[int], new: object) -> object:
    """The event with something else at some place in it."""
    if not path or not isinstance(event, (dict, list)) or not event:
        return new
    if isinstance(event, list):
        at = path[0] % len(event)
        return [*event[:at], mutate(event[at], path[1:], new), *event[at + 1 :]]
    name = list(event)[path[0] % len(event)]
    return {**event, name: mutate(event[name], path[1:], new)}


@pytest.mark.parametrize("kind", READERS)
@given(answer=answers, draw=st.data())
def test_any_cut_of_an_answer_is_the_same_answer(
    kind: str, answer: Event, draw: st.DataObject
) -> None:
    data = data_of(answer_steps(READERS[kind][0], answer))
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=6)))
    chunks = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    try:
        whole = read(kind, [data])
    except ProtocolError:  # an empty call_id or name
        with pytest.raises(ProtocolError):
            read(kind, chunks)
        return
    assert read(kind, chunks) == whole
    check(kind, chunks)


@pytest.mark.parametrize("kind", READERS)
@given(answer=answers, draw=st.data())
def test_an_answer_with_anything_in_it_is_a_turn_or_an_error(
    kind: str, answer: Event, draw: st.DataObject
) -> None:
    steps = answer_steps(READERS[kind][0], answer)
    for _ in range(draw.draw(st.integers(1, 3))):
        at = draw.draw(st.integers(0, len(steps) - 1))
        path = draw.draw(st.lists(st.integers(0, 9), max_size=6))
        if "event" in steps[at]:
            changed = mutate(steps[at]["event"], path, draw.draw(anything))
            steps[at] = {"event": changed if isinstance(changed, dict) else {"x": changed}}
    check(kind, [data_of(steps)])


@pytest.mark.parametrize("kind", READERS)
@given(answer=answers, order=st.randoms(use_true_random=False), kept=st.integers(0, 30))
def test_an_answer_in_any_order_and_cut_short_is_a_turn_or_an_error(
    kind: str, answer: Event, order: Any, kept: int
) -> None:
    steps = answer_steps(READERS[kind][0], answer)
    order.shuffle(steps)
    check(kind, [data_of(steps[:kept])])


@pytest.mark.parametrize("kind", READERS)
@given(events=st.lists(st.dictionaries(names, anything, max_size=4), max_size=4))
def test_events_of_any_fields_are_a_turn_or_an_error(kind: str, events: list[Event]) -> None:
    check(kind, [b"".join(format_event(event, "") for event in events)])


@pytest.mark.parametrize("kind", READERS)
@given(chunks=st.lists(st.binary(max_size=60), max_size=6))
def test_any_bytes_are_a_turn_or_an_error(kind: str, chunks: list[bytes]) -> None:
    check(kind, chunks)


@settings(max_examples=200)
@given(
    error=anything,
    status=st.none() | st.integers(100, 599),
    headers=st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "date", "location"]), texts
    ),
)
def test_any_error_is_typed_and_can_be_shown(
    error: object, status: int | None, headers: dict[str, str]
) -> None:
    fault = FAULTS.of_error(error, status, headers)
    assert isinstance(fault, ModelError)
    assert fault.message.isprintable()
    if fault.retryable and fault.retry_after_seconds is not None:
        assert 0 <= fault.retry_after_seconds <= 60


@given(status=st.integers(201, 599), body=st.binary(max_size=80))
def test_any_body_of_an_error_is_typed(status: int, body: bytes) -> None:
    fault = FAULTS.of_status(status, {}, body)
    assert isinstance(fault, ModelError)
    assert fault.message.isprintable()
