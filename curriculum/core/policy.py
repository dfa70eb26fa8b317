"""Approval by rule: an approver that answers without a person, and says which rule decided.

The first rule that matches decides. No rule means the next approver is asked, and without one the
call is denied. A pattern over a shell command proves little (`git *` also matches `git x; rm y`):
allow exact commands, deny by pattern.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from curriculum.core.approval import Decision
from curriculum.core.values import TYPE_CHECKING, value

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from curriculum.core.approval import ApprovalRequest, Approver


# region: rule
@value
class Rule:
    """Allow or deny the calls of a tool whose display fields match, and say why.

    `tool` and each pattern of `fields` (pairs of name and pattern) match a whole text as shell
    patterns do: `*`, `?`, `[...]`. A field that the display lacks, or that is no text, never
    matches.
    """

    decision: Literal["allow", "deny"]
    cause: str
    tool: str = "*"
    fields: tuple[tuple[str, str], ...] = ()

    def matches(self, request: ApprovalRequest) -> bool:
        """Whether the rule speaks about this call."""
        if not fnmatchcase(request.tool, self.tool):
            return False
        for name, pattern in self.fields:
            text = request.display.get(name)
            if not isinstance(text, str) or not fnmatchcase(text, pattern):
                return False
        return True


# endregion


# region: policy
class PolicyApprover:
    """Decides by the first rule that matches; else asks `otherwise`; else denies."""

    def __init__(
        self, rules: Iterable[Rule], otherwise: Approver | None = None, name: str = "policy"
    ) -> None:
        self._rules = tuple(rules)
        for rule in self._rules:
            if rule.decision not in ("allow", "deny"):
                raise ValueError(f"a rule allows or denies; it cannot {rule.decision!r}")
        self._otherwise = otherwise
        self._name = name

    def decide(self, request: ApprovalRequest) -> Decision:
        for rule in self._rules:
            if rule.matches(request):
                return Decision(rule.decision, "policy", self._name, rule.cause)
        if self._otherwise:
            return self._otherwise.decide(request)
        return Decision("deny", "policy", self._name, "no rule allows it")


# endregion
