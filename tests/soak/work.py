"""One session after another, turn by turn, with real commands: cancelled, killed and reopened.

All choices come from one seeded generator. Time comes from a clock that is moved, so that the run
covers an hour whatever it takes. Each turn's trace, and each session's export, has to validate.
"""

from __future__ import annotations

import os
import random
import signal
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from curriculum.core.loop import AgentConfig, AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.seams import CancelToken
from curriculum.core.tools import ToolBox
from curriculum.core.trace import Event, Recorder, UniqueIds, to_json
from curriculum.sessions.errors import SessionBusyError
from curriculum.sessions.export import export_trace
from curriculum.sessions.files import check_free
from curriculum.sessions.listing import SessionFile
from curriculum.sessions.replay import RULES
from curriculum.sessions.store import SessionStore
from curriculum.tools.bash import Bash
from curriculum.trace.codes import Verdict
from curriculum.trace.engines import make_engine
from curriculum.trace.validate import Options, validate
from tests.soak.leftovers import PATIENCE_SECONDS

HOUR_US = 3_600_000_000
SLOTS = 8  # sessions that are gone on with
MOST_TURNS = 40  # of one session, before it is exported and removed
QUICK = (
    "echo hello",
    "echo x >> marks",
    "seq 1 300",
    "exit 3",
    "kill -9 $$",
    "cat <<< $(mktemp -u)",
    "echo out; echo err >&2",
    "head -c 3000 /dev/urandom",
)
# These end at a bound only, or leave something running.
SLOW = (
    "echo started; sleep 600",
    "sleep 600 & echo started",
    "setsid sleep 600 & echo started",
    "yes | head -c 300000",
    "trap '' TERM; echo started; while :; do sleep 600; done",
)


class SoakClock:
    """Time that passes when it is told to, and a little whenever somebody looks."""

    def __init__(self) -> None:
        self.now_us = 0

    def read(self) -> tuple[int, int]:
        self.now_us += 1
        return 1_767_225_600_000_000 + self.now_us, self.now_us


@dataclass
class Slot:
    """A session that is gone on with; `store` is None while it is closed."""

    name: str
    store: SessionStore | None = None
    history: tuple[Message, ...] = ()
    turns: int = 0


class Work:
    """The run. `counts` says what happened."""

    def __init__(self, folder: Path, seed: int, mark: str) -> None:
        self.home, self.counts = folder / "home", Counter[str]()
        self.clock = SoakClock()
        self._random = random.Random(seed)
        self._slots: list[Slot] = []
        self._names = 0
        self._engine = make_engine("fast")
        self._is_hurried, self._skipped = False, 0.0
        directory, scratch = folder / "work", folder / "tmp"
        directory.mkdir()
        scratch.mkdir()
        self.scratch = scratch
        tempfile.tempdir = str(scratch)
        environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": str(scratch), "MARK": mark}
        bash = Bash(str(directory), environment, now=self._now, live=True)
        self._tools = ToolBox([bash], ["bash"])

    def _now(self) -> float:
        """The clock of the commands: whoever waits for a slow one waits in leaps of 5 seconds."""
        if self._is_hurried:
            self._skipped += 5.0
        return time.monotonic() + self._skipped

    # region: step
    def step(self) -> None:
        """One turn of one session, or one process that is killed while it has one."""
        slot = self._open_slot()
        if self._random.random() < 0.02:
            self._kill(slot)
            return
        cancel_at = self._random.randrange(25) if self._random.random() < 0.15 else -1
        self._turn(slot, self._script(SLOW), cancel_at, self._random.random() < 0.5)
        if slot.turns >= MOST_TURNS:
            self.finish(slot)

    def _open_slot(self) -> Slot:
        """Some session, open: a new one, the same again, or reopened."""
        if len(self._slots) < SLOTS:
            self._names += 1
            slot = Slot(f"soak-{self._names}")
            slot.store = SessionStore.create(self.home, slot.name, clock=self.clock)
            self._slots.append(slot)
            self.counts["sessions"] += 1
            return slot
        slot = self._random.choice(self._slots)
        if slot.store is None or self._random.random() < 0.1:
            self._reopen(slot)
        return slot

    def _reopen(self, slot: Slot) -> None:
        if slot.store:
            slot.store.close()
        rule = self._random.choice(RULES)
        store = SessionStore.open(self.home, slot.name, rule=rule, clock=self.clock)
        for outcome in store.unacknowledged:
            store.acknowledge(outcome)
            self.counts["acknowledged"] += 1
        slot.store, slot.history = store, store.replay.messages
        self.counts["reopened"] += 1
        self.counts["recovered"] += bool(store.recovery.turn_id)
        self.counts["torn"] += bool(store.recovery.torn_bytes)

    def _script(self, slow: tuple[str, ...]) -> list[ModelTurn]:
        """A turn with no call, one or two in a row, or two in one answer."""
        self._is_hurried = False
        commands = []
        for _ in range(self._random.randrange(3)):
            is_slow = self._random.random() < 0.1
            self._is_hurried = self._is_hurried or is_slow
            commands.append(self._random.choice(slow if is_slow else QUICK))
        calls = []
        for command in commands:
            self.counts["calls"] += 1
            name = f"call-{self.counts['calls']}"
            calls.append(ToolCall(name, "bash", to_json({"command": command})))
        if len(calls) == 2 and self._random.random() < 0.5:
            asked = [ModelTurn("Two.", tuple(calls))]
        else:
            asked = [ModelTurn("One.", (call,)) for call in calls]
        return [*asked, ModelTurn(chunks=("All ", "done."))]

    # endregion

    # region: turn
    def _turn(self, slot: Slot, script: list[ModelTurn], cancel_at: int, by_signal: bool) -> None:
        cancel, lines = CancelToken(), list[str]()

        def seen(event: Event) -> None:
            lines.append(event.to_line())
            self.counts["results"] += event.type == "tool.result"
            if len(lines) - 1 == cancel_at:
                if by_signal:
                    os.kill(os.getpid(), signal.SIGINT)
                else:
                    cancel.cancel()

        assert slot.store
        runner = AgentRunner(
            ScriptedModel(script),
            self._tools,
            AgentConfig(8, 8),
            history=slot.history,
            journal=slot.store,
            cancel=cancel,
            recorder=Recorder(self.clock, UniqueIds(), "live", seen),
        )
        slot.turns += 1
        self.counts["turns"] += 1
        try:
            result = runner.run("go on")
        except KeyboardInterrupt:  # it came when there was nothing left to stop
            self.counts["interrupted late"] += 1
            self._check("".join(lines).encode(), False)
            self._reopen(slot)
            return
        self.counts[f"turns {result.stop_reason}"] += 1
        self._check("".join(lines).encode(), True)
        slot.history = result.messages
        if result.error and result.error.kind != "cancelled":
            assert by_signal, result.error  # Ctrl+C within the journal: nothing more is kept
            self._reopen(slot)

    def _check(self, trace: bytes, is_complete: bool) -> None:
        report = validate(BytesIO(trace).read, self._engine, Options(is_strict=True))
        found = [(one.line, one.code, one.message) for one in report.findings]
        assert not found, found
        assert report.verdict == Verdict.COMPLETE or not is_complete

    # endregion

    # region: kill
    def _kill(self, slot: Slot) -> None:
        """Another process takes the session over, and is killed at one of its events."""
        assert slot.store
        slot.store.close()
        slot.store = None
        events, tell = os.pipe()
        last = self._random.randrange(1, 25)
        script = [turn for _ in range(8) for turn in self._script(QUICK)]
        child = os.fork()
        if not child:
            try:
                store = SessionStore.open(self.home, slot.name, clock=self.clock)
                history = store.replay.messages

                def seen(event: Event) -> None:
                    os.write(tell, b"!")

                while script:
                    runner = AgentRunner(
                        ScriptedModel(script),
                        self._tools,
                        history=history,
                        journal=store,
                        recorder=Recorder(self.clock, UniqueIds(), "live", seen),
                    )
                    history = runner.run("go on").messages
                    script = script[len(runner.model.requests) :]  # type: ignore[attr-defined]
            finally:
                os._exit(70)
        os.close(tell)
        for _ in range(last):
            if not os.read(events, 1):
                break
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(events)
        self.counts["killed"] += 1
        self._wait_until_free(slot)
        self._reopen(slot)

    def _wait_until_free(self, slot: Slot) -> None:
        """A command that the dead process was about to start has the lock until its exec."""
        path = str(self.home / "sessions" / f"{slot.name}.jsonl")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                check_free(path)
                return
            except SessionBusyError:
                self.counts["busy for a moment after a kill"] += 1
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.001)

    # endregion

    def finish(self, slot: Slot) -> None:
        """The session has had its turns: closed, exported, validated, removed."""
        if slot.store:
            slot.store.close()
        lines: list[str] = []
        export_trace(SessionFile(self.home, slot.name), lines.append)
        self._check("".join(lines).encode(), True)
        for path in (self.home / "sessions").glob(f"{slot.name}.*"):
            path.unlink()
        self._slots.remove(slot)
        self.counts["exported"] += 1

    def finish_all(self) -> None:
        """End every session."""
        for slot in list(self._slots):
            self.finish(slot)
