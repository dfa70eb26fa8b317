"""What the model is told of earlier turns: one of two rules, chosen by name.

`completed-only` replays the turns that completed; the others stay in the file, and a notice says
so to the user. `with-evidence` also replays the turns that asked for tools and did not complete:
the model then sees what may have happened, call by call, and the user acknowledges each outcome
that nobody knows. Whichever it is, every replayed call has its one result: a valid request.
"""

from __future__ import annotations

from curriculum.core.messages import Message
from curriculum.core.trace import to_json
from curriculum.core.values import TYPE_CHECKING, value
from curriculum.sessions.state import calls_of

if TYPE_CHECKING:
    from typing import Literal

    from curriculum.sessions.record import StoredRecord

    Rule = Literal["completed-only", "with-evidence"]

RULES: tuple[Rule, ...] = ("completed-only", "with-evidence")
NOTICE = (
    "An interrupted tool turn was retained but excluded from context. "
    "Commands it started may already have run; none was retried."
)


@value
class Replay:
    """What a conversation goes on from. `messages` are ready to be a runner's `history`.

    `turns` were replayed, `left_out` were kept in the file only. `notice` is a line for the user,
    or "": it stands as long as the last turn is an interrupted tool turn that was left out.
    """

    messages: tuple[Message, ...] = ()
    turns: int = 0
    left_out: int = 0
    notice: str = ""


class Replayer:
    """Takes records in order and keeps the messages that the rule replays, and no others."""

    def __init__(self, rule: Rule) -> None:
        if rule not in RULES:
            raise ValueError(f"no replay rule is named {rule!r}; there are {', '.join(RULES)}")
        self._rule = rule
        self._messages: list[Message] = []
        self._turn: list[Message] = []
        self._turns = self._left_out = 0
        self._notice = ""

    def take(self, record: StoredRecord) -> None:
        """Take the next record of the session."""
        if record.kind == "turn_end":
            self._end_turn(record.data["status"])
        elif message := message_of(record):
            self._turn.append(message)

    # region: rule
    def _end_turn(self, status: str) -> None:
        used_tools = any(message.tool_calls for message in self._turn)
        is_told = status == "completed" or (self._rule == "with-evidence" and used_tools)
        if is_told:
            self._messages += self._turn
            self._turns += 1
        else:
            self._left_out += 1
        is_hidden = status == "interrupted" and used_tools and not is_told
        self._notice = NOTICE if is_hidden else ""
        self._turn = []

    # endregion

    def result(self) -> Replay:
        """The replay of the turns that have ended."""
        return Replay(tuple(self._messages), self._turns, self._left_out, self._notice)


def message_of(record: StoredRecord) -> Message | None:
    """The message that the record brought into the conversation, exactly as it was."""
    data = record.data
    if record.kind == "user_input":
        return Message("user", data["content"])
    if record.kind == "model_response":
        return Message("assistant", data["content"], calls_of(data), opaque=data.get("opaque"))
    if record.kind == "tool_result":
        result = {name: field for name, field in data.items() if name != "call_id"}
        return Message("tool", to_json(result), call_id=data["call_id"])
    return None
