"""What a running command can do to its harness: kill it, outlive it, be killed with it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from curriculum.core.errors import JournalError
from curriculum.core.journal import Record
from curriculum.sessions.errors import SessionBusyError
from tests.golden import ROOT
from tests.sessions.parts import (
    Marker,
    StrictModel,
    create,
    file_of,
    records_of,
    reopen,
    runner_of,
)

# A harness with the real Bash tool, one command and nobody to ask.
HARNESS = """
import signal, sys
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import ToolBox
from curriculum.core.trace import to_json
from curriculum.sessions.store import SessionStore
from curriculum.tools.bash import Bash
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the suite itself may run where it is ignored
home, command = sys.argv[1:]
store = SessionStore.create(home, "s-1")
calls = (ToolCall("call-1", "bash", to_json({"command": command})),)
model = ScriptedModel([ModelTurn("", calls), ModelTurn("done")])
runner = AgentRunner(model, ToolBox([Bash.here()], ["bash"]), journal=store)
print(runner.run("go").stop_reason)
"""


def start(home: Path, command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(home), command],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


class PidPipe:
    """A FIFO to which a command writes its pid: reading waits for it, and for nothing else."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._pid = 0
        os.mkfifo(path)

    def read(self) -> int:
        self._pid = int(self.path.read_text())
        return self._pid

    def kill(self) -> None:
        if self._pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[PidPipe]:
    """Whoever wrote a pid is killed in the end."""
    made = PidPipe(tmp_path / "pid")
    yield made
    made.kill()


def result_of(home: Path) -> dict[str, Any]:
    records = records_of(file_of(home).read_bytes())
    results = [record["data"] for record in records if record["kind"] == "tool_result"]
    assert len(results) == 1
    return dict(results[0])


def test_b14_a_command_that_kills_its_harness_is_unknown_and_is_acknowledged(
    tmp_path: Path,
) -> None:
    harness = start(tmp_path / "home", "echo x >> ../marks; kill -9 $PPID")
    harness.communicate(timeout=60)
    assert harness.returncode == -signal.SIGKILL
    with reopen(tmp_path / "home", "with-evidence") as store:
        assert store.recovery.unknown == ("call-1",)
        assert store.recovery.turn_id
        assert len(store.unacknowledged) == 1
        assert "kill -9 $PPID" in str(store.unacknowledged[0].display)
        store.acknowledge(store.unacknowledged[0])
        model = StrictModel()
        assert runner_of(store, model, Marker(tmp_path / "no")).run("on").error is None
        assert '"status":"unknown"' in model.requests[0][2].content
    assert result_of(tmp_path / "home")["status"] == "unknown"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_b8_a_harness_that_is_told_to_end_leaves_a_session_to_recover(
    number: int, tmp_path: Path, pipe: PidPipe
) -> None:
    """Killing the command and the exit code are the terminal program's part."""
    home = tmp_path / "home"
    harness = start(home, f"echo $$ > '{pipe.path}'; exec sleep 60")
    pipe.read()
    harness.send_signal(number)
    harness.communicate(timeout=60)
    assert harness.returncode == -number
    with reopen(home) as store:
        assert store.recovery.unknown == ("call-1",)
    assert result_of(home)["status"] == "unknown"


@pytest.mark.parametrize(
    "command", ["setsid sleep 60 & echo $! > '{}'", "sleep 60 & echo $! > '{}'; kill -9 $PPID"]
)
def test_b15_a_command_that_outlives_its_harness_holds_no_lock(
    command: str, tmp_path: Path, pipe: PidPipe
) -> None:
    home = tmp_path / "home"
    harness = start(home, command.format(pipe.path))
    pid = pipe.read()
    harness.communicate(timeout=60)
    assert harness.returncode in (0, -signal.SIGKILL)
    if harness.returncode:
        os.kill(pid, 0)  # still there: nobody swept it
    reopen(home).close()


def test_b15_no_command_has_the_session_open(tmp_path: Path) -> None:
    home = tmp_path / "home"
    harness = start(home, "ls -l /proc/self/fd /proc/$$/fd")
    out, err = harness.communicate(timeout=60)
    assert (out, err) == ("completed\n", "")
    shown = result_of(home)["output"]
    assert "/proc/self/fd" in shown
    assert "s-1.jsonl" not in shown


def test_b15_a_command_that_runs_has_no_part_in_the_lock(tmp_path: Path, pipe: PidPipe) -> None:
    """While the harness lives the session is busy; without it, though the command runs, free."""
    home = tmp_path / "home"
    harness = start(home, f"echo $$ > '{pipe.path}'; exec sleep 60")
    pid = pipe.read()
    with pytest.raises(SessionBusyError):
        reopen(home)
    harness.kill()
    harness.communicate(timeout=60)
    os.kill(pid, 0)  # still there
    reopen(home).close()


def test_a_forked_child_has_no_part_in_the_session(tmp_path: Path) -> None:
    """It cannot write to it, and the lock is free when its parent lets go."""
    store = create(tmp_path)
    told, tell = os.pipe()
    wait, hold = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(hold)
            try:
                store.append(Record("user_input", "t1", {"content": "from the child"}))
            except JournalError as fault:
                os.write(tell, fault.message.encode())
            store.close()
            os.read(wait, 1)  # it lives until its parent has reopened the session
        finally:
            os._exit(0)
    os.close(tell)
    try:
        said = os.read(told, 1000).decode()
        assert "belongs to the process that forked this one; the record was not kept" in said
        assert store.append(Record("user_input", "t1", {"content": "from the parent"})) == 1
        store.close()
        reopen(tmp_path).close()
    finally:
        for end in (told, wait, hold):
            os.close(end)
        os.waitpid(child, 0)
    contents = [
        record["data"].get("content") for record in records_of(file_of(tmp_path).read_bytes())
    ]
    assert contents == [None, "from the parent", None]


def test_a_number_that_a_session_no_longer_has_is_left_alone_in_a_fork(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        number = store._fd
        with (tmp_path / "other").open("wb", buffering=0) as other:
            os.dup2(other.fileno(), number)  # behind its back
            child = os.fork()
            if not child:
                try:
                    os.write(number, b"kept")
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
        assert (tmp_path / "other").read_bytes() == b"kept"
