"""What later requests of this process show of a turn that did not complete: what a restart would.

The session's replay rule decides both, so that a conversation goes on the same way whether mino
was started anew or not. What is left out is on record as `context.compact`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from curriculum.core.errors import ContextOverflowError
from curriculum.core.messages import Message

if TYPE_CHECKING:
    from curriculum.sessions.replay import Rule

POLICY = "replay-rule"


class ReplayRule:
    """A context policy that leaves out the turns that a restart would not replay."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._left_out: set[int] = set()

    def end_turn(self, first: int, messages: Sequence[Message], completed: bool) -> None:
        """A turn has ended; its messages begin at index `first`."""
        used_tools = any(message.tool_calls for message in messages[first:])
        if not completed and not (used_tools and self._rule == "with-evidence"):
            self._left_out.update(range(first, len(messages)))

    # region: fit
    def fit(
        self, messages: Sequence[Message], overflow: ContextOverflowError | None
    ) -> tuple[Sequence[Message], Mapping[str, object] | None]:
        """All messages but those, and the report. Raises `overflow`, as nothing else can go."""
        if overflow:
            raise overflow
        if not self._left_out:
            return messages, None
        view = [message for index, message in enumerate(messages) if index not in self._left_out]
        return view, {
            "policy": POLICY,
            "reason": POLICY,
            "dropped": sorted(self._left_out),
            "message_count_before": len(messages),
            "message_count": len(view),
        }

    # endregion
