"""What a request shows: no turn that a restart would not replay, and no more than fits.

The session's replay rule decides the first, so that a conversation goes on the same way whether
mino was started anew or not; the context window of s09 decides the second, of what is left. One
`context.compact` event has both, by the indexes of all messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from curriculum.core.context import ContextWindow, DropTurns, TruncateOutput
from curriculum.core.errors import ContextLimitError, ContextOverflowError
from curriculum.core.messages import Message
from curriculum.core.tokens import TokenCounter

if TYPE_CHECKING:
    from curriculum.sessions.replay import Rule

POLICY = "replay-rule"
NO_LIMIT = 10**12  # tokens: only a provider refuses


class ReplayRule:
    """A context policy: leaves out the turns that a restart would not replay, then makes it fit.

    Without a `limit` a request is only made shorter when the provider refuses it as too long, and
    if that cannot be, the refusal stands.
    """

    def __init__(self, rule: Rule, counter: TokenCounter, limit: int | None = None) -> None:
        self._rule = rule
        self._limit = limit
        self._window = ContextWindow(limit or NO_LIMIT, counter, [DropTurns(), TruncateOutput()])
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
        """What to send, and the report. Raises ContextLimitError, or `overflow` without a limit."""
        kept = [index for index in range(len(messages)) if index not in self._left_out]
        view = [messages[index] for index in kept] if self._left_out else messages
        try:
            fitting, report = self._window.fit(view, overflow)
        except ContextLimitError:
            if overflow and not self._limit:
                raise overflow from None
            raise
        if report is None and not self._left_out:
            return messages, None
        return fitting, self._joined(report or {}, kept, len(messages), len(fitting))

    # endregion

    def _joined(
        self, report: Mapping[str, Any], kept: Sequence[int], before: int, after: int
    ) -> Mapping[str, object]:
        """The window's report in terms of all messages, with what the rule has left out."""
        policies = [POLICY] if self._left_out else []
        policies += [report["policy"]] if report else []
        joined: dict[str, object] = {
            "policy": "_".join(policies),
            "reason": report.get("reason", POLICY),
            "dropped": sorted({*self._left_out, *(kept[at] for at in report.get("dropped", ()))}),
            "message_count_before": before,
            "message_count": after,
        }
        if cuts := report.get("truncated"):
            joined["truncated"] = [{**cut, "index": kept[cut["index"]]} for cut in cuts]
        return joined
