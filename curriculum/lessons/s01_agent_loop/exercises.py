"""Exercises of s01. Edit this file only; grade it with

    python3 -m curriculum grade s01

An exercise that is still as you found it is skipped. `solutions.py` holds one way to do each.
"""

from __future__ import annotations

from collections.abc import Sequence

from curriculum.core.loop import AgentRunner, RunResult
from curriculum.core.messages import Message
from curriculum.core.model import Model
from curriculum.grading.transition_table import Row
from curriculum.lessons.s01_agent_loop import vendor_sdk


# region: first_request
def first_request(runner: AgentRunner) -> Sequence[Message]:
    """A. Inspect the request: the messages that the model was shown first.

    `runner` has run already; its model is a ScriptedModel. Try it on `main()` of the demo.

    Accepted when the result is the messages of the first request, unchanged and in order. For the
    demo that is exactly one user message, whose content is the prompt.
    """
    raise NotImplementedError


# endregion


# region: run_out_of_turns
def run_out_of_turns(prompt: str, max_turns: int = 1) -> RunResult:
    """B. Trigger max-turns: run an agent whose model asks for a fictional tool in every answer.

    Give a ScriptedModel enough turns, each with a ToolCall that no tool answers to (every call_id
    may be used only once), set AgentConfig.max_turns to `max_turns`, run it with `prompt`, and
    return what `run` returned. Calls have a bound of their own, AgentConfig.max_tool_calls: it must
    not be reached first.

    You need ToolCall and ModelTurn of `curriculum.core.messages`, ScriptedModel of
    `curriculum.core.model` and AgentConfig of `curriculum.core.loop`.

    Accepted when, for any prompt and any limit, the model is asked exactly `max_turns` times, the
    stop_reason is "max-turns" and the last two events are `error` and `session.stop`.
    """
    raise NotImplementedError


# endregion


# region: cancellation
CANCELLATION: list[Row] | None = None
"""C. Cancellation on paper: replace None by a transition table.

A row is (state, event, next state, (records, ...)): in this state, when this happens, the harness
goes to that state and writes these into the trace, in this order. Name the states as you like; a
run begins in "ready" (the user's message is recorded, nothing else has happened), and a state in
which session.stop was recorded has no rows. `curriculum.grading.cancellation_rules` has the rules.

What can happen:
    "check point"         no request is open and no tool runs: the harness is about to go on
    "chunk"               a piece of the open request's answer arrives; more may follow, or not
    "answer"              the answer is complete and asks for no tool
    "answer with a call"  the answer is complete and asks for one tool
    "tool ends"           the tool in flight has ended by itself
    "tool overdue"        after a cancel: it did not end in time and was killed
    "cancel by user"      at any moment before the stop, also twice; the first one counts
    "cancel by policy"    the same, for example from a deadline
What can be recorded:
    model.request, model.delta, model.response completed | cancelled,
    tool.call, tool.start, tool.result completed | unknown | not_executed,
    cancel.request user | policy, error, session.stop completed | cancelled

Accepted when the table is deterministic (one row a case) and complete (a row for everything that
can happen in a state), every state reaches a stop and none leads out of it; when a piece is one
model.delta (after a cancel at most one) and a call ends in exactly one result, on every path; when
after a cancel nothing new begins, nothing can keep the run going for ever, the stop says cancelled,
and cancel.request (by whoever asked first, once) comes before session.stop.
"""


# endregion


# region: adapter
def adapter(client: vendor_sdk.Client) -> Model:
    """D. Build a provider adapter: a Model that answers with the help of `client`.

    Return an object of a class of your own with `respond(messages, tools) -> ModelTurn`. It
    translates messages and tool descriptors into a `vendor_sdk.Request` and the `Reply` into a
    ModelTurn. The vendor's errors become ModelError (TransientModelError where the same request may
    succeed later, ContextOverflowError where it is too long). The tokens that the vendor counted
    are the turn's `usage`. What is the vendor's own (SealedPart) goes into `opaque`, as plain JSON
    data, and back into the next request unchanged. Half an answer is none: one that was cut off
    (finish "length") is refused with a ModelError, and so is one with a part of a kind that you do
    not know, unless you leave that part out.

    You need ToolCall, ModelTurn and Usage of `curriculum.core.messages`, and the three errors of
    `curriculum.core.errors`.

    Accepted when it passes `curriculum.grading.model_conformance` and AgentRunner, which is not
    changed, does not notice which provider is behind it.
    """
    raise NotImplementedError


# endregion
