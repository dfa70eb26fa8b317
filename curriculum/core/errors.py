"""Every way a run can end other than completion, as an exception that knows how to be recorded.

The loop turns any fault into one of these, writes one `error` event from it and stops with its
`reason`. `kind` and `reason` are words of Trace 0.1 (hyphens, never underscores).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    CancelledBy = Literal["user", "harness", "policy"]


def describe(fault: BaseException) -> str:
    """`fault` in words, also when it is too broken to say anything itself."""
    name = type(fault).__name__
    try:
        return f"{name}: {fault}"
    except BaseException:
        return f"{name}, which cannot be described"


class PreparationError(Exception):
    """A tool will not run this call. The model gets the message as the call's result."""

    status: Literal["not_executed", "invalid_arguments"] = "not_executed"


class InvalidArgumentsError(PreparationError):
    """The arguments break the tool's definition. Nothing was asked and nothing ran."""

    status = "invalid_arguments"


class RunError(Exception):
    """A fault that ends the turn.

    `details` are the extra fields of its kind in the error payload: JSON scalars.
    """

    kind = "internal"
    reason = "failed"
    retryable = False

    def __init__(self, message: str, **details: int | str) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    @property
    def is_whole(self) -> bool:
        """Whether it can be recorded: a subclass may have forgotten to call `__init__`."""
        return isinstance(getattr(self, "message", None), str)

    def payload(self) -> dict[str, object]:
        """The payload of the `error` event."""
        return {
            "kind": self.kind,
            "message": self.message,
            "retryable": self.retryable,
            **self.details,
        }


class TurnLimitError(RunError):
    """The last allowed model request still asked for tools."""

    kind = reason = "max-turns"


class CallLimitError(RunError):
    """The batch does not fit in the tool calls that are left."""

    kind = reason = "max-tool-calls"


class CancelledError(RunError):
    """Somebody asked the run to stop. `by` is an actor kind: user, harness or policy."""

    kind = reason = "cancelled"

    def __init__(self, message: str = "the run was cancelled", by: CancelledBy = "user") -> None:
        super().__init__(message)
        if by not in ("user", "harness", "policy"):
            raise ValueError(f"nobody cancels as {by!r}; say user, harness or policy")
        self.by = by


class ModelError(RunError):
    """The model could not answer: it raised, or its provider did.

    `retry_after_seconds` is the wait that the provider asked for, where it named one.
    """

    kind = "model"
    retry_after_seconds: float | None = None


class TransientModelError(ModelError):
    """The same request may succeed later (a dropped stream, an overloaded server)."""

    retryable = True


class RateLimitError(ModelError):
    """Too much was asked for: for now (retryable), or for longer than anybody should wait."""


class AuthenticationError(ModelError):
    """The provider does not accept the key, or not for this."""


class ContextOverflowError(ModelError):
    """The request does not fit in the model's context window."""


class ContextLimitError(RunError):
    """What has to stay is too much already: nothing more may be left out of the request."""

    kind = "context"


class ProtocolError(RunError):
    """The model broke the contract of an answer: bad call ids, text that does not add up."""

    kind = "protocol"


class ToolError(RunError):
    """A tool raised instead of returning a result: a bug, and its effects are unknown."""

    kind = "tool"


class ApprovalError(RunError):
    """The approver itself failed. Nothing that it was asked about ran."""

    kind = "approval"


class JournalError(RunError):
    """A record could not be made durable. Memory has not moved."""

    kind = "journal"


class TraceError(RunError):
    """An observer could not be told. The events in memory are still whole."""

    kind = "trace"


class BudgetError(RunError):
    """The next step would cost more than is left."""

    kind = reason = "budget"
