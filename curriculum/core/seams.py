"""The seams that do nothing until a later lesson plugs something in.

Each is a protocol with its harmless default beside it: nobody cancels, everything fits, calls run
one after the other, and only turns and calls are counted.
"""

from __future__ import annotations

from curriculum.core.errors import CancelledError
from curriculum.core.values import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from curriculum.core.errors import CancelledBy, ContextOverflowError
    from curriculum.core.messages import Message, ToolCall, Usage
    from curriculum.core.tools import ToolBox, ToolResult


class CancelToken:
    """A flag that anybody may raise and every step looks at. Raising it is final."""

    def __init__(self) -> None:
        self.by: CancelledBy | None = None

    @property
    def cancelled(self) -> bool:
        """Whether somebody has asked the run to stop."""
        return self.by is not None

    def cancel(self, by: CancelledBy = "user") -> None:
        """Ask the run to stop; safe in a signal handler. `by` is an actor kind."""
        if by not in ("user", "harness", "policy"):
            raise ValueError(f"nobody cancels as {by!r}; say user, harness or policy")
        self.by = self.by or by

    def check(self) -> None:
        """Raise CancelledError if the run was asked to stop."""
        if self.by is not None:
            raise CancelledError(by=self.by)


class ContextPolicy(Protocol):
    """What fits: which messages the model is shown."""

    def fit(
        self, messages: Sequence[Message], overflow: ContextOverflowError | None
    ) -> tuple[Sequence[Message], Mapping[str, object] | None]:
        """The messages to send, and the payload of `context.compact` if any were left out.

        `overflow` is the model's refusal of the last request as too long: send less, or raise it.
        """


class KeepEverything:
    """Send every message."""

    def fit(
        self, messages: Sequence[Message], overflow: ContextOverflowError | None
    ) -> tuple[Sequence[Message], None]:
        if overflow:
            raise overflow
        return messages, None


class Scheduler(Protocol):
    """What may overlap."""

    def groups(self, calls: Sequence[ToolCall], tools: ToolBox) -> Sequence[Sequence[ToolCall]]:
        """The calls, in order, cut into groups that may run together."""

    def run(
        self, work: Sequence[Callable[[], ToolResult | Exception]]
    ) -> Sequence[ToolResult | Exception]:
        """Run one group's work; the outcomes stand in the order of the work."""


class InOrder:
    """One call at a time, each seen through before the next is considered."""

    def groups(self, calls: Sequence[ToolCall], tools: ToolBox) -> list[list[ToolCall]]:
        return [[call] for call in calls]

    def run(
        self, work: Sequence[Callable[[], ToolResult | Exception]]
    ) -> list[ToolResult | Exception]:
        return [run_one() for run_one in work]


# region: budget
class Budget(Protocol):
    """What it may cost. `step` is "request" or "call". A returned mapping is a `budget.spend`."""

    def reserve(self, step: str, messages: Sequence[Message]) -> Mapping[str, object] | None:
        """Set aside what the step may cost at most; raise BudgetError if it is not there."""

    def settle(self, step: str, usage: Usage | None) -> Mapping[str, object] | None:
        """Replace the reservation by what the step did cost."""


# endregion


class NoBudget:
    """Nothing is counted beyond turns and calls."""

    def reserve(self, step: str, messages: Sequence[Message]) -> None:
        return None

    def settle(self, step: str, usage: Usage | None) -> None:
        return None
