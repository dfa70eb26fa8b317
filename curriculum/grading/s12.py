"""Graders of s12 A and B: a session read beside its trace, and an agent assembled without a person.

Both use real sessions in a scratch folder; only what answers is a script.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from curriculum.core.errors import ModelError, TransientModelError
from curriculum.core.loop import AgentRunner, RunResult
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import Model, ScriptedModel, StreamingModel
from curriculum.core.seams import CancelToken
from curriculum.core.tools import Prepared, RunningCall, Tool, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import Ids, Recorder
from curriculum.core.waiting import EachEvent, VirtualTime, Waiter
from curriculum.grading.mistakes import attempt, mistake, quote
from curriculum.grading.scratch import scratch
from curriculum.sessions.store import SessionStore

__unittest = True

OBSERVE = 's12, "Run it and observe it"'
STEPS = 's12, "Step by step"'

Rows = list[tuple[str, str]]
Script = Sequence[ModelTurn | Exception]
Assemble = Callable[
    [Model | StreamingModel, Tool, Sequence[str], SessionStore, Waiter, Recorder, CancelToken],
    AgentRunner,
]

TELLS = {
    "user_input": "user.message",
    "model_response": "model.response",
    "tool_start": "tool.start",
    "tool_result": "tool.result",
}


class Work:
    """A tool that notes what it ran. Its argument is the command, as it stands."""

    definition = ToolDefinition("work", "Works.", {"type": "object"})

    def __init__(self) -> None:
        self.ran: list[str] = []

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({"command": arguments}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        self.ran.append(str(prepared.action))
        return ToolResult("completed", f"did {prepared.action}")


def asks(*commands: str, prefix: str = "c") -> ModelTurn:
    """An answer that asks for these commands."""
    calls = [ToolCall(f"{prefix}{n}", "work", text) for n, text in enumerate(commands)]
    return ModelTurn("I look.", tuple(calls))


def grade_side_by_side(side_by_side: Callable[[bytes, bytes], Rows]) -> None:
    """A. A session of two runs and a crash in between; the trace of each run, cut everywhere."""
    session, traces = _recorded()
    for lines in traces:
        for size in range(len(lines) + 1):
            trace = lines[:size]
            wanted = _joined(session, trace)
            with attempt("side_by_side", OBSERVE):
                got = side_by_side(b"".join(session), b"".join(trace))
            _check_rows(wanted, got, f"with {size} of the trace's {len(lines)} events")


def _check_rows(wanted: Rows, got: object, told: str) -> None:
    if not isinstance(got, (list, tuple)) or len(got) != len(wanted):
        expected = f"{told}: one row for each of {len(wanted)} records"
        raise mistake(expected, quote(got), OBSERVE)
    for number, (one, other) in enumerate(zip(wanted, got, strict=True)):
        mine = tuple(other) if isinstance(other, list) else other
        if one != mine:
            raise mistake(f"{told}: record {number} is {one}", f"you say {quote(other)}", OBSERVE)


def _recorded() -> tuple[list[bytes], list[list[bytes]]]:
    """(the lines of one session file, the traces of its runs)."""
    traces = []
    with scratch() as home:
        SessionStore.create(home, "s").close()
        scripts: list[Script] = [
            [
                *(asks("a", "b"), ModelTurn("Done.")),
                *(asks("a", prefix="d"), ModelTurn("Once more.")),
                TransientModelError("broken"),
            ],
            [asks("a", prefix="e"), ModelTurn("Done again.")],
        ]
        for script in scripts:
            with SessionStore.open(home, "s") as store:
                runner = AgentRunner(
                    ScriptedModel(script),
                    ToolBox([Work()], granted=["work"]),
                    history=store.replay.messages,
                    journal=store,
                    recorder=Recorder(ids=Ids(), provenance="scripted"),
                )
                runner.start("s", "s")
                result: RunResult = runner.turn("go")
                if isinstance(script[-1], Exception):
                    runner.turn("more")
                    result = runner.turn("again")
                    store.append(_start_of_a_turn())  # and the process is gone
                traces.append([e.to_line().encode() for e in runner.stop(result).events])
        with open(store.path, "rb") as file:
            return file.readlines(), traces


def _start_of_a_turn() -> Any:
    from curriculum.core.journal import Record

    return Record("user_input", "turn-lost", {"content": "lost"})


def _joined(session: Sequence[bytes], trace: Sequence[bytes]) -> Rows:
    """Record by record: the event between its journal.append and the next one."""
    rows = [(json.loads(line)["kind"], "") for line in session]
    open_at: int | None = None
    for event in map(json.loads, trace):
        if event["type"] == "journal.append":
            open_at = event["payload"]["position"]
        elif open_at is not None and TELLS.get(rows[open_at][0]) == event["type"]:
            rows[open_at] = (rows[open_at][0], event["event_id"])
            open_at = None
    return rows


class _Bench:
    """One run of an assembled agent: what it is built of, and what came of it."""

    def __init__(
        self, make: Assemble, home: str, script: Script, allowed: Sequence[str], new: bool
    ) -> None:
        self.time, self.cancel, self.work = VirtualTime(), CancelToken(), Work()
        self.model = ScriptedModel(script)
        opened = SessionStore.create(home, "s") if new else SessionStore.open(home, "s")
        with opened as store:
            recorder = Recorder(EachEvent(self.time), Ids(), "scripted")
            with attempt("assemble", STEPS):
                self.runner = make(
                    self.model, self.work, allowed, store, self.time, recorder, self.cancel
                )
            if not isinstance(self.runner, AgentRunner):
                raise mistake("an AgentRunner", quote(self.runner), STEPS)
            if not recorder.events or self.runner.recorder is not recorder:
                raise mistake("a runner that was started, with the recorder given", "it is not",
                              STEPS)  # fmt: skip
            self.result = self.runner.run("go")
            self.events = recorder.events
            with open(store.path, "rb") as file:
                self.kinds = [json.loads(line)["kind"] for line in file]

    def of(self, type: str) -> list[dict[str, Any]]:
        """The payloads of the events of a type."""
        return [dict(event.payload) for event in self.events if event.type == type]

    @property
    def statuses(self) -> list[object]:
        """The statuses of all results."""
        return [payload["status"] for payload in self.of("tool.result")]


def _expect(told: str, wanted: object, saw: object) -> None:
    if wanted != saw:
        raise mistake(f"{told}: {quote(wanted)}", quote(saw), STEPS)


def grade_assemble(make: Assemble) -> None:
    """B. Each run has a session of its own, but for the one that goes on with another."""
    for check in (_rules, _retries, _bounds, _restart, _cancel, _saved):
        with scratch() as home:
            check(make, home)


def _rules(make: Assemble, home: str) -> None:
    allowed = ["date", "ls *", "echo [a]", "echo ?"]
    tried = ["date", "DATE", "ls *", "ls /etc", "echo [a]", "date "]
    turns: list[ModelTurn] = [asks(*tried[:4]), asks(*tried[4:], prefix="d"), ModelTurn("ok")]
    with scratch() as other:
        bench = _Bench(make, other, turns, [], True)
    _expect("nothing allowed: what ran", [], bench.work.ran)
    bench = _Bench(make, home, turns, allowed, True)
    wanted = ["completed" if text in allowed else "denied" for text in tried]
    _expect(f"allowed {allowed}, tried {tried}: the results", wanted, bench.statuses)
    _expect("what really ran", [t for t in tried if t in allowed], bench.work.ran)
    decisions = [event for event in bench.events if event.type == "approval.decision"]
    _expect("a decision for each call, none granted", 6, len(decisions))
    _expect("who decides", {"policy"}, {event.actor["kind"] for event in decisions})
    if not all(event.payload.get("rationale") for event in decisions):
        raise mistake("a rationale with every decision", "one has none", STEPS)
    long = f"echo {'a' * 5000}"
    with scratch() as other:
        bench = _Bench(make, other, [asks(long, f"{long}; date"), ModelTurn("ok")], [long], True)
    told = "allowed a command of 5005 characters, tried that and one with '; date' at its end"
    _expect(f"{told}: the results", ["completed", "denied"], bench.statuses)


def _retries(make: Assemble, home: str) -> None:
    busy = TransientModelError("busy")
    bench = _Bench(make, home, [busy, busy, ModelTurn("third time")], [], True)
    _expect("two failures, then an answer", "third time", bench.result.final_text)
    _expect("how often retry.wait", 2, len(bench.of("retry.wait")))
    asked_us = sum(payload["wait_us"] for payload in bench.of("retry.wait"))
    passed_us = bench.events[-1].elapsed_us
    if passed_us < asked_us:
        saw = f"{passed_us} µs have passed"
        raise mistake(f"waits of {asked_us} µs made by the waiter", saw, STEPS)
    with scratch() as other:
        bench = _Bench(make, other, [busy, busy, busy, ModelTurn("never")], [], True)
    _expect("three failures: the stop", "failed", bench.result.stop_reason)
    with scratch() as other:
        bench = _Bench(make, other, [ModelError("refused"), ModelTurn("never")], [], True)
    _expect("a permanent failure: attempts", 1, len(bench.of("model.request")))


def _bounds(make: Assemble, home: str) -> None:
    endless = [asks("date", prefix=f"t{n}-") for n in range(9)]
    bench = _Bench(make, home, endless, ["date"], True)
    _expect("a model that always asks: requests", 4, len(bench.of("model.request")))
    _expect("the stop", "max-turns", bench.result.stop_reason)
    with scratch() as other:
        bench = _Bench(make, other, [asks(*["date"] * 7), ModelTurn("x")], ["date"], True)
    _expect("seven calls at once: what ran", [], bench.work.ran)
    with scratch() as other:
        bench = _Bench(make, other, [asks(*["date"] * 6), ModelTurn("x")], ["date"], True)
    _expect("six calls at once: what ran", ["date"] * 6, bench.work.ran)


def _restart(make: Assemble, home: str) -> None:
    turns = [asks("date"), asks("date", prefix="d"), ModelTurn("It is late.")]
    first = _Bench(make, home, turns, ["date"], True)
    _expect("a new session resumes nothing", None, first.of("session.start")[0].get("resumed_from"))
    second = _Bench(make, home, [ModelTurn("You asked for the date.")], [], False)
    roles = [message.role for message in second.model.requests[0]]
    wanted = ["user", *["assistant", "tool"] * 2, "assistant", "user"]
    saw = [role for role in roles if role != "system"]
    _expect("after a restart the roles of the first request", wanted, saw)
    _expect("nothing runs again", [], second.work.ran)
    resumed = second.of("session.start")[0].get("resumed_from") or {}
    _expect("resumed_from in the trace", "s", resumed.get("session_id"))
    _expect("the session's id in the trace", "s", second.of("session.start")[0]["session_id"])


class _Cancels:
    """A model that raises the token while it answers, and after a failure."""

    def __init__(self, bench: list[CancelToken], late: bool) -> None:
        self._tokens, self._late = bench, late
        self.asked = 0

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | ModelTurn]:
        self.asked += 1
        self._tokens[0].cancel("user")
        if self._late:
            raise TransientModelError("busy")
        yield asks("date")


def _cancel(make: Assemble, home: str) -> None:
    for late in (False, True):
        token, work, time = CancelToken(), Work(), VirtualTime()
        model = _Cancels([token], late)
        with SessionStore.create(home, f"s{late:d}") as store:
            recorder = Recorder(EachEvent(time), Ids(), "scripted")
            with attempt("assemble", STEPS):
                runner = make(model, work, ["date"], store, time, recorder, token)
            result = runner.run("go")
        told = "Ctrl+C while a retry is waited for" if late else "Ctrl+C before a call"
        _expect(f"{told}: the stop", "cancelled", result.stop_reason)
        _expect(f"{told}: requests, and what ran", (1, []), (model.asked, work.ran))


def _saved(make: Assemble, home: str) -> None:
    bench = _Bench(make, home, [asks("date", "no"), ModelTurn("ok")], ["date"], True)
    wanted = "session user_input model_response tool_start tool_result tool_result"
    _expect("the records on disk", f"{wanted} model_response turn_end", " ".join(bench.kinds))
