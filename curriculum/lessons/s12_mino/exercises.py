"""Exercises of s12. Edit this file only; grade it with

    python3 -m curriculum grade s12

An exercise that is still as you found it is skipped. `solutions.py` holds one way to do each. All
of them run on a bare Python: what answers is a script.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from curriculum.core.loop import AgentRunner
from curriculum.core.model import Model, StreamingModel
from curriculum.core.seams import CancelToken
from curriculum.core.tools import Tool
from curriculum.core.trace import Event, Recorder
from curriculum.core.waiting import Waiter
from curriculum.sessions.store import SessionStore


# region: side_by_side
def side_by_side(session: bytes, trace: bytes) -> list[tuple[str, str]]:
    """A. Read a session file and a trace side by side: which event tells of which record?

    Both are JSON lines. Return for each record of the session, in order, its kind and the event_id
    of the event that tells the same, or "":

        user_input      user.message
        model_response  model.response
        tool_start      tool.start
        tool_result     tool.result
        session, turn_end  "": no event tells the same

    A record has a "sequence". When it was safe on disk, the harness emitted a `journal.append`
    whose payload has that number as its "position"; the event that tells the same is the next one
    of the type above. There is none ("") where the trace has no such journal.append: the trace may
    belong to another run of the session, or end early, and recovery writes records that no run
    told of.

    Accepted for sessions of several runs, with the trace of any of them, cut after any event.
    """
    raise NotImplementedError


# endregion


# region: assemble
def assemble(
    model: Model | StreamingModel,
    tool: Tool,
    allowed: Sequence[str],
    store: SessionStore,
    waiter: Waiter,
    recorder: Recorder,
    cancel: CancelToken,
) -> AgentRunner:
    """B. Assemble an agent that works without a person, and return its runner, started.

    tools    `tool` alone, not granted
    approval by rule: a call whose display field "command" is one of `allowed`, to the letter, is
             allowed, every other one denied. Mind that the patterns of a Rule are patterns: an
             allowed `ls *` allows `ls *` and not `ls /etc`. No decision without a rationale
    session  the store is the journal, and what it replays is the history; the trace says that the
             session was resumed (`resumed_from`) if there is any
    retries  at most 3 attempts an answer, waited for by `waiter`
    bounds   at most 4 requests and 6 calls a turn
    cancel   one token for all

    Accepted when runs with failures, refusals, cancels and restarts go as they should.
    """
    raise NotImplementedError


# endregion


# region: what_becomes
WHAT_BECOMES: Mapping[str, Mapping[str, object]] | None = None
"""C. What becomes of a fault in a whole agent: replace None by a dict with a row for each of these.
The model proposes one call of a tool first, unless the situation says otherwise; if it is asked
again, it answers "Done.". A person decides about each call and says yes, unless the situation says
otherwise. The agent has retries (s08), a session (s05) and a budget (s11); at most 8 requests.

    "busy, nothing shown"          the first request fails with a TransientModelError
    "broken, text shown"           the same, after a piece of text
    "arguments are no JSON"        the tool refuses to prepare the call
    "no such tool"                 the call names a tool that is not there
    "the person says no"
    "Ctrl+C at the question"
    "the tool fails"               it returns a result with status "failed"
    "the tool raises"              it does its work, and then raises an exception: a bug
    "disk full at tool_start"      that record cannot be kept, and none after it
    "disk full at tool_result"     the same with that record
    "no budget for the next step"  after the call, the next request would cost too much
    "the trace cannot be written"  the first event whose type is tool.start cannot be written
    "killed while the tool runs"   the process is gone: no more records, no more events

A row is a dict with these columns:

    "becomes"  "retry": another attempt was made and the user got an answer; "result": the model
               read of it and answered; "error": the turn ended; "nothing": nobody was told
    "ran"      how often the tool did its work
    "on disk"  status of the last tool_result in the session file, None if there is none
    "restart"  status of the last tool_result once the session was opened again, None if none
    "stop"     the stop_reason; None if there is no session.stop

Accepted when every prediction is what a real agent with that fault shows.
"""
# endregion


# region: agent
class Agent:
    """D. Your own agent, out of the parts of all lessons and of your own: the capstone.

    model       answers; a ScriptedModel, or any adapter
    home        the folder that holds its sessions
    session_id  a session to go on with; "" makes a new one
    ask         ask(text) shows the question and returns the line typed after it, None at the end of
                input; raises KeyboardInterrupt for Ctrl+C
    show        show(text) puts lines on the screen
    waiter      how time is let pass

    .session_id  the session's id; its file is a session of `curriculum.sessions`
    .events      all events so far
    .turn(text)  answers one input; returns the text of the answer, "" if the turn failed
    .close()     ends the session's run with its session.stop and lets go of the file

    It has bash (`curriculum.tools.bash`), in the directory that is current when the agent is made,
    and asks before every command: only y or yes allows. What else it has to do, the kit
    `curriculum.grading.agent_conformance` says: `check_agent(Agent)` lists what is wrong, and the
    page has a rubric for what no program can judge.

    Accepted when the kit finds nothing.
    """

    def __init__(
        self,
        model: Model | StreamingModel,
        home: str,
        session_id: str,
        ask: Callable[[str], str | None],
        show: Callable[[str], object],
        waiter: Waiter,
    ) -> None:
        raise NotImplementedError

    @property
    def session_id(self) -> str:
        raise NotImplementedError

    @property
    def events(self) -> Sequence[Event]:
        raise NotImplementedError

    def turn(self, text: str) -> str:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


# endregion
