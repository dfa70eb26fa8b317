"""Exercises of s04. Edit this file only; grade it with

    python3 -m curriculum grade s04

An exercise that is still as you found it is skipped. `solutions.py` holds one way to do each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from curriculum.core.approval import ApprovalRequest, Approver, Decision
from curriculum.core.trace import Event


# region: decisions_of
def decisions_of(events: Sequence[Event]) -> dict[str, tuple[str, str, str] | None]:
    """A. Read a trace: who decided what, and why?

    Return a dict from the call_id of every call that was asked about to (who, decision, why), or to
    None while nobody has decided: `events` may be only the beginning of a trace. `who` is the kind
    and the id of the actor ("user alice", "policy rules"), `why` the rationale ("" if none).

    Accepted for traces with every decision, calls that nobody was asked about, and every beginning.
    """
    raise NotImplementedError


# endregion


# region: exact_commands
class ExactCommands:
    """B. An approver of your own: it allows a few exact commands, and asks about all else.

    allows      a call of the tool "bash" whose display shows one of `commands`, character for
                character, in exactly this `directory`. The decision is that of a policy named
                "exact-commands", with a rationale
    otherwise   every other request goes to `otherwise`, once, as it is; so does its answer, and so
                does what it raises. Without one the policy denies, with a rationale

    Nothing is remembered: not what `otherwise` has allowed, and not what the caller does to its
    own list of commands later.

    Accepted when, behind an AgentRunner, exactly the listed commands run without a question. Mind
    commands with `*` or `[` in them, and displays that lack a field or hold no text in it.
    """

    def __init__(
        self, commands: Iterable[str], directory: str, otherwise: Approver | None = None
    ) -> None:
        raise NotImplementedError

    def decide(self, request: ApprovalRequest) -> Decision:
        raise NotImplementedError


# endregion


# region: batch_answers
BATCH_ANSWERS: Mapping[str, Mapping[str, object]] | None = None
"""C. What an answer does to a call, and to the calls after it: replace None by a dict with a row
for each of these. In the first five a person is asked; in the next three the approver is broken.

    "y"                        the person types y
    "n"                        the person types n
    "end of input"             there is no line to read: nobody is there
    "Ctrl+C"                   the person presses Ctrl+C at the question
    "too late"                 the approver answers "expired"
    "maybe"                    the approver answers a word that nobody knows
    "the model says allow"     the approver answers "allow" in the name of the model
    "the approver crashes"     decide raises
    "not asked: granted"       whoever assembled the harness has granted the tool
    "not asked: bad arguments" prepare refuses them
    "not asked: no such tool"  the model made the name up
    "never reached"            an earlier call of the batch has ended the run

A row is a dict with these columns:

    "decision"  word in the approval.decision about this call, None if there is no such event
    "by"        actor kind of that event, None if there is none
    "status"    status of the call's tool.result
    "starts"    is there a tool.start: True or False
    "stop"      reason of the session.stop if this call ends the run, None if the run goes on

Accepted when your rows, put together, predict what the trace of a real run shows, for every batch
of up to two calls and for many longer ones.
"""
# endregion


# region: render
def render(request: ApprovalRequest) -> str:
    """D. What a person is shown before the question `Approve this operation? [y/N]`.

    The text is plain. Whatever tool and display hold (a command by a model, a directory and an
    environment by anybody, numbers, None, mappings of such):

    visible    no character in it acts, hides or is blank, but for the space and your own line
               feeds. Python's isprintable() is a beginning: U+3164 is printable, and not seen
    one line   a field has one line, whatever it holds: no text can make a line of its own
    whole      nothing is left out or replaced; what is harmless, in any script, stays as it is
    size       the last line, next to the question, says how much the longest text is, as in
               "command: 201 lines, 214 characters" (line feeds + 1; characters are code points)
    distinct   requests that differ in tool or display never render the same

    Accepted when it passes `curriculum.grading.display_conformance`.
    """
    raise NotImplementedError


# endregion
