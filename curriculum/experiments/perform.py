"""One run: the harness is put together, the task is done, the trace is validated and counted.

Whatever runs it (this process, a pool, a machine elsewhere) gets back the same thing: a row and
the bytes of the trace. Nothing is written outside a folder of its own that is gone afterwards.
"""

from __future__ import annotations

import io
import json
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from statistics import median

from curriculum.core.journal import Journal
from curriculum.core.loop import AgentRunner
from curriculum.core.model import Model, StreamingModel
from curriculum.core.seams import CancelToken
from curriculum.core.tools import ToolBox
from curriculum.experiments import harness
from curriculum.experiments.cassette import RecordingModel
from curriculum.experiments.faults import LosingJournal, WatchedDisk
from curriculum.experiments.plan import Task
from curriculum.experiments.settings import Settings, number
from curriculum.experiments.task import Facts, SummaryModel, TaskModel, TaskTool
from curriculum.sessions.store import SessionStore
from curriculum.trace.codes import Verdict
from curriculum.trace.engines import Engine, make_engine
from curriculum.trace.stats import Stats
from curriculum.trace.validate import validate

Numbers = dict[str, int | float]
KINDS = ("user_input", "model_response", "tool_start", "tool_result", "turn_end")


@dataclass(frozen=True)
class Outcome:
    """What came of a run. `cassette` is what was recorded of a live model, if asked for."""

    run_id: str
    stop: str
    error: str
    metrics: Mapping[str, int | float]
    trace: bytes
    cassette: bytes = b""


class InvalidTraceError(Exception):
    """A run wrote a trace that does not validate: a bug of the harness or of the experiment."""


# region: perform
def perform(task: Task, is_recorded: bool = False) -> Outcome:
    """Do one run. Raises ExperimentError for what cannot be run, InvalidTraceError for a bug."""
    if task.settings["fault.crash"]:
        from curriculum.experiments.crash import perform_crash

        return perform_crash(task)
    with tempfile.TemporaryDirectory(prefix="experiment-") as home:
        return _perform(task, home, is_recorded)


def _perform(task: Task, home: str, is_recorded: bool) -> Outcome:
    settings, cancel = task.settings, CancelToken()
    run_time = harness.RunTime(settings, cancel)
    facts, lines = Facts(task.seed), list[str]()
    tape: list[str] = []
    task_model = TaskModel(settings, facts, run_time.pass_us)
    model: Model | StreamingModel = task_model
    if settings["model.kind"] != "scripted":
        model = harness.make_other_model(settings, cancel)
    if is_recorded:
        model = RecordingModel(model, tape.append)
    model = harness.wrap_model(model, settings, task.seed, run_time, cancel)
    tools = make_tools(settings, task.seed, facts, run_time)
    counter, writer = harness.make_tokens(tools), SummaryModel()
    recorder = harness.make_recorder(settings, run_time, lines)
    disk = WatchedDisk(bool(settings["journal.sync"]))
    store, journal = make_journal(settings, home, run_time, disk)
    runner = AgentRunner(
        harness.measured(model, counter),
        tools,
        harness.make_config(settings),
        approver=harness.make_approver(settings, run_time),
        journal=journal,
        cancel=cancel,
        context=harness.make_context(settings, counter, writer),
        scheduler=harness.make_scheduler(settings, run_time, cancel),
        budget=harness.make_budget(settings, recorder, run_time.clock),
        recorder=recorder,
    )
    turns, began = number(settings, "model.turns"), time.perf_counter_ns()
    done, result = 0, None
    for turn in range(1, turns + 1):
        result = runner.turn(task_model.start_turn(turn))
        if result.error:
            break
        done += 1
    assert result is not None
    result = runner.stop(result)
    if result.stop_reason == "cancelled":
        raise KeyboardInterrupt  # nothing in an experiment cancels: it was Ctrl+C, so no result
    taken_us = (time.perf_counter_ns() - began) // 1000
    if store:
        store.close()
    trace = "".join(lines).encode()
    metrics = read_metrics(trace)
    metrics["completed"] = int(done == turns)
    metrics["turns_done"] = done
    metrics["facts_kept"] = round(facts.share(task_model.view), 6)
    metrics["summaries"] = writer.requests
    metrics["input_tokens"] += writer.input_tokens
    metrics["output_tokens"] += writer.output_tokens
    spent = harness.PRICES.cost(int(metrics["input_tokens"]), int(metrics["output_tokens"]))
    metrics["cost"] = spent
    metrics["real_us"] = taken_us
    metrics |= read_journal(journal, disk)
    error = f"{result.error.kind}: {result.error}" if result.error else ""
    cassette = "".join(tape).encode()
    return Outcome(task.run_id, result.stop_reason, error, metrics, trace, cassette)


# endregion


def make_tools(settings: Settings, seed: int, facts: Facts, run_time: harness.RunTime) -> ToolBox:
    """The two tools of the task; both granted, unless a policy is to decide."""
    names = ("look", "change")
    tools = [TaskTool(name, settings, seed, facts, run_time.pass_us) for name in names]
    return ToolBox(tools, names if settings["approval.policy"] == "granted" else ())


def make_journal(
    settings: Settings, home: str, run_time: harness.RunTime, disk: WatchedDisk
) -> tuple[SessionStore | None, harness.TimedJournal]:
    """The session file, if there is one, and the journal that the loop gets."""
    store, journal = None, harness.no_journal()
    if settings["journal.kind"] == "session":
        store = SessionStore.create(home, "session-1", clock=run_time.clock, disk=disk)
        disk.arm()
        journal = store
    lost_at = number(settings, "fault.disk_at")
    lossy: Journal = LosingJournal(journal, lost_at) if lost_at else journal
    return store, harness.TimedJournal(lossy)


@cache
def _engine() -> Engine:
    """Made once a process: making it takes longer than a run."""
    return make_engine()


# region: metrics
def read_metrics(trace: bytes) -> Numbers:
    """What the trace tells. Raises InvalidTraceError unless it is valid and complete."""
    report = validate(io.BytesIO(trace).read, _engine())
    if report.verdict is not Verdict.COMPLETE:
        found = "; ".join(f"line {f.line}: {f.code} {f.message}" for f in report.findings[:3])
        raise InvalidTraceError(f"the trace is {report.verdict.name.lower()}: {found}")
    stats, waited_us = Stats(), 0
    for line in trace.splitlines():
        event = json.loads(line)
        stats.take(event)
        if event["type"] == "retry.wait":
            waited_us += event["payload"]["wait_us"]
    return {
        "requests": stats.requests,
        "calls": sum(stats.tools.values()),
        "failed_calls": stats.calls["failed"],
        "denied_calls": stats.calls["denied"],
        "events": stats.events,
        "elapsed_ms": stats.elapsed_us / 1000,
        "tools_ms": stats.phases.spent_us["tools"] / 1000,
        "retry_ms": waited_us / 1000,
        "input_tokens": stats.input_tokens,
        "output_tokens": stats.output_tokens,
        "compactions": stats.types["context.compact"],
    }


def read_journal(journal: harness.TimedJournal, disk: WatchedDisk) -> Numbers:
    """What keeping the records took."""
    spent = [taken for kind in KINDS for taken in journal.spent_ns.get(kind, ())]
    numbers: Numbers = {
        "records": len(spent),
        "record_bytes": disk.bytes,
        "syncs": disk.syncs,
    }
    if spent:
        numbers["real_journal_us"] = round(sum(spent) / len(spent) / 1000, 3)
    for kind in KINDS:
        if kind in journal.spent_ns:
            numbers[f"real_{kind}_us"] = round(median(journal.spent_ns[kind]) / 1000, 3)
    return numbers


# endregion
