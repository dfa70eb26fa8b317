"""Exercises of s06. Edit this file only; grade it with

    python3 -m curriculum grade s06

An exercise that is still as you found it is skipped. `solutions.py` holds one way to do each.
"""

from __future__ import annotations

from collections.abc import Sequence

from curriculum.core.journal import Record
from curriculum.core.messages import Message


# region: open_calls
def open_calls(records: Sequence[Record]) -> dict[str, str]:
    """A. A process was killed; `records` is what it left. Which calls are open, and how?

    Return a dict from the call_id of each call without a result to "not_executed" or "unknown", in
    the order in which the model asked for them: the status that a restart may give it, which has
    nothing but the records to go by.

    A call_id is unique in its turn only: another turn may use the same one again.

    Accepted for any number of turns and calls, cut off behind any record.
    """
    raise NotImplementedError


# endregion


# region: recover
def recover(records: Sequence[Record]) -> list[Record]:
    """B. What has to be appended to `records` before a conversation may go on.

    For each open call one tool_result of the open turn, with the data {"call_id": ..., "status":
    "not_executed" or "unknown", "output": a sentence for the model}; then a turn_end with the
    status "interrupted". Nothing at all if no turn is open.

    Recovery may itself be killed behind any of its records. So it is called again with whatever is
    there by then, and has to add only what is still missing.

    Accepted when, from every beginning of a session, and again from every beginning of its own
    work, it comes to the same end, which SessionStore opens with nothing left to do.
    """
    raise NotImplementedError


# endregion


# region: recovery_table
RECOVERY_TABLE: Sequence[tuple[str, str, str, str]] | None = None
"""C. Recovery on paper: replace None by a transition table.

A row is (state, event, next state, record): if this happens in this state, the harness writes that
one record ("" for none) and is in the next state. Name the states as you like; a session begins in
"idle". A process may be killed at any time, and all it knew is gone: a state is what is on disk,
and no more. So a row without a record leads back to its own state.

What can happen:
    "the user speaks"      between turns; while an outcome is unknown, this has to be refused
    "the model asks"       it answers with one call
    "the call is allowed"  from then on the tool may act at any moment, or not at all
    "the call is refused"
    "the tool ends"        and its outcome is known
    "the model answers"    without a call: its last word in this turn
    "the turn ends"        after the model's last word
    "recovery goes on"     a process was killed here; another one has opened the session, and takes
                           one step of recovery. It takes the next one until there is nothing to
                           write, or is killed in between. Only then goes the conversation on
    "the user has looked"  at what an unknown outcome did, and says so
What can be recorded:
    user_input, model_response, tool_start,
    tool_result completed | denied | not_executed | unknown,
    turn_end completed | interrupted, outcome_acknowledged

Accepted when the table is deterministic and complete (a row for everything that can happen in a
state), when on every path each call has one result and at most one start, `unknown` stands only
after a start and `not_executed` only without one, recovery starts nothing, comes to an end and has
then nothing more to do, and no user input is taken before an unknown outcome is acknowledged.
"""
# endregion


# region: store
class Store:
    """D. A store of your own that may be killed anywhere. It keeps one session in `folder`.

    opening         makes the session, or opens the one that is there and closes what was
                    interrupted, on disk. It runs no tool and asks no model
    append          keeps a record of the loop; returns its position once it is safe. Raises
                    JournalError if it was not kept, also for a user_input while an outcome is
                    unknown and nobody has acknowledged it
    messages        what the conversation goes on from, by the rule "with-evidence": the turns that
                    had ended when the store was opened (those that recovery has ended, too), each
                    message as the loop had made it: the content of a tool message is `to_json` (of
                    curriculum.core.trace) of its record's data without the call_id, byte for byte;
                    the `opaque` of a response is kept. Turns that did not complete count only if
                    the model has asked for a tool in them
    unacknowledged  ids of the calls with the result `unknown` that nobody has acknowledged
    acknowledge     keeps on disk that the outcome of this call was acknowledged
    close           lets go of the storage

    How it is stored is up to you: your journal of s05 and your `recover` are a beginning.

    Accepted when it passes `curriculum.grading.crash_conformance`, as our SessionStore does: killed
    at every save point, between any two lines of its code, in the middle of a write, in recovery.
    """

    def __init__(self, folder: str) -> None:
        raise NotImplementedError

    @property
    def messages(self) -> Sequence[Message]:
        raise NotImplementedError

    @property
    def unacknowledged(self) -> Sequence[str]:
        raise NotImplementedError

    def append(self, record: Record) -> int:
        raise NotImplementedError

    def acknowledge(self, call_id: str) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


# endregion
