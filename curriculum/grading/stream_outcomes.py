"""Grader of s02 C: how a stream can end, predicted by a table and shown by real runs."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from curriculum.core.errors import TransientModelError
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import Retry
from curriculum.core.seams import CancelToken
from curriculum.grading.mistakes import mistake
from curriculum.grading.prediction_table import rows_to_grade
from curriculum.grading.stream_under_test import cut, prose

__unittest = True

DESIGN = 's02, "Exercises", C'

WAYS = (
    "complete",
    "dropped before text",
    "dropped after text",
    "cancelled",
    "bad call ids",
    "deltas do not add up",
)
COLUMNS = ("response", "assistant messages", "retry may follow", "error", "stop")

Outcome = Mapping[str, object]


class _Ending:
    """A streaming model that ends its answer in one of the ways; with `again` it would retry."""

    def __init__(self, way: str, again: bool, rng: random.Random) -> None:
        self.cancel = CancelToken()
        self._way, self._again = way, again
        self._pieces = cut(prose(rng), rng)
        self._fault = rng.choice([TransientModelError("broken"), ConnectionResetError("reset")])
        self._bad_ids = rng.choice([("", "c1"), ("c1", "c1")])

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | Retry | ModelTurn]:
        text = "".join(self._pieces)
        if self._way != "dropped before text":
            yield from self._pieces
        if self._way == "cancelled":
            self.cancel.cancel("user")
            yield "more"
        elif self._way == "bad call ids":
            calls = tuple(ToolCall(call_id, "fiction") for call_id in self._bad_ids)
            yield ModelTurn(text, calls)
        elif self._way == "deltas do not add up":
            yield ModelTurn(text + "?")
        elif self._way == "complete":
            yield ModelTurn(text)
        elif not self._again:
            raise self._fault
        if self._again:
            yield Retry("broken", 0)
            yield ModelTurn("a second answer")


def observe_outcome(way: str, seed: int) -> Outcome:
    """What really happens, read from the trace of a run whose only request ends in this way."""
    model = _Ending(way, False, random.Random(seed))
    result = AgentRunner(model, cancel=model.cancel).run("go")
    responses = [event for event in result.events if event.type == "model.response"]
    again = _Ending(way, True, random.Random(seed))
    retried = AgentRunner(again, cancel=again.cancel).run("go")
    error = [event.payload["kind"] for event in result.events if event.type == "error"]
    return {
        "response": responses[-1].payload["status"],
        "assistant messages": sum(message.role == "assistant" for message in result.messages),
        "retry may follow": "retry.wait" in [event.type for event in retried.events],
        "error": error[0] if error else None,
        "stop": result.stop_reason,
    }


def grade_stream_outcomes(table: Mapping[str, Outcome]) -> None:
    """C. What was predicted against what the trace shows, way by way."""
    good, findings = rows_to_grade(table, WAYS, COLUMNS, DESIGN)
    for way in good:
        row = table[way]
        for seed in range(4):
            real = observe_outcome(way, seed)
            wrong = [c for c in COLUMNS if (row[c], type(row[c])) != (real[c], type(real[c]))]
            findings += [
                f"{way!r}: you predict {column} {row[column]!r}, the trace shows {real[column]!r}"
                for column in wrong
            ]
            if wrong:
                break
    if findings:
        saw = "\n    - ".join(["", *findings])
        raise mistake("predictions that come true", saw, DESIGN)
