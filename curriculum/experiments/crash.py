"""A crash at a random step of a session, and what the resumed model is told of what happened.

The step is drawn evenly from all steps of the same session without a crash: every write and sync
of the disk, and the moments before and after every effect. The disk is dead from there on, which
leaves what the end of the process leaves; what was not synced may be taken away as well. Then the
session is opened under a replay rule and gone on with, and that run's trace is the one kept.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from random import Random

from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn
from curriculum.core.model import ScriptedModel
from curriculum.core.seams import CancelToken
from curriculum.core.tools import ToolBox
from curriculum.core.waiting import VirtualTime
from curriculum.experiments import harness
from curriculum.experiments.faults import WatchedDisk
from curriculum.experiments.perform import Numbers, Outcome, read_metrics
from curriculum.experiments.plan import Task
from curriculum.experiments.settings import Settings, number
from curriculum.experiments.task import Facts, TaskModel, TaskTool
from curriculum.sessions.observe import show_acknowledgement, show_recovery
from curriculum.sessions.replay import RULES
from curriculum.sessions.store import SessionStore

SESSION = "session-1"


# region: crash
def perform_crash(task: Task) -> Outcome:
    """Crash, resume, count. The step is a matter of the seed, not of the replay rule."""
    settings, luck = task.settings, Random(f"{task.seed}/crash")
    with tempfile.TemporaryDirectory(prefix="experiment-") as home:
        whole = WatchedDisk(bool(settings["journal.sync"]), is_played=True)
        run_until_crash(task, home, whole, 0, half=False)
    step, half = luck.randint(1, whole.steps), bool(luck.randrange(2))
    with tempfile.TemporaryDirectory(prefix="experiment-") as home:
        disk = WatchedDisk(bool(settings["journal.sync"]), is_played=True)
        effects = run_until_crash(task, home, disk, step, half=half)
        if settings["fault.loss"] == "vanish":
            disk.wreck()
        return _resume(task, home, effects, disk)


def run_until_crash(
    task: Task, home: str, disk: WatchedDisk, dies_at: int, *, half: bool
) -> list[str]:
    """Run the session up to that step; returns the call ids of the effects there were."""
    settings, cancel = task.settings, CancelToken()
    run_time, facts = harness.RunTime(settings, cancel), Facts(task.seed)
    effects: list[str] = []

    def act(call_id: str) -> None:
        disk.step(lambda: effects.append(call_id))
        disk.step(lambda: None)

    with SessionStore.create(home, SESSION, clock=VirtualTime(), disk=disk) as store:
        disk.arm(dies_at, half)
        model = TaskModel(settings, facts, run_time.pass_us)
        runner = AgentRunner(
            model,
            _tools(settings, task.seed, facts, run_time, act),
            harness.make_config(settings),
            journal=store,
            cancel=cancel,
            recorder=harness.make_recorder(settings, run_time, []),
        )
        for turn in range(1, number(settings, "model.turns") + 1):
            if runner.turn(model.start_turn(turn)).error:
                break
    return effects


# endregion


def _tools(
    settings: Settings,
    seed: int,
    facts: Facts,
    run_time: harness.RunTime,
    act: Callable[[str], None],
) -> ToolBox:
    names = ("look", "change")
    tools = [TaskTool(name, settings, seed, facts, run_time.pass_us, act) for name in names]
    return ToolBox(tools, names)


# region: resume
def _resume(task: Task, home: str, effects: list[str], crashed: WatchedDisk) -> Outcome:
    """Open the session under the rule, go on with one turn, and compare with what happened."""
    settings, lines = task.settings, list[str]()
    (rule,) = [rule for rule in RULES if rule == settings["journal.rule"]]
    run_time = harness.RunTime(settings, CancelToken())
    recorder = harness.make_recorder(settings, run_time, lines)
    for _ in range(number(settings, "model.turns")):
        recorder.ids.next("turn")  # those ids are in the file
    with SessionStore.open(home, SESSION, rule=rule, clock=VirtualTime()) as store:
        runner = AgentRunner(
            ScriptedModel([ModelTurn("I go on from what is known.", stop=True)]),
            history=store.replay.messages,
            journal=store,
            recorder=recorder,
        )
        runner.start(store.session_id, resumed_from=store.session_id)
        show_recovery(recorder, store)
        for outcome in store.unacknowledged if rule == "with-evidence" else ():
            store.acknowledge(outcome)
            show_acknowledgement(recorder, outcome)
        result = runner.run("Go on.")
        told = {
            str(message.call_id): str(json.loads(message.content)["status"])
            for message in store.replay.messages
            if message.role == "tool"
        }
        notice = store.replay.notice
    trace = "".join(lines).encode()
    metrics: Numbers = read_metrics(trace)
    lost = [call_id for call_id in effects if call_id not in told]
    metrics |= {
        "completed": int(result.stop_reason == "completed"),
        "effects": len(effects),
        "lost_effects": len(lost),
        "lost_evidence": int(bool(lost)),
        "denied_effects": sum(told.get(call_id) == "not_executed" for call_id in effects),
        "user_told": int(bool(notice)),
        "syncs": crashed.syncs,
        "record_bytes": crashed.bytes,
    }
    error = f"{result.error.kind}: {result.error}" if result.error else ""
    return Outcome(task.run_id, result.stop_reason, error, metrics, trace)


# endregion
