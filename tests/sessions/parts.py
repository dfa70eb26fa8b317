"""Parts of the session tests: a tool that leaves a mark, a strict endpoint, disks that fail."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from curriculum.core.loop import AgentConfig, AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import GoldenClock, Recorder
from curriculum.sessions.disk import SystemDisk
from curriculum.sessions.store import SessionStore

NAME = "s-1"


class Marker:
    """A tool whose only effect is one line in a file, so that runs can be counted."""

    definition = ToolDefinition("mark", "Leave a mark.", {"type": "object"})

    def __init__(
        self, path: Path, around: Callable[[Callable[[], None]], None] = lambda act: act()
    ):
        self._path, self._around = path, around

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({"arguments": arguments}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        def act() -> None:
            with self._path.open("a") as file:
                file.write(call.call_id + "\n")

        self._around(act)
        return ToolResult("completed", f"marked {prepared.action}")


def marks(path: Path) -> list[str]:
    """The calls that ran, in order."""
    return path.read_text().split() if path.exists() else []


def script(calls: int, prefix: str = "call") -> list[ModelTurn]:
    """One turn: an answer that asks for so many calls (none: no such answer), then a final one."""
    asked = tuple(ToolCall(f"{prefix}-{n}", "mark", f'{{"n":{n}}}') for n in range(calls))
    opaque = [{"type": "reasoning", "id": "r1", "content": ["x", 1.5, None]}]
    asks = [ModelTurn("I will.", asked, opaque=opaque)] if calls else []
    return [*asks, ModelTurn(f"Done {prefix}.")]


def runner_of(
    store: SessionStore | None, model: Any, tool: Marker, recorder: Recorder | None = None
) -> AgentRunner:
    """A runner that goes on from the store, every call of `mark` granted."""
    history = store.replay.messages if store else ()
    return AgentRunner(
        model,
        ToolBox([tool], ["mark"]),
        AgentConfig(4, 8),
        history=history,
        journal=store,
        recorder=recorder or Recorder.golden(),
    )


def create(home: Path, **seams: Any) -> SessionStore:
    return SessionStore.create(home, NAME, clock=GoldenClock(), **seams)


def reopen(home: Path, rule: Any = "completed-only", **seams: Any) -> SessionStore:
    return SessionStore.open(home, NAME, rule=rule, clock=GoldenClock(), **seams)


def file_of(home: Path) -> Path:
    return home / "sessions" / f"{NAME}.jsonl"


def records_of(data: bytes) -> list[dict[str, Any]]:
    """The whole lines, read by nothing of ours."""
    whole = data[: data.rfind(b"\n") + 1]
    return [json.loads(line) for line in whole.split(b"\n")[:-1]]


def saved_turn(home: Path, calls: int, name: str = "turn") -> bytes:
    """The bytes of a session with one completed turn of so many calls."""
    with create(home, disk=QuickDisk()) as store:
        result = runner_of(store, ScriptedModel(script(calls)), Marker(home / "marks")).run("go")
        assert result.error is None
    return file_of(home).read_bytes()


class StrictModel:
    """An endpoint that accepts a request only if each call in it has exactly one output."""

    def __init__(self, answer: str = "Accepted.") -> None:
        self.requests: list[Sequence[Message]] = []
        self._answer = answer

    def respond(self, messages: Sequence[Message], tools: object) -> ModelTurn:
        self.requests.append(tuple(messages))
        check_request(messages)
        return ModelTurn(self._answer)


def check_request(messages: Sequence[Message]) -> None:
    """What a strict provider refuses: an unpaired call or output, an id used twice."""
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message.role == "tool":
            assert message.call_id in waiting, f"an output without its call: {message}"
            waiting.remove(str(message.call_id))
            continue
        assert not waiting, f"calls without an output: {waiting}"
        for call in message.tool_calls:
            assert call.call_id not in seen, f"a call_id twice: {call.call_id}"
            seen.add(call.call_id)
            waiting.append(call.call_id)
    assert not waiting, f"calls without an output: {waiting}"
    assert messages[-1].role in ("user", "tool")


class QuickDisk(SystemDisk):
    """The disk without the wait: for tests in which nothing is lost at a crash."""

    def sync(self, fd: int) -> None:
        pass

    def sync_data(self, fd: int) -> None:
        pass


class SpyDisk:
    """Remembers what was asked of the disk, in order; `fail` may raise in place of any of it.

    Steps are (name, what): open with the file's name, write with the bytes, sync with the name.
    """

    def __init__(self, fail: Callable[[int, str], None] = lambda number, name: None) -> None:
        self.steps: list[tuple[str, Any]] = []
        self._names: dict[int, str] = {}
        self._fail = fail
        self._real = SystemDisk()

    def _step(self, name: str, what: object) -> None:
        self.steps.append((name, what))
        self._fail(len(self.steps), name)

    def _name(self, fd: int) -> str:
        return os.path.basename(os.readlink(f"/proc/self/fd/{fd}"))

    def open(self, path: str, flags: int) -> int:
        self._step("open", os.path.basename(path))
        return self._real.open(path, flags)

    def write(self, fd: int, data: bytes) -> int:
        self._step("write", data)
        return self._real.write(fd, data)

    def sync(self, fd: int) -> None:
        self._step("sync", self._name(fd))
        self._real.sync(fd)

    def sync_data(self, fd: int) -> None:
        self._step("sync_data", self._name(fd))
        self._real.sync_data(fd)

    def truncate(self, fd: int, size: int) -> None:
        self._step("truncate", size)
        self._real.truncate(fd, size)
