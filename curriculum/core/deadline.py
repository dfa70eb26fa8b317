"""Deadlines: a cancellation that the clock asks for, of a run, a request or one tool call.

Nothing is interrupted by force. A token that has run out is noticed by whoever looks at it: the
loop between steps, the adapter while it waits, a tool while it works. The rule for what is in
flight: it is told through its token and may finish; what it says it did is kept, and only then the
cancellation counts.
"""

from __future__ import annotations

from curriculum.core.errors import CancelledError, TransientModelError
from curriculum.core.model import stream_turn
from curriculum.core.retry import close
from curriculum.core.seams import CancelToken
from curriculum.core.tools import RunningCall, ToolResult
from curriculum.core.values import TYPE_CHECKING, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from curriculum.core.errors import CancelledBy
    from curriculum.core.messages import Message, ModelTurn
    from curriculum.core.model import Descriptors, Model, Retry, StreamingModel
    from curriculum.core.tools import Prepared, Tool, ToolDefinition
    from curriculum.core.trace import Clock


# region: token
class DeadlineToken(CancelToken):
    """A cancel token that also raises itself, `limit_us` after it was made.

    It is raised whenever its parent is. By hand it raises its parent too: who asks for an end
    means the whole run, while the clock of one step ends that step only.
    """

    def __init__(
        self,
        clock: Clock,
        limit_us: int,
        parent: CancelToken | None = None,
        what: str = "the run",
    ) -> None:
        super().__init__()
        if limit_us < 0:
            raise ValueError("limit_us must be at least 0")
        self._clock, self._parent, self._what = clock, parent, what
        self._limit_us = limit_us
        self._end_us = clock.read()[1] + limit_us
        self.expired = False

    @property
    def cancelled(self) -> bool:
        """Whether somebody, or the clock, has asked for the end."""
        if self.by is None and self._parent and self._parent.cancelled:
            self.by = self._parent.by
        if self.by is None and self._clock.read()[1] >= self._end_us:
            self.expired = True  # first: whoever sees `by` in another thread sees the reason too
            self.by = "policy"
        return self.by is not None

    def cancel(self, by: CancelledBy = "user") -> None:
        """Ask for the end, of the parent too."""
        super().cancel(by)
        if self._parent:
            self._parent.cancel(by)

    def check(self) -> None:
        """Raise CancelledError if the end was asked for; its message says who or what did."""
        if self.cancelled and self.expired:
            raise CancelledError(self.message, by="policy")
        if self._parent:
            self._parent.check()
        super().check()

    @property
    def message(self) -> str:
        """What there is to say when the time is up."""
        return f"{self._what} took longer than {self._limit_us / 1_000_000:g} s"


# endregion


# region: request
class RequestDeadline:
    """A model whose every request has so long for a complete answer.

    `model_for` binds the model to a token, so that an adapter can stop waiting for its provider.
    Raises TransientModelError when time is up; an answer that is complete counts, also a late one.
    """

    def __init__(
        self,
        model_for: Callable[[CancelToken], Model | StreamingModel],
        clock: Clock,
        limit_us: int,
        run: CancelToken,
    ) -> None:
        self._model_for = model_for
        self._clock, self._limit_us, self._run = clock, limit_us, run

    def stream(
        self, messages: Sequence[Message], tools: Descriptors
    ) -> Iterator[str | Retry | ModelTurn]:
        token = DeadlineToken(self._clock, self._limit_us, self._run, "the request")
        answer = stream_turn(self._model_for(token), messages, tools)
        try:
            for item in answer:
                if isinstance(item, str):
                    token.check()
                yield item
        except CancelledError as stop:
            if token.expired:
                raise TransientModelError(token.message) from stop
            raise
        finally:
            close(answer)


# endregion


# region: tool
class ToolDeadline:
    """A tool whose every call has so long. Definition and preparation are the tool's own.

    A tool that stopped because of it has failed, for the reason `timeout`. One that ignored it has
    done what it says, and a note tells that it took longer.
    """

    def __init__(self, tool: Tool, clock: Clock, limit_us: int) -> None:
        self._tool, self._clock, self._limit_us = tool, clock, limit_us

    @property
    def definition(self) -> ToolDefinition:
        return self._tool.definition

    def prepare(self, arguments: str) -> Prepared:
        return self._tool.prepare(arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        token = DeadlineToken(self._clock, self._limit_us, call.cancel, "the call")
        try:
            result = self._tool.execute(prepared, RunningCall(call.call_id, token, call.output))
        except CancelledError:
            if not token.expired:
                raise
            result = ToolResult("failed", reason="cancelled")
        if not (token.cancelled and token.expired):
            return result
        if result.status == "failed" and result.reason == "cancelled":
            result = replace(result, reason="timeout")
        return replace(result, notes=(*result.notes, token.message))


# endregion
