"""Grader of s08 C: what becomes of a run, predicted by a table and shown by real runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from curriculum.core.deadline import DeadlineToken, ToolDeadline
from curriculum.core.errors import ContextOverflowError, RateLimitError, TransientModelError
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.retry import RetryingModel
from curriculum.core.seams import CancelToken
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.waiting import VirtualTime
from curriculum.grading.mistakes import mistake
from curriculum.grading.prediction_table import rows_to_grade

__unittest = True

Tools = Sequence[dict[str, object]]

DESIGN = 's08, "Exercises", C'
SECOND = 1_000_000
FACTS = ("requests", "response", "result", "reason", "by", "stop")

Row = Mapping[str, object]
Item = str | int | Exception | ModelTurn


def _limited(seconds: float | None, retryable: bool = True) -> RateLimitError:
    error = RateLimitError("too many requests")
    error.retryable, error.retry_after_seconds = retryable, seconds
    return error


def _asks(do: str) -> list[Item]:
    return [ModelTurn(tool_calls=(ToolCall("c1", "work", do),))]


# What the model does first; then it answers. A number is so many seconds of silence.
FIRST: Mapping[str, Sequence[Item]] = {
    "overloaded, nothing shown": [TransientModelError("overloaded")],
    "overloaded, text shown": ["half", TransientModelError("overloaded")],
    "asked to wait 2 s": [_limited(2)],
    "asked to wait a day": [_limited(86400)],
    "quota used up": [_limited(None, retryable=False)],
    "request too long": [ContextOverflowError("too long")],
    "Ctrl+C in a wait": [TransientModelError("overloaded")],
    "deadline between pieces": ["half", 30, "of it", ModelTurn("half of it")],
    "deadline in a call that looks": _asks("look"),
    "deadline in a call that does not look": _asks("work"),
    "call too slow, it looks": _asks("look"),
    "call too slow, it does not": _asks("work"),
}


class _Model:
    """Does the first thing, then answers."""

    def __init__(self, time: VirtualTime, first: Sequence[Item]) -> None:
        self._time, self._answers = time, iter([first])

    def stream(self, messages: Sequence[Message], tools: Tools) -> Iterator[str | ModelTurn]:
        for item in next(self._answers, [ModelTurn("done")]):
            if isinstance(item, Exception):
                raise item
            if isinstance(item, int):
                self._time.pass_us(item * SECOND)
            else:
                yield item


class _Work:
    """A tool that takes so long, and looks at its token or not."""

    definition = ToolDefinition("work", "Works.", {"type": "object"})

    def __init__(self, time: VirtualTime, seconds: int) -> None:
        self._time, self._seconds = time, seconds

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        looks = prepared.action == "look"
        self._time.wait(self._seconds * SECOND, call.cancel if looks else CancelToken())
        if looks and call.cancel.cancelled:
            return ToolResult("failed", reason="cancelled")
        return ToolResult("completed", "all of it")


class _Waiter:
    """Waits in virtual time; in one situation the user presses Ctrl+C meanwhile."""

    def __init__(self, time: VirtualTime, presses: bool) -> None:
        self._time, self._presses = time, presses

    def wait(self, wait_us: int, cancel: CancelToken) -> None:
        if self._presses:
            cancel.cancel("user")
        self._time.wait(wait_us, cancel)


def observe_ending(situation: str) -> Row:
    """What really becomes of a run in that situation, read from its trace."""
    time = VirtualTime()
    run = DeadlineToken(time, 30 * SECOND)
    too_slow = situation.startswith("call too slow")
    tool = _Work(time, 10 if too_slow else 40)
    # In the situations about the run's deadline the call itself has time enough.
    limited = ToolDeadline(tool, time, (10 if too_slow else 100) * SECOND)
    waiter = _Waiter(time, presses=situation == "Ctrl+C in a wait")
    model = RetryingModel(_Model(time, FIRST[situation]), waiter, run)
    events = AgentRunner(model, ToolBox([limited], ["work"]), cancel=run).run("go").events

    def last(type: str, field: str) -> object:
        return next((e.payload.get(field) for e in reversed(events) if e.type == type), None)

    return {
        "requests": sum(event.type == "model.request" for event in events),
        "response": last("model.response", "status"),
        "result": last("tool.result", "status"),
        "reason": last("tool.result", "reason"),
        "by": last("cancel.request", "by"),
        "stop": last("session.stop", "reason"),
    }


def grade_when_it_ends(table: Mapping[str, Row]) -> None:
    """C. What was predicted against what the trace shows, situation by situation."""
    good, wrong = rows_to_grade(table, list(FIRST), FACTS, DESIGN)
    for situation in good:
        seen = observe_ending(situation)
        for fact in FACTS:
            said = table[situation][fact]
            if said != seen[fact] or type(said) is not type(seen[fact]):
                told = f"you predict {fact} {said!r}, the trace shows {seen[fact]!r}"
                wrong.append(f"{situation!r}: {told}")
    if wrong:
        found = "\n    - ".join(["", *wrong])
        raise mistake("predictions that real runs confirm", found, DESIGN)
