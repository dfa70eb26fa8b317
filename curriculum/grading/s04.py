"""Grader of s04 A: who decided what and why, read from traces of real runs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from curriculum.core.approval import Decision
from curriculum.core.loop import AgentRunner, RunResult
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import ToolBox
from curriculum.core.trace import Event
from curriculum.grading.approval_under_test import Named, Script
from curriculum.grading.mistakes import attempt, mistake, quote
from curriculum.grading.result_status import Probe, probe_call

__unittest = True

OBSERVE = 's04, "Run it and observe it"'

Told = Mapping[str, tuple[str, str, str] | None]


def grade_decisions_of(decisions_of: Callable[[Sequence[Event]], Told]) -> None:
    """A. Runs with every decision, read as a whole and at each of their beginnings."""
    for seed in range(3):
        for run in _decided_runs(random.Random(seed)):
            for size in range(1, len(run.events) + 1):
                _check_told(decisions_of, run.events[:size])
            _check_told(decisions_of, _decided_late(run.events))


def _decided_late(events: Sequence[Event]) -> list[Event]:
    """The same events, each decision only when all questions have been asked, the last first."""
    late = [event for event in events if event.type == "approval.decision"]
    return [*(event for event in events if event not in late), *reversed(late)]


def _decided_runs(rng: random.Random) -> Iterator[RunResult]:
    ids = (f"id-{number}" for number in rng.sample(range(10**6), 12))
    name, cause = f"user {rng.randrange(100)} of us", f" cause-{rng.randrange(100)}\n"
    decisions: list[Decision | BaseException] = [
        Decision("allow", "user", name),
        Decision("allow", "policy", "rules", "never deny this"),
        Decision("deny", "user", name, cause),
        Decision("deny", "policy", "allow-list", cause),
        Decision("expired", "policy", "clock", "no answer in time"),
    ]
    rng.shuffle(decisions)
    silent = [ToolCall(next(ids), "granted", '{"do": "work"}'), ToolCall(next(ids), "fiction")]
    asked = [probe_call(next(ids), "work", "allow") for _ in decisions]
    calls = [*asked, *silent, ToolCall(next(ids), "probe", "{}")]
    rng.shuffle(calls)
    last = (probe_call(next(ids), "work"), probe_call(next(ids), "work"))
    endings: list[Decision | BaseException] = [
        Decision("cancelled", "user", name),
        ConnectionError("gone"),
    ]
    model = ScriptedModel([ModelTurn(tool_calls=tuple(calls)), ModelTurn(tool_calls=last)])
    tools = ToolBox([Probe(), Named("granted", Probe())], granted=["granted"])
    yield AgentRunner(model, tools, approver=Script([*decisions, rng.choice(endings)])).run("go")
    model = ScriptedModel([ModelTurn(tool_calls=(probe_call(next(ids), "work"),)), ModelTurn("so")])
    yield AgentRunner(model, ToolBox([Probe()])).run("go")


def _check_told(decisions_of: Callable[[Sequence[Event]], Told], events: Sequence[Event]) -> None:
    wanted: dict[str, tuple[str, str, str] | None] = {}
    for event in events:
        payload = event.payload
        if event.type == "approval.request":
            wanted[str(payload["call_id"])] = None
        if event.type == "approval.decision":
            who = f"{event.actor['kind']} {event.actor['id']}"
            told = (who, str(payload["decision"]), str(payload.get("rationale", "")))
            wanted[str(payload["call_id"])] = told
    with attempt("decisions_of", OBSERVE):
        got = decisions_of(events)
    if not isinstance(got, Mapping):
        raise mistake("a dict from call_id to (who, decision, why)", quote(got), OBSERVE)
    for call_id, told_of in wanted.items():
        if call_id not in got:
            saw = "your result does not know that call"
            raise mistake(f"for {call_id!r}: {told_of}", saw, OBSERVE)
        mine = got[call_id]
        if (tuple(mine) if isinstance(mine, list) else mine) != told_of:
            expected = "nobody has decided yet: None" if told_of is None else str(told_of)
            raise mistake(f"for {call_id!r} {expected}", f"you say {quote(mine)}", OBSERVE)
    if extra := sorted(map(str, set(got) - set(wanted))):
        expected = "only calls that somebody was asked about"
        raise mistake(expected, f"you also have {extra}", OBSERVE)
