"""Who allows: the approver sees a copy of what was prepared and says yes or no.

The safe answer is the default: with no approver plugged in every call is denied, and only the
word "allow" lets one run.
"""

from __future__ import annotations

from curriculum.core.values import TYPE_CHECKING, Protocol, value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal


# region: request
@value
class ApprovalRequest:
    """One question about one prepared call. `display` is a copy: changing it changes nothing."""

    approval_id: str
    call_id: str
    tool: str
    display: Mapping[str, object]


# endregion


# region: decision
@value
class Decision:
    """The answer, and who gave it: actor kind `user` or `policy`, never the model."""

    decision: Literal["allow", "deny", "cancelled", "expired"]
    actor_kind: Literal["user", "policy"]
    actor_id: str
    rationale: str = ""


# endregion


# region: seam
class Approver(Protocol):
    """Anyone who can say yes to a prepared call."""

    def decide(self, request: ApprovalRequest) -> Decision:
        """Answer for exactly this call. An answer is never carried over to another call."""


class DenyAll:
    """The default: nobody is there to say yes."""

    def decide(self, request: ApprovalRequest) -> Decision:
        return Decision("deny", "policy", "deny-all", "no approver is plugged in")


# endregion


# region: human
class HumanApprover:
    """Asks a person, through `ask`: shown the request, it returns the line typed, or None at EOF.

    Only `y` or `yes` allows, ignoring case and surrounding spaces; any other line is a no. No
    line at all (None, or EOFError as `input` raises it) is a no as well: nobody is there. Ctrl+C
    at the question cancels the turn.
    """

    def __init__(self, ask: Callable[[ApprovalRequest], str | None], name: str = "user") -> None:
        self._ask = ask
        self._name = name

    def decide(self, request: ApprovalRequest) -> Decision:
        try:
            line = self._ask(request)
        except EOFError:
            line = None
        except KeyboardInterrupt:
            return Decision("cancelled", "user", self._name, "Ctrl+C at the question")
        if line is None:
            return Decision("deny", "policy", "no-answer", "nobody was there to answer")
        allowed = line.strip().lower() in ("y", "yes")
        return Decision("allow" if allowed else "deny", "user", self._name)


# endregion
