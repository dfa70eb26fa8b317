"""Live output of a tool with threads of its own: gap-free, and none after the result."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.trace import Event, Recorder
from curriculum.trace.codes import Verdict
from tests.trace.test_properties import both

WAIT_SECONDS = 30


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    """Threads take turns as often as they can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


class Noisy:
    """A tool that leaves it to `act` what its threads do."""

    definition = ToolDefinition("noisy", "Makes noise.", {"type": "object"})

    def __init__(self, act: Callable[[RunningCall], None]) -> None:
        self._act = act

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({}, None)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        self._act(call)
        return ToolResult("completed", "done")


def run(act: Callable[[RunningCall], None], seen: Callable[[Event], None]) -> bytes:
    """The trace of one call, in which nothing is wrong."""
    script = [ModelTurn("", (ToolCall("call-1", "noisy", "{}"),)), ModelTurn("So.")]
    lines: list[str] = []

    def sink(event: Event) -> None:
        lines.append(event.to_line())
        seen(event)

    tools = ToolBox([Noisy(act)], ["noisy"])
    result = AgentRunner(ScriptedModel(script), tools, recorder=Recorder.golden(sink)).run("go")
    assert result.error is None
    trace = "".join(lines).encode()
    report = both(trace)
    assert [(one.code, one.message) for one in report.findings] == []
    assert report.verdict == Verdict.COMPLETE
    return trace


def test_threads_of_one_tool_number_their_output_without_a_gap() -> None:
    def act(call: RunningCall) -> None:
        def shout() -> None:
            for _ in range(200):
                call.output("stdout", "x")

        threads = [threading.Thread(target=shout) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_SECONDS)

    assert run(act, lambda event: None).count(b'"type":"tool.output"') == 800


def test_a_thread_that_outlives_its_call_is_refused_from_the_result_on() -> None:
    """It goes on while the result is recorded, and on after that."""
    threads: list[threading.Thread] = []
    has_result, refused = threading.Event(), threading.Event()

    def act(call: RunningCall) -> None:
        def shout() -> None:
            try:
                while True:
                    call.output("stdout", "x")
            except KeyError:
                refused.set()

        threads.append(threading.Thread(target=shout))
        threads[0].start()

    def seen(event: Event) -> None:
        if event.type == "tool.result":
            has_result.set()
            assert refused.wait(WAIT_SECONDS)

    run(act, seen)
    threads[0].join(WAIT_SECONDS)
    assert has_result.is_set()
    assert not threads[0].is_alive()
