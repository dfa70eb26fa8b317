"""One request, one response: pieces, retries, shorter views, and what a request may cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest

from curriculum.core.errors import BudgetError, ContextOverflowError
from curriculum.core.messages import Message, ModelTurn, Usage
from curriculum.core.model import Retry, ScriptedModel
from tests.core.parts import Probe, asks, call, ends_well, events_of, payloads, runner_of, types


class Stream:
    """Yields what it is told; an exception in the list is raised."""

    def __init__(self, *items: object) -> None:
        self._items = items

    def stream(self, messages: object, tools: object) -> Iterator[object]:
        for item in self._items:
            if isinstance(item, Exception):
                raise item
            yield item


def streamed(*items: object) -> object:
    runner = runner_of([])
    runner.model = Stream(*items)  # type: ignore[assignment]
    return ends_well(runner.run("go"))


def test_pieces_become_deltas_and_one_message() -> None:
    result = streamed("a", "", "b", ModelTurn("ab"))
    assert [(p["index"], p["text"]) for p in payloads(result, "model.delta")] == [
        (0, "a"),
        (1, "b"),
    ]
    assert payloads(result, "model.response")[0]["chunks"] == {"count": 2, "complete": True}
    assert [message.content for message in result.messages] == ["go", "ab"]


def test_a_model_that_only_responds_shows_the_chunks_of_its_turn() -> None:
    turn = ModelTurn(chunks=("Hel", "", "lo"))
    result = ends_well(runner_of([turn]).run("go"))
    assert (result.final_text, types(result).count("model.delta")) == ("Hello", 2)


def test_every_piece_of_an_answer_follows_from_the_request() -> None:
    result = ends_well(runner_of([ModelTurn(chunks=("a", "b", "c"))]).run("go"))
    (request,) = events_of(result, "model.request")
    pieces = events_of(result, "model.delta")
    assert [piece.parent_id for piece in pieces] == [request.event_id] * 3


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (("a", ModelTurn("b")), "the streamed text is not the text of the answer"),
        (("a", ModelTurn("")), "the streamed text is not the text of the answer"),
        (("a",), "the stream ended without a complete answer"),
        ((), "the stream ended without a complete answer"),
        (("a", 5), "the model answered with int, not a ModelTurn"),
        (
            ("a", Retry("late", 1)),
            "a model that has shown text cannot start its answer again",
        ),
    ],
)
def test_an_answer_that_does_not_add_up_is_not_kept(items: tuple[object, ...], said: str) -> None:
    result = streamed(*items)
    assert payloads(result, "error")[0]["kind"] == "protocol"
    assert payloads(result, "error")[0]["message"] == said
    response = payloads(result, "model.response")[0]
    assert (response["status"], response["chunks"]["complete"]) == ("failed", False)
    assert [message.role for message in result.messages] == ["user"]


def test_a_dropped_stream_keeps_its_text_for_observers_only() -> None:
    result = streamed("half an ans", ConnectionError("reset"))
    assert payloads(result, "model.response")[0]["content"] == "half an ans"
    assert [message.role for message in result.messages] == ["user"]


def test_a_call_of_a_dropped_answer_never_runs() -> None:
    probe = Probe()
    runner = runner_of([], probe)
    runner.model = Stream("x", ModelTurn("y", (call(0),)))  # type: ignore[assignment]
    ends_well(runner.run("go"))
    assert probe.prepared == []


def test_what_follows_the_complete_answer_is_not_read() -> None:
    result = streamed("a", ModelTurn("a"), "b", RuntimeError("late"))
    assert result.stop_reason == "completed"


def test_each_attempt_is_a_request_of_its_own() -> None:
    result = streamed(Retry("overloaded", 5), Retry("overloaded", 10), "a", ModelTurn("a"))
    requests = payloads(result, "model.request")
    assert [p["attempt"] for p in requests] == [1, 2, 3]
    assert [p.get("retry_of") for p in requests] == [None, "request-1", "request-2"]
    assert {p["turn"] for p in requests} == {1}
    waits = payloads(result, "retry.wait")
    assert [(p["attempt"], p["wait_us"]) for p in waits] == [(1, 5), (2, 10)]


def test_usage_is_part_of_the_response() -> None:
    result = ends_well(runner_of([ModelTurn("x", usage=Usage(3, 4))]).run("go"))
    usage = payloads(result, "model.response")[0]["usage"]
    assert usage == {"input_tokens": 3, "output_tokens": 4}


@pytest.mark.parametrize("usage", [Usage(-1, 0), Usage(None, 1), Usage(1.5, 1), Usage("1", 1)])  # type: ignore[arg-type]
def test_a_usage_that_is_no_count_breaks_the_protocol(usage: Usage) -> None:
    result = ends_well(runner_of([ModelTurn("x", usage=usage)]).run("go"))
    assert "not two counts" in payloads(result, "error")[0]["message"]


def test_every_request_is_fixed_at_the_moment_it_was_made() -> None:
    runner = runner_of([asks(call(0)), asks(call(1)), ModelTurn("x")], Probe(), system_prompt="S")
    ends_well(runner.run("go"))
    roles = [[message.role for message in request] for request in runner.model.requests]  # type: ignore[union-attr]
    assert roles == [
        ["system", "user"],
        ["system", "user", "assistant", "tool"],
        ["system", "user", "assistant", "tool", "assistant", "tool"],
    ]


def test_a_model_cannot_change_what_it_is_shown() -> None:
    class Meddles(ScriptedModel):
        def respond(self, messages: Sequence[Message], tools: object) -> ModelTurn:
            with pytest.raises(TypeError):
                messages[0] = Message("user", "edited")  # type: ignore[index]
            with pytest.raises(AttributeError):
                messages[0].content = "edited"  # type: ignore[misc]
            return ModelTurn("x")

    runner = runner_of([])
    runner.model = Meddles([])
    assert runner.run("go").messages[0].content == "go"


class OneLess:
    """Leaves out the oldest message when the model says it is too much."""

    def fit(
        self, messages: Sequence[Message], overflow: ContextOverflowError | None
    ) -> tuple[Sequence[Message], Mapping[str, object] | None]:
        if not overflow:
            return messages, None
        report = {
            "policy": "one-less",
            "reason": "overflow",
            "dropped": [0],
            "message_count_before": len(messages),
            "message_count": len(messages) - 1,
        }
        return messages[1:], report


HISTORY = (Message("user", "old"), Message("assistant", "old answer"))


def test_an_overflow_is_answered_once_with_a_shorter_request() -> None:
    script = [ContextOverflowError("too long"), ModelTurn("fits")]
    runner = runner_of(script, context=OneLess(), history=HISTORY)
    result = ends_well(runner.run("go"))
    assert result.final_text == "fits"
    assert [p["message_count"] for p in payloads(result, "model.request")] == [3, 2]
    assert payloads(result, "model.request")[1]["roles"] == ["assistant", "user"]
    assert len(result.messages) == 4, "the state itself is not shortened"


def test_a_second_overflow_ends_the_run() -> None:
    script = [ContextOverflowError("too long"), ContextOverflowError("still too long")]
    result = ends_well(runner_of(script, context=OneLess(), history=HISTORY).run("go"))
    assert payloads(result, "error")[0]["message"] == "still too long"


def test_without_a_policy_the_first_overflow_ends_the_run() -> None:
    result = ends_well(runner_of([ContextOverflowError("too long")]).run("go"))
    assert types(result).count("model.request") == 1


class Purse:
    """Pays one unit a step, from a few."""

    def __init__(self, room: int) -> None:
        self.room, self.settled = room, 0

    def reserve(self, step: str, messages: Sequence[Message]) -> None:
        if self.room == 0:
            raise BudgetError("nothing is left", resource="calls")
        self.room -= 1

    def settle(self, step: str, usage: Usage | None) -> None:
        self.settled += 1


@pytest.mark.parametrize(
    ("room", "asked", "ran", "settled"), [(0, 0, 0, 0), (1, 1, 0, 1), (2, 1, 1, 2), (3, 2, 1, 3)]
)
def test_a_budget_is_asked_before_each_request_and_each_call(
    room: int, asked: int, ran: int, settled: int
) -> None:
    probe, purse = Probe(), Purse(room)
    runner = runner_of([asks(call(0)), asks(call(1))], probe, budget=purse)
    result = ends_well(runner.run("go"))
    assert result.stop_reason == "budget"
    assert len(runner.model.requests) == asked  # type: ignore[union-attr]
    assert (len(probe.ran), purse.settled) == (ran, settled)


def test_a_denied_call_costs_nothing() -> None:
    purse = Purse(2)
    runner = runner_of([asks(call(0)), ModelTurn("x")], Probe(), granted=False, budget=purse)
    assert ends_well(runner.run("go")).stop_reason == "completed"
    assert (purse.room, purse.settled) == (0, 2)
