"""Graders of s01: what each exercise has to do, tried with inputs that differ every time."""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Callable, Sequence
from typing import TypeGuard

from curriculum.core.loop import AgentRunner, RunResult
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
from curriculum.core.model import ScriptedModel
from curriculum.core.values import Prefix
from curriculum.grading.mistakes import attempt, mistake, quote, raise_findings
from curriculum.grading.model_conformance import check_model
from curriculum.grading.model_expectations import ask
from curriculum.grading.model_under_test import Answer, ModelUnderTest
from curriculum.grading.transition_table import Row, check_table

__unittest = True

OBSERVE = 's01, "Run it and observe it"'
BOUND = 's01, "Step by step", step 4'
CALLS_BOUND = 's01, "Step by step", step 3'
INVARIANTS = 's01, "Invariants"'
DESIGN = 's01, "Exercises", C'
ADAPTER = 's01, "Exercises", D'


def grade_first_request(first_request: Callable[[AgentRunner], Sequence[Message]]) -> None:
    """A. The first request of runs short and long, with a prompt, and with an earlier exchange."""
    rng = random.Random(1)
    earlier = (Message("user", "Earlier?"), Message("assistant", "An earlier answer."))
    for system, rounds, history in (
        ("", 1, ()),
        ("", 3, ()),
        ("Be brief.", 2, ()),
        ("", 2, earlier),
    ):
        prompt = f"What is {rng.randrange(10**6)}?"
        turns = [ModelTurn(tool_calls=(ToolCall(f"c{n}", "fiction"),)) for n in range(rounds - 1)]
        model = ScriptedModel([*turns, ModelTurn("done")])
        runner = AgentRunner(model, system_prompt=system, history=history)
        runner.run(prompt)
        wanted = model.requests[0]
        printed = io.StringIO()
        try:
            with attempt("first_request", OBSERVE), contextlib.redirect_stdout(printed):
                got = first_request(runner)
        finally:
            print(printed.getvalue(), end="")
        expected = f"the messages of the first request, {_shown(wanted)}"
        if _are_messages(got) and list(got) == list(wanted):
            continue
        raise mistake(
            expected, _first_request_mistake(got, model, prompt, printed.getvalue()), OBSERVE
        )


def _are_messages(got: object) -> TypeGuard[Sequence[Message]]:
    return isinstance(got, (list, tuple, Prefix)) and all(isinstance(m, Message) for m in got)


def _shown(messages: object) -> str:
    if _are_messages(messages):
        return f"[{', '.join(f'{m.role}: {m.content!r}' for m in messages)}]"
    return quote(messages)


def _first_request_mistake(got: object, model: ScriptedModel, prompt: str, printed: str) -> str:
    if got is None:
        return "first_request returned None" + ("; printing is not returning" if printed else "")
    if not _are_messages(got):
        return f"you returned {quote(got)}, which are not the Message values of one request"
    saw = f"you returned {_shown(got)}"
    if len(model.requests) > 1 and tuple(got) == tuple(model.requests[-1]):
        return f"{saw}: that is what the last request showed"
    if "assistant" in [message.role for message in got]:
        return f"{saw}: the answer was not there yet when the request was made"
    if prompt not in [message.content for message in got]:
        return f"{saw}: the prompt of this run was {prompt!r}"
    return saw


def grade_run_out_of_turns(run_out_of_turns: Callable[[str, int], RunResult]) -> None:
    """B. Any prompt, any limit: asked exactly so often, then one error and the stop."""
    rng = random.Random(2)
    for limit in (1, 2, 5, 20, rng.randrange(21, 60)):
        prompt = f"Task {rng.randrange(10**6)}"
        with attempt("run_out_of_turns", BOUND):
            result = run_out_of_turns(prompt, limit)
        if not isinstance(result, RunResult):
            raise mistake("the RunResult that `run` returned", quote(result), BOUND)
        _check_ending(result, limit)
        _check_work(result, prompt, limit)


def _check_ending(result: RunResult, limit: int) -> None:
    case = f"with max_turns={limit}"
    if result.stop_reason != "max-turns":
        why = f" because of: {result.error}" if result.error else ": no call was left open"
        saw = f"the run stopped as {result.stop_reason!r}{why}"
        if result.stop_reason == "max-tool-calls":
            saw += "; calls have a bound of their own, AgentConfig.max_tool_calls: raise it too"
            raise mistake(f"{case} the stop_reason 'max-turns'", saw, CALLS_BOUND)
        raise mistake(f"{case} the stop_reason 'max-turns'", saw, BOUND)
    last = [event.type for event in result.events[-2:]]
    if last != ["error", "session.stop"]:
        raise mistake(f"{case} error and session.stop as last events", f"the trace: {last}", BOUND)
    error, stop = (event.payload for event in result.events[-2:])
    if (error.get("kind"), error.get("max_turns")) != ("max-turns", limit):
        saw = f"the trace says {dict(error)}"
        raise mistake(f"an error of kind max-turns with max_turns={limit}", saw, BOUND)
    if stop.get("reason") != "max-turns" or stop.get("event_count") != len(result.events):
        raise mistake("a session.stop for max-turns", f"the trace says {dict(stop)}", BOUND)


def _check_work(result: RunResult, prompt: str, limit: int) -> None:
    events = result.events
    start = dict(events[0].payload)
    config = start.get("config")
    if not isinstance(config, dict) or config.get("max_turns") != limit:
        raise mistake(f"a runner configured with max_turns={limit}", f"{config}", BOUND)
    said = [event.payload["content"] for event in events if event.type == "user.message"]
    if said != [prompt]:
        raise mistake(f"one user message {prompt!r}", f"the trace shows {said}", OBSERVE)
    asked = sum(event.type == "model.request" for event in events)
    if asked != limit:
        raise mistake(f"{limit} model requests", f"the trace shows {asked}", BOUND)
    answers = sum(message.role == "assistant" for message in result.messages)
    if answers != limit:
        saw = f"messages hold {answers}"
        raise mistake(f"{limit} assistant messages, one an answer", saw, INVARIANTS)
    if "tool.start" in [event.type for event in events]:
        raise mistake("a fictional tool, which nothing runs", "the trace has a tool.start", BOUND)


def grade_cancellation(table: Sequence[Row]) -> None:
    """C. Walk every path through the table."""
    with attempt("CANCELLATION", DESIGN):
        problems = check_table(table)
    if problems:
        more = [f"and {len(problems) - 8} others"] if len(problems) > 8 else []
        found = "\n    - ".join(["", *problems[:8], *more])
        raise mistake("a table that keeps the contract of cancellation", found, DESIGN)


def grade_adapter(under_test: ModelUnderTest, usage: Usage) -> None:
    """D. The conformance kit, and what holds for this vendor, who counts `usage` every time."""
    raise_findings("the adapter", check_model(under_test))
    said = [Message("system", "one"), Message("user", "hi"), Message("system", "two")]
    with attempt("the adapter", ADAPTER):
        turn = ask(under_test.build([Answer("hi", private="sealed")]), said)
        first = under_test.sent()[-1]
        again = [*said, Message("assistant", "hi", opaque=turn.opaque), Message("user", "and?")]
        ask(under_test.build([Answer("ok")]), again)
        second = under_test.sent()[-1]
    if turn.usage != usage:
        raise mistake(f"the tokens that the vendor counted, {usage}", quote(turn.usage), ADAPTER)
    if not ("one" in first.system and "two" in first.system):
        raise mistake("both system prompts where there are two", quote(first.system), ADAPTER)
    back = [entry.private for entry in second.entries if entry.role == "assistant"]
    if back != ["sealed"]:
        expected = "what is the vendor's own back in the next request, also without a call"
        raise mistake(expected, quote(back), ADAPTER)
