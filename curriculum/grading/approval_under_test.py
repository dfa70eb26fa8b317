"""What the graders of s04 try approvals with: scripted answers, renamed tools, a dry bash."""

from __future__ import annotations

from collections.abc import Iterable

from curriculum.core.approval import ApprovalRequest, Decision
from curriculum.core.tools import Prepared, RunningCall, Tool, ToolDefinition, ToolResult
from curriculum.tools.bash import Bash
from curriculum.tools.bounds import Launch

__unittest = True


class Script:
    """An approver that answers each question with the next of `decisions`, then says no."""

    def __init__(self, decisions: Iterable[Decision | BaseException]) -> None:
        self.requests: list[ApprovalRequest] = []
        self._decisions = iter(decisions)

    def decide(self, request: ApprovalRequest) -> Decision:
        self.requests.append(request)
        decision = next(self._decisions, Decision("deny", "user", "tester", "asked once more"))
        if isinstance(decision, BaseException):
            raise decision
        return decision


class Named:
    """A tool under another name."""

    def __init__(self, name: str, tool: Tool) -> None:
        self._tool = tool
        told = tool.definition
        self.definition = ToolDefinition(name, told.description, told.parameters)
        self.prepare, self.execute = tool.prepare, tool.execute


class DryBash:
    """Bash as it is prepared and shown; executing a command only puts it on a list."""

    def __init__(self, directory: str = "/") -> None:
        self.ran: list[str] = []
        self._bash = Bash(directory, {"PATH": "/usr/bin:/bin"})
        self.definition = self._bash.definition
        self.prepare = self._bash.prepare

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        assert isinstance(prepared.action, Launch)
        self.ran.append(prepared.action.command)
        return ToolResult("completed", "dry run")
