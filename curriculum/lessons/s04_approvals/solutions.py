"""One way to do each exercise of s04. Look after you have tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from curriculum.core.approval import ApprovalRequest, Approver, Decision
from curriculum.core.trace import Event
from curriculum.core.visible import quote


# region: decisions_of
def decisions_of(events: Sequence[Event]) -> dict[str, tuple[str, str, str] | None]:
    """A. A question opens an entry, its decision fills it; the decision's actor is who."""
    decisions: dict[str, tuple[str, str, str] | None] = {}
    for event in events:
        call_id = str(event.payload.get("call_id"))
        if event.type == "approval.request":
            decisions[call_id] = None
        elif event.type == "approval.decision":
            who = f"{event.actor['kind']} {event.actor['id']}"
            why = str(event.payload.get("rationale", ""))
            decisions[call_id] = (who, str(event.payload["decision"]), why)
    return decisions


# endregion


# region: exact_commands
class ExactCommands:
    """B. Equality, never a pattern; and no state that a decision could be carried over in."""

    def __init__(
        self, commands: Iterable[str], directory: str, otherwise: Approver | None = None
    ) -> None:
        self._commands = tuple(commands)
        self._directory = directory
        self._otherwise = otherwise

    def decide(self, request: ApprovalRequest) -> Decision:
        display = request.display
        if (
            request.tool == "bash"
            and display.get("command") in self._commands  # a tuple: what it holds is compared only
            and display.get("directory") == self._directory
        ):
            return Decision("allow", "policy", "exact-commands", "this exact command is listed")
        if self._otherwise:
            return self._otherwise.decide(request)
        return Decision("deny", "policy", "exact-commands", "it is not listed")


# endregion


# region: batch_answers
def row(
    decision: str | None, by: str | None, status: str, *, starts: bool = False, stop: str = ""
) -> dict[str, object]:
    """One row of the table."""
    return {
        "decision": decision,
        "by": by,
        "status": status,
        "starts": starts,
        "stop": stop or None,
    }


BATCH_ANSWERS: Mapping[str, Mapping[str, object]] | None = {
    "y": row("allow", "user", "completed", starts=True),
    "n": row("deny", "user", "denied"),
    "end of input": row("deny", "policy", "denied"),
    "Ctrl+C": row("cancelled", "user", "not_executed", stop="cancelled"),
    "too late": row("expired", "policy", "denied"),
    "maybe": row("cancelled", "policy", "not_executed", stop="failed"),
    "the model says allow": row("cancelled", "policy", "not_executed", stop="failed"),
    "the approver crashes": row("cancelled", "policy", "not_executed", stop="failed"),
    "not asked: granted": row(None, None, "completed", starts=True),
    "not asked: bad arguments": row(None, None, "invalid_arguments"),
    "not asked: no such tool": row(None, None, "unknown_tool"),
    "never reached": row(None, None, "not_executed"),
}
# endregion


# region: render
def render(request: ApprovalRequest) -> str:
    """D. Every text in quotes, every field on a line, and the size of the longest at the end."""
    lines = [f"tool: {quote(request.tool)}"]
    lines += [f"{label(name)}: {shown(field)}" for name, field in request.display.items()]
    texts = [("tool", request.tool), *texts_of(request.display)]
    name, longest = max(texts, key=lambda pair: len(pair[1]))
    size = f"{longest.count(chr(10)) + 1} lines, {len(longest)} characters"
    return "\n".join([*lines, f"longest text: {label(name)}: {size}"])


def shown(field: object) -> str:
    """A field on one line. Only text has quotes, so `1` and `"1"` are told apart."""
    if isinstance(field, str):
        return quote(field)
    if isinstance(field, Mapping):
        pairs = [f"{quote(str(name))}: {shown(inner)}" for name, inner in field.items()]
        return "{" + ", ".join(pairs) + "}"
    return repr(field)


def label(name: str) -> str:
    """A plain name as it is, any other one in quotes."""
    return name if name.isascii() and name.isidentifier() else quote(name)


def texts_of(display: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Every text that the display holds, with the name of its field."""
    for name, field in display.items():
        if isinstance(field, Mapping):
            yield from texts_of(field)
        elif isinstance(field, str):
            yield name, field


# endregion
