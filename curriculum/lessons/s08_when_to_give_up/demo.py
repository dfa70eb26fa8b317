"""s08 demo: a rate limit is waited out, a slow call times out, and the run meets its deadline."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from curriculum.core.deadline import DeadlineToken, ToolDeadline
from curriculum.core.errors import InvalidArgumentsError, RateLimitError, TransientModelError
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.retry import RetryingModel
from curriculum.core.seams import CancelToken
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import Ids, Recorder
from curriculum.core.values import replace
from curriculum.core.waiting import EachEvent, VirtualTime
from curriculum.lessons.show import show

PROMPT = "Compare the two indexes and tell me which one is newer."
SECOND = 1_000_000  # µs


# region: slow
class SlowModel:
    """A scripted model that takes its time: a number in an answer is so many seconds of silence.

    It looks at the token while it waits for the next piece, as an adapter does.
    """

    def __init__(
        self,
        time: VirtualTime,
        cancel: CancelToken,
        answers: Sequence[Sequence[int | str | Exception | ModelTurn]],
    ) -> None:
        self._time, self._cancel, self._answers = time, cancel, iter(answers)

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | ModelTurn]:
        for item in next(self._answers):
            if isinstance(item, Exception):
                raise item
            if isinstance(item, int):
                self._time.wait(item * SECOND, self._cancel)
                self._cancel.check()
            else:
                yield item


class Index:
    """A tool that reads an index of so many seconds, and stops halfway when it is told to."""

    definition = ToolDefinition("read_index", "Read an index.", {"type": "object"})

    def __init__(self, time: VirtualTime) -> None:
        self._time = time

    def prepare(self, arguments: str) -> Prepared:
        seconds = json.loads(arguments).get("seconds")
        if not isinstance(seconds, int):
            raise InvalidArgumentsError("seconds must be a whole number")
        return Prepared({"seconds": seconds}, seconds * SECOND)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        self._time.wait(int(str(prepared.action)), call.cancel)
        if call.cancel.cancelled:
            return ToolResult("failed", "", reason="cancelled")
        return ToolResult("completed", "updated in May")


# endregion


def rate_limit(seconds: float) -> RateLimitError:
    """What an adapter makes of a 429 that names a wait."""
    error = RateLimitError("too many requests (429)")
    error.retryable, error.retry_after_seconds = True, seconds
    return error


def reads(call_id: str, seconds: int) -> ModelTurn:
    """An answer that asks for an index."""
    call = ToolCall(call_id, "read_index", f'{{"seconds":{seconds}}}')
    return ModelTurn(tool_calls=(call,))


# region: main
def main() -> AgentRunner:
    """Run the demo and return its runner. Half a minute of it takes no time at all."""
    time = VirtualTime()
    run = DeadlineToken(time, 30 * SECOND)
    busy = TransientModelError("the server is overloaded (503)")
    model = SlowModel(
        time,
        run,
        [
            [rate_limit(2)],
            [1, reads("call-1", seconds=60)],
            [busy],
            [busy],
            [1, reads("call-2", seconds=3)],
            [1, "The second one ", 60, "is newer."],
        ],
    )
    runner = AgentRunner(
        RetryingModel(model, time, run, draw=lambda most: most // 2),
        ToolBox([ToolDeadline(Index(time), time, 10 * SECOND)], granted=["read_index"]),
        cancel=run,
        recorder=Recorder(EachEvent(time), Ids(), "scripted"),
    )
    result = runner.run(PROMPT)
    show(replace(result, final_text=f"No answer: {result.error}."))
    return runner


# endregion

if __name__ == "__main__":
    main()
