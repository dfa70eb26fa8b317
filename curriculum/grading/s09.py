"""Graders of s09: what requests leave out, a policy of one's own, and requests rebuilt."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from curriculum.core.context import Draft, DropTurns, Reduction, TruncateOutput, rebuild
from curriculum.core.errors import ContextOverflowError
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.seams import ContextPolicy
from curriculum.core.summary import Summarise
from curriculum.core.tokens import TokenCounter
from curriculum.core.tools import ToolResult
from curriculum.core.trace import Event, to_json
from curriculum.grading.compacted_runs import compacted_run, overcome_run
from curriculum.grading.mistakes import attempt, mistake, quote
from curriculum.grading.prediction_table import rows_to_grade

__unittest = True

OBSERVE = 's09, "Run it and observe it"'
STEPS = 's09, "Step by step"'
INVARIANTS = 's09, "Invariants"'
DESIGN = 's09, "Exercises", C'

AFTER_A_FAULT = "the compaction was about a request that failed, not about the turn after it"

Row = tuple[str, int, int, str | None]


def grade_left_out(left_out: Callable[[Sequence[Event]], Sequence[Row]]) -> None:
    """A. Random runs: each request against the messages that there really were."""
    for seed, run in enumerate([*map(compacted_run, range(40)), overcome_run()]):
        with attempt("left_out", OBSERVE):
            got = left_out(run.events)
        if not isinstance(got, (list, tuple)):
            raise mistake("a list of tuples", quote(got), OBSERVE)
        wanted = _rows(run.events, run.before)
        if len(got) != len(wanted):
            raise mistake(f"a tuple for each of {len(wanted)} requests", f"{len(got)}", OBSERVE)
        for mine, right in zip(got, wanted, strict=True):
            if tuple(mine) != right:
                which = f"in the run number {seed}" if seed < 40 else AFTER_A_FAULT
                raise mistake(f"{right}", f"{quote(mine)} ({which})", OBSERVE)


def _rows(events: Sequence[Event], before: Sequence[Message]) -> list[Row]:
    """The rows, counted from the messages and not from what the compaction says of itself."""
    there_are, reason, rows = len(before), None, list[Row]()
    for event in events:
        payload = event.payload
        added = event.type in ("user.message", "tool.result")
        added = added or (event.type == "model.response" and payload["status"] == "completed")
        there_are += added
        if event.type == "context.compact":
            reason = str(payload["reason"])
        elif event.type == "model.request":
            about = str(payload["request_id"]), int(str(payload["message_count"])), there_are
            rows.append((*about, rows[-1][3] if "retry_of" in payload else reason))
            reason = None
    return rows


def _history(rng: random.Random) -> list[Message]:
    """Some turns, with calls whose results come in any order."""
    messages = [Message("system", "Be brief.")] if rng.random() < 0.5 else []
    if rng.random() < 0.2:
        messages.append(Message("assistant", "Hello!"))
    made = 0
    for turn in range(rng.randrange(1, 6)):
        messages.append(Message("user", f"question {turn}"))
        for _ in range(rng.randrange(3)):
            calls = [ToolCall(f"c{made + n}", "look") for n in range(rng.randrange(3))]
            made += len(calls)
            messages.append(Message("assistant", f"answer {made}", tuple(calls)))
            for call in rng.sample(calls, len(calls)):
                content = ToolResult("completed", call.call_id).content()
                messages.append(Message("tool", content, call_id=call.call_id))
        if rng.random() < 0.2:
            messages.append(Message("system", f"note {turn}"))
    return messages


def grade_keep_last_turns(make: Callable[[int], ContextPolicy]) -> None:
    """B. Random histories, with and without an overflow."""
    with attempt("KeepLastTurns", STEPS):
        for seed in range(300):
            rng = random.Random(seed)
            messages, turns = _history(rng), rng.randrange(1, 5)
            _check_fit(make(turns), messages, turns, None)
            _check_overflow(make(turns), messages, turns)
        _check_session(make(2))


def _check_session(policy: ContextPolicy) -> None:
    """One policy for the requests of a session: none changes what becomes of the next."""
    messages = [Message("system", "Be brief.")]
    for number in range(8):
        messages += [Message("user", f"question {number}"), Message("assistant", "so")]
        overflow = ContextOverflowError("too long") if number in (3, 5) else None
        try:
            _check_fit(policy, messages, 2, overflow)
        except AssertionError as fault:
            told = f"fit number {number + 1} of one policy, after overflows at numbers 4 and 6, "
            told += f"to do as the first would{fault}"
            raise AssertionError(told) from fault


def _roles(messages: Sequence[Message]) -> str:
    return " ".join(message.role for message in messages)


def _expected(messages: Sequence[Message], turns: int) -> list[int]:
    """Indexes of what is left out when the last `turns` turns are shown."""
    turn, of_turn = 0, list[int]()
    for message in messages:
        turn += message.role == "user"
        of_turn.append(max(turn, 1))
    return [
        n
        for n, message in enumerate(messages)
        if message.role != "system" and of_turn[n] <= turn - turns
    ]


def _check_fit(
    policy: ContextPolicy,
    messages: Sequence[Message],
    turns: int,
    overflow: ContextOverflowError | None,
) -> None:
    dropped = _expected(messages, 1 if overflow else turns)
    kept = list(messages)
    view, report = policy.fit(messages, overflow)
    about = f"of {_roles(messages)!r}, keeping {1 if overflow else turns}"
    if list(messages) != kept:
        raise mistake("the messages to be left as they are", f"{about}: changed", INVARIANTS)
    wanted = [message for n, message in enumerate(messages) if n not in dropped]
    if list(view) != wanted:
        raise mistake(f"{about}: {_roles(wanted)!r}", f"{_roles(view)!r}", INVARIANTS)
    if not dropped:
        if report is not None:
            raise mistake(f"{about}: no report, as nothing is left out", quote(report), STEPS)
        return
    if report is None:
        raise mistake(f"{about}: a report of what is left out", "None", STEPS)
    facts = {
        "policy": "keep-last-turns",
        "reason": "overflow" if overflow else "budget",
        "dropped": dropped,
        "message_count_before": len(messages),
        "message_count": len(wanted),
    }
    for name, fact in facts.items():
        if report.get(name) != fact:
            saw = f"{name} is {quote(report.get(name))}"
            raise mistake(f"{about}: {name} {quote(fact)}", saw, STEPS)
    to_json(report)
    if rebuild(messages, report) != list(view):
        raise mistake("a report to rebuild the request from", quote(dict(report)), INVARIANTS)


def _check_overflow(policy: ContextPolicy, messages: Sequence[Message], turns: int) -> None:
    overflow = ContextOverflowError("too long")
    if not _expected(messages, 1) or turns == 1:
        try:
            view, _ = policy.fit(messages, overflow)
        except ContextOverflowError as fault:
            if fault is not overflow:
                saw = f"another one: {quote(fault)}"
                raise mistake(
                    "the very `overflow` that fit was given to be raised", saw, STEPS
                ) from fault
            return
        expected = "the overflow to be raised, as no less than was sent can be sent"
        raise mistake(expected, f"{_roles(view)!r} once more", INVARIANTS)
    _check_fit(policy, messages, turns, overflow)


MESSAGES: Mapping[str, Message] = {
    "system prompt": Message("system", "Be brief."),
    "first input": Message("user", "What is the time?"),
    "first answer": Message("assistant", "Noon."),
    "second input": Message("user", "Which files are there?"),
    "call of the second turn": Message("assistant", "", (ToolCall("c1", "look"),)),
    "its output": Message("tool", ToolResult("completed", "f" * 900).content(), call_id="c1"),
    "second answer": Message("assistant", "Many."),
    "current input": Message("user", "And how large are they?"),
    "call of the current turn": Message("assistant", "", (ToolCall("c2", "look"),)),
    "output of the current turn": Message(
        "tool", ToolResult("completed", "s" * 900).content(), call_id="c2"
    ),
    "latest call": Message("assistant", "", (ToolCall("c3", "look"),)),
    "latest output": Message("tool", ToolResult("completed", "done").content(), call_id="c3"),
}
POLICIES = ("drop-turns", "truncate-output", "summarise")


def observe_policy(policy: str) -> dict[str, str]:
    """What really becomes of each message, when the room is as small as the policy can bear."""
    writer = ScriptedModel([ModelTurn("a summary")])
    reductions: Mapping[str, tuple[Reduction, int]] = {
        "drop-turns": (DropTurns(), 0),
        "truncate-output": (TruncateOutput(10, 10), 0),
        "summarise": (Summarise(writer, keep=1), 250),
    }
    reduction, room = reductions[policy]
    draft = reduction.reduce(Draft([*MESSAGES.values()], TokenCounter(count=len), room))
    return {
        name: "goes" if n in draft.dropped else "cut" if n in draft.cuts else "stays"
        for n, name in enumerate(MESSAGES)
    }


def grade_what_becomes(table: Mapping[str, Mapping[str, str]]) -> None:
    """C. What was predicted against what the policies do, message by message."""
    good, findings = rows_to_grade(table, list(MESSAGES), list(POLICIES), DESIGN)
    real = {policy: observe_policy(policy) for policy in POLICIES}
    for name in good:
        row = table[name]
        findings += [
            f"{name!r} under {policy}: you predict {row[policy]!r}, it {real[policy][name]!r}"
            for policy in POLICIES
            if row[policy] != real[policy][name]
        ]
    if findings:
        raise mistake("predictions that come true", "\n    - ".join(["", *findings]), DESIGN)


def grade_requests_of(
    requests_of: Callable[[Sequence[Event], Sequence[Message]], Sequence[Sequence[Message]]],
) -> None:
    """D. Random runs: each request, rebuilt, against what the model was shown."""
    for seed, run in enumerate([*map(compacted_run, range(60)), overcome_run()]):
        with attempt("requests_of", STEPS):
            got = requests_of(run.events, run.before)
        if not isinstance(got, (list, tuple)):
            raise mistake("a list of requests", quote(got), STEPS)
        if len(got) != len(run.requests):
            expected = f"{len(run.requests)} requests (in the run number {seed})"
            raise mistake(expected, f"{len(got)}", STEPS)
        for number, (mine, shown) in enumerate(zip(got, run.requests, strict=True), 1):
            _compare(list(mine), shown, f"request {number} of the run number {seed}")


def _compare(mine: Sequence[Message], shown: Sequence[Message], which: str) -> None:
    for at, (one, other) in enumerate(zip(mine, shown, strict=False)):
        if one != other:
            raise mistake(f"message {at} of {which}: {quote(other)}", quote(one), INVARIANTS)
    if len(mine) != len(shown):
        expected = f"{which} to show {_roles(shown)!r}"
        raise mistake(expected, f"{_roles(mine)!r}", INVARIANTS)
