"""What a chat may cost and has cost: the budgets of s11 for tokens and money, and their words.

The budgets are of all turns of this process: a resumed session begins with all of it, as nobody
keeps what another process has spent. Before a request, the most that it may cost is set aside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curriculum.core.budget import AllOf, Limit
from curriculum.core.messages import Message
from curriculum.core.meters import Money, Tokens, most_tokens
from curriculum.core.tools import ToolBox
from curriculum.core.trace import Recorder, to_json
from curriculum.mino.limits import Limits, in_dollars

ANSWER_TOKENS = 4_000  # that an answer is reckoned at most, where a budget is set


# region: budget
def make_budget(limits: Limits, tools: ToolBox, recorder: Recorder) -> AllOf | None:
    """The budgets that the limits ask for; None if they ask for none."""
    framing = most_tokens([Message("system", to_json(tools.descriptors()))])
    parts = []
    if limits.max_tokens is not None:
        parts.append(Limit(Tokens(ANSWER_TOKENS, framing=framing), limits.max_tokens))
    if limits.max_cost is not None and limits.prices:
        parts.append(Limit(Money(limits.prices, ANSWER_TOKENS, framing=framing), limits.max_cost))
    return AllOf(parts, recorder) if parts else None


# endregion


class Spending:
    """What was spent, from the `budget.spend` events of a conversation.

    What was set aside for a step that failed counts as spent, as in the budget itself.
    """

    def __init__(self) -> None:
        self._last: dict[str, Mapping[str, Any]] = {}
        self._before: dict[str, int] = {}

    def begin_turn(self) -> None:
        """What is spent from now on is spent in this turn."""
        self._before = {resource: _used(report) for resource, report in self._last.items()}

    def spend(self, payload: Mapping[str, Any]) -> None:
        """Take a `budget.spend` payload."""
        self._last[payload["resource"]] = payload

    def lines(self) -> list[str]:
        """What this turn has spent and what is left, a line for each budget."""
        lines = []
        for resource, report in self._last.items():
            spent = amount(_used(report) - self._before.get(resource, 0), report)
            left = amount(max(0, report["remaining"]), report)
            of = amount(report["limit"], report)
            lines.append(f"[Spent in this turn: {spent}; left: {left} of {of}]")
        return lines


def _used(report: Mapping[str, Any]) -> int:
    return int(report["limit"] - report["remaining"])


def amount(number: int, report: Mapping[str, Any]) -> str:
    """So much of what the report is about, in words."""
    if report["unit"] == "micro-dollars":
        return in_dollars(number)
    return f"{number} {report['unit']}"


def refusal_line(payload: Mapping[str, Any]) -> str:
    """Why the budget ended the turn, from its `error` payload."""
    left = amount(max(0, payload["remaining"]), payload)
    return (
        f"[Turn stopped by the budget: the next step may cost up to "
        f"{amount(payload['needed'], payload)}, and {left} of "
        f"{amount(payload['limit'], payload)} is left. It was not begun.]"
    )
