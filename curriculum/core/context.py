"""What fits: the request is made as short as it has to be, and what was left out is on record.

The messages themselves never change; a policy decides what the next request shows of them. A call
and its result go together or stay together, system messages and the current input always stay.
`rebuild` makes the request from the messages and the `context.compact` event, for the model and
for any reader of the trace alike.
"""

from __future__ import annotations

from curriculum.core.errors import ContextLimitError
from curriculum.core.messages import Message
from curriculum.core.trace import to_json
from curriculum.core.values import TYPE_CHECKING, Protocol, replace, value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from curriculum.core.errors import ContextOverflowError
    from curriculum.core.tokens import TokenCounter

SUMMARY_INTRO = "Summary of what was left out here, written by a model:\n"


# region: rebuild
def rebuild(messages: Sequence[Message], report: Mapping[str, Any]) -> list[Message]:
    """The request that a `context.compact` payload announces, from all messages before it."""
    dropped = set(report["dropped"])
    cuts = {cut["index"]: cut for cut in report.get("truncated", ())}
    view = []
    for index, message in enumerate(messages):
        if index in dropped:
            if "summary" in report and index == min(dropped):
                view.append(Message("user", SUMMARY_INTRO + report["summary"]))
        elif index in cuts:
            view.append(cut_result(message, cuts[index]["head"], cuts[index]["tail"]))
        else:
            view.append(message)
    return view


def cut_result(message: Message, head: int, tail: int) -> Message:
    """The message with the middle of its output left out: characters to keep at each end."""
    import json  # only a run that has to cut pays for it

    try:
        result = json.loads(message.content)
        cut = {**result, "output": cut_text(result["output"], head, tail), "truncated": True}
        return replace(message, content=to_json(cut))
    except (ValueError, TypeError, KeyError, RecursionError):
        return replace(message, content=cut_text(message.content, head, tail))


def cut_text(text: str, head: int, tail: int) -> str:
    """The text with its middle left out, and a line that says how much that was."""
    left_out = len(text) - head - tail
    if left_out <= 0:
        return text
    mark = f"\n[... {left_out} characters left out ...]\n"
    return text[:head] + mark + text[len(text) - tail :]


# endregion


# region: draft
@value
class Draft:
    """A request that is being made shorter.

    `room` is what its messages may cost, as counted. `cuts` maps an index to (head, tail).
    `policies` names whatever has left something out.
    """

    messages: Sequence[Message]
    counter: TokenCounter
    room: int
    dropped: frozenset[int] = frozenset()
    cuts: Mapping[int, tuple[int, int]] = {}
    summary: str | None = None
    policies: tuple[str, ...] = ()

    def report(self) -> dict[str, object]:
        """What `rebuild` needs, and what was there before and is left."""
        data: dict[str, object] = {
            "dropped": sorted(self.dropped),
            "message_count_before": len(self.messages),
            "message_count": len(self.messages) - len(self.dropped) + (self.summary is not None),
        }
        cuts = [
            {"index": index, "head": head, "tail": tail}
            for index, (head, tail) in sorted(self.cuts.items())
            if index not in self.dropped
        ]
        if cuts:
            data["truncated"] = cuts
        if self.summary is not None:
            data["summary"] = self.summary
        return data

    def view(self) -> list[Message]:
        """The request as it is now."""
        if not (self.dropped or self.cuts):
            return list(self.messages)
        return rebuild(self.messages, self.report())

    def excess(self) -> int:
        """How much it costs beyond its room; at most 0 if it fits."""
        return sum(map(self.counter.cost, self.view())) - self.room

    def cost(self, index: int) -> int:
        """What one message costs, cut or whole."""
        message = self.messages[index]
        if index in self.cuts:
            message = cut_result(message, *self.cuts[index])
        return self.counter.cost(message)


# endregion


# region: units
def units_of(messages: Sequence[Message]) -> list[tuple[int, ...]]:
    """Indexes of what goes together: an assistant message and the results of its calls.

    Every other message stands alone; system messages are in no unit, as they never go.
    """
    units: list[list[int]] = []
    waiting: dict[str | None, list[int]] = {}
    for index, message in enumerate(messages):
        if message.role == "system":
            continue
        if message.role == "tool" and message.call_id in waiting:
            waiting.pop(message.call_id).append(index)
            continue
        units.append([index])
        for call in message.tool_calls:
            waiting[call.call_id] = units[-1]
    return [tuple(unit) for unit in units]


def current_input(messages: Sequence[Message]) -> int:
    """The index of the last user message: what is being answered. 0 if there is none."""
    return max((n for n, message in enumerate(messages) if message.role == "user"), default=0)


# endregion


class Reduction(Protocol):
    """One way to leave something out. It may not be enough; then the next one goes on."""

    def reduce(self, draft: Draft) -> Draft:
        """A shorter draft, or the same one if there is nothing that this way can do."""


# region: drop
class DropTurns:
    """Leave out whole turns, oldest first: an input, its answer, and all that happened between.

    The current turn stays.
    """

    def reduce(self, draft: Draft) -> Draft:
        messages, now = draft.messages, current_input(draft.messages)
        turns: list[list[int]] = []
        for unit in units_of(messages):
            if messages[unit[0]].role == "user" or not turns:
                turns.append([])
            turns[-1] += [] if unit[-1] >= now or draft.dropped & {*unit} else unit
        excess, gone = draft.excess(), set(draft.dropped)
        for turn in turns:
            if excess <= 0:
                break
            excess -= sum(map(draft.cost, turn))
            gone.update(turn)
        if len(gone) == len(draft.dropped):
            return draft
        names = (*draft.policies, "drop-turns")
        return replace(draft, dropped=frozenset(gone), policies=names)


# endregion


# region: truncate
class TruncateOutput:
    """Keep `head` and `tail` characters of long tool outputs, oldest first.

    The beginning says what it is, the end how it went; what went wrong is mostly in one of them.
    """

    def __init__(self, head: int = 1000, tail: int = 1000) -> None:
        if head < 0 or tail < 0:
            raise ValueError("head and tail are numbers of characters, at least 0")
        self._kept = (head, tail)

    def reduce(self, draft: Draft) -> Draft:
        excess, cuts = draft.excess(), dict(draft.cuts)
        for index, message in enumerate(draft.messages):
            if excess <= 0:
                break
            if message.role == "tool" and index not in draft.dropped:
                cut = draft.counter.cost(cut_result(message, *self._kept))
                if cut < draft.cost(index):
                    excess -= draft.cost(index) - cut
                    cuts[index] = self._kept
        if cuts == draft.cuts:
            return draft
        return replace(draft, cuts=cuts, policies=(*draft.policies, "truncate-output"))


# endregion


# region: window
class ContextWindow:
    """A context policy: at most `limit` tokens a request, as counted by `counter`.

    `limit` leaves room for the answer. The reductions are tried in order, each only if those
    before it were not enough. A request that the provider refuses as too long is answered by one
    of half its size at most, and nothing as large is sent again. Raises ContextLimitError when
    what has to stay does not fit.
    """

    def __init__(self, limit: int, counter: TokenCounter, reductions: Iterable[Reduction]) -> None:
        if limit < 1:
            raise ValueError(f"the limit must be at least 1 token, not {limit}")
        self._limit = limit
        self._counter = counter
        self._reductions = tuple(reductions)
        self._sent = 0
        self._refused: int | None = None

    def fit(
        self, messages: Sequence[Message], overflow: ContextOverflowError | None
    ) -> tuple[Sequence[Message], Mapping[str, object] | None]:
        room = self._counter.room(self._limit)
        if overflow:
            self._refused = self._sent
            room = min(room, self._sent // 2)
        elif self._refused is not None:
            room = min(room, self._refused - 1)
        draft, excess = self._shorten(Draft(messages, self._counter, room))
        self._sent = room + excess
        if not draft.policies:
            return messages, None
        about = {
            "policy": "_".join(dict.fromkeys(draft.policies))[:64],
            "reason": "overflow" if overflow else "budget",
        }
        return draft.view(), {**about, **draft.report()}

    def _shorten(self, draft: Draft) -> tuple[Draft, int]:
        """The draft that fits, and what it costs beyond its room (at most 0)."""
        excess = draft.excess()
        for reduction in self._reductions:
            if excess <= 0:
                break
            draft = reduction.reduce(draft)
            excess = draft.excess()
        if excess > 0:
            raise ContextLimitError(
                "the request is too long, and what may be left out is left out already",
                resource="tokens",
                unit="tokens",
                limit=self._limit,
                needed=self._counter.tokens(draft.view()),
            )
        return draft, excess


# endregion
