"""Exercises of s09. Edit this file only; grade it with

    python3 -m curriculum grade s09

An exercise that is still as you found it is skipped. `solutions.py` holds one way to do each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curriculum.core.errors import ContextOverflowError
from curriculum.core.messages import Message
from curriculum.core.trace import Event


# region: left_out
def left_out(events: Sequence[Event]) -> list[tuple[str, int, int, str | None]]:
    """A. Read a trace: what did each request leave out, and why?

    Return one tuple for each model.request, in order: its request_id, how many messages it showed,
    how many there were, and the reason ("budget", "overflow") or None if it showed them all as they
    are. A request that repeats a failed one (retry_of) shows what that one showed.

    Accepted for traces with and without compactions, with retries and overflows.
    """
    raise NotImplementedError


# endregion


# region: keep_last_turns
class KeepLastTurns:
    """B. A context policy of your own, for the seam in `curriculum/core/seams.py`.

    It shows all system messages and the last `turns` turns (at least 1); a turn begins with a user
    message. What stands before the first user message belongs to the first turn. After an overflow
    it shows the system messages and the current turn only; if the overflowing request cannot have
    shown more than that, it raises `overflow`.

    fit returns the messages to send and the payload of context.compact, or the messages as they
    came and None if nothing is left out. The payload has the policy "keep-last-turns", the reason,
    and what `rebuild` in `curriculum/core/context.py` needs to make the same request.

    Accepted when, for random histories, nothing else is shown or left out, no call is parted from
    its result, and every request can be rebuilt.
    """

    def __init__(self, turns: int) -> None:
        raise NotImplementedError

    def fit(
        self, messages: Sequence[Message], overflow: ContextOverflowError | None
    ) -> tuple[Sequence[Message], Mapping[str, object] | None]:
        raise NotImplementedError


# endregion


# region: what_becomes
WHAT_BECOMES: Mapping[str, Mapping[str, str]] | None = None
"""C. What becomes of each message, when all goes that may go? Replace None by a dict with a row
for each message of this conversation, in which every output but the last is long:

    "system prompt"
    "first input"
    "first answer"
    "second input"
    "call of the second turn"
    "its output"
    "second answer"
    "current input"
    "call of the current turn"
    "output of the current turn"
    "latest call"
    "latest output"

A row is a dict with a word for each policy, of which each is tried alone:

    "drop-turns"       DropTurns()
    "truncate-output"  TruncateOutput(head=10, tail=10)
    "summarise"        Summarise(model, keep=1)

The word is "stays", "goes" (it is not shown; a summary may tell of it) or "cut" (only its head and
tail are shown).

Accepted when every prediction is what the policy does.
"""
# endregion


# region: requests_of
def requests_of(events: Sequence[Event], before: Sequence[Message]) -> list[list[Message]]:
    """D. Rebuild every request from its trace: what exactly was the model shown?

    `before` is what there was when the session started: the system prompt, if any, and the history.
    Return one list of messages for each model.request, in order, equal to what the model was shown
    (`opaque`, which is in no trace, is None).

    The text that the model reads of a result is the payload of its tool.result without `call_id`,
    as `to_json` in `curriculum/core/trace.py` writes it. "What a request showed" in
    `traces/README.md` says the rest.

    Accepted for random runs: several turns, batches of calls, failed requests, retries, overflows,
    every policy of the lesson and chains of them.
    """
    raise NotImplementedError


# endregion
