"""Section B: however a run ends, its processes are dead, reaped, or named as survivors."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.seams import CancelToken
from curriculum.core.tools import ToolBox
from curriculum.tools import survivors
from tests.tools.running import (
    arguments,
    bash_in,
    execute,
    is_gone,
    open_descriptors,
    read_pids,
    running_call,
    said,
    time_is_up,
    timed,
    written,
    zombie_children,
)

PIDFD_OPEN = os.pidfd_open
# A length that nobody else on this machine sleeps for.
LONG = 10**6 + os.getpid()
SURVIVED = "still running"
KILLED = "left running in the background were killed"


def clock(step: float, at: int = -1, fault: BaseException | None = None) -> Callable[[], float]:
    """A clock that moves by `step` seconds a reading; reading number `at` raises `fault`."""
    readings = iter(range(1_000_000))

    def read() -> float:
        number = next(readings)
        if number == at and fault:
            raise fault
        return number * step

    return read


# SLEEP stands for a sleep that never ends; the number says how many of them there will be.
@pytest.mark.parametrize(
    ("command", "count"),
    [
        ("SLEEP; :", 1),
        ("(SLEEP & SLEEP & wait); :", 2),
        ("trap '' TERM INT HUP; while :; do sleep 0.01; done", 0),
        ("kill -STOP $$", 0),
        ("exec >&- 2>&-; SLEEP", 1),
        ("set -m; SLEEP & wait", 1),
        ("set -m; (SLEEP & SLEEP & wait) & wait", 2),
        ("setsid SLEEP; :", 1),
        ("setsid bash -c 'SLEEP & wait'; :", 1),
        ("SLEEP | SLEEP", 2),
        ("exec SLEEP", 1),
    ],
)
def test_b1_b2_b3_b17_b18_a_timeout_ends_every_process(
    command: str, count: int, tmp_path: Path, pids: Path
) -> None:
    now = time_is_up(lambda: written(pids)() and len(sleepers()) == count)
    command = command.replace("SLEEP", f"sleep {LONG}")
    result = execute(bash_in(tmp_path, now=now), f"echo $$ >{pids}; {command}")
    assert (result.status, result.reason) == ("failed", "timeout")
    assert said(result) == "timed out after 30 s; the command was killed; there was no output"
    assert is_gone(read_pids(pids)[0])
    assert sleepers() == []
    assert zombie_children() == []


def test_the_time_limit_is_real(tmp_path: Path) -> None:
    result, seconds = timed(bash_in(tmp_path, timeout_seconds=0.2), f"sleep {LONG}")
    assert result.reason == "timeout"
    assert seconds >= 0.2


def sleepers() -> list[int]:
    """Every live process that sleeps for LONG: all of them were started by these tests."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if words == f"sleep\0{LONG}\0".encode() and not is_gone(int(entry.name)):
            found.append(int(entry.name))
    return found


@pytest.mark.parametrize(
    "start",
    [
        "nohup SLEEP >/dev/null 2>&1 & disown",
        "set -m; SLEEP >/dev/null 2>&1 &",
        "(SLEEP >/dev/null 2>&1 &)",
    ],
)
def test_b3_what_stays_in_the_session_is_stopped_when_the_shell_exits(
    start: str, tmp_path: Path
) -> None:
    start = start.replace("SLEEP", f"sleep {LONG}")
    result = execute(bash_in(tmp_path), f"{start}\necho hi")
    assert (result.status, result.output) == ("completed", "hi\n")
    assert KILLED in said(result)
    assert SURVIVED not in said(result)
    assert sleepers() == []


DAEMONS = [
    "setsid -f bash -c 'PID; exec SLEEP'",
    "setsid -f bash -c 'PID; exec SLEEP' >/dev/null 2>&1 </dev/null",
    "(setsid bash -c 'PID; (setsid bash -c \"PID; exec SLEEP\" &) ; exec SLEEP' >/dev/null 2>&1 &)",
    "setsid -f bash -c 'trap \"\" HUP TERM; PID; while :; do SLEEP & wait; done' >/dev/null 2>&1",
]


@pytest.mark.parametrize("daemon", DAEMONS)
@pytest.mark.parametrize("ending", ["exit", "timeout", "cancelled"])
def test_b3_a_daemon_that_closed_its_pipes_is_stopped_and_told(
    daemon: str, ending: str, tmp_path: Path, pids: Path
) -> None:
    """It has left the group and the session, and its parent is gone: only Linux still knows it."""
    count = daemon.count("PID")
    start = daemon.replace("PID", f"echo $$ >>{pids}").replace("SLEEP", f"sleep {LONG}")
    wait = f"until [ -e {pids} ] && [ $(wc -l <{pids}) = {count} ]; do sleep 0.01; done"
    cancel = CancelToken()

    def is_there() -> bool:
        there = pids.exists() and len(read_pids(pids)) == count
        if there and ending == "cancelled":
            cancel.cancel("user")
        return there and ending == "timeout"

    command = f"{start}\n{wait}" + ("" if ending == "exit" else f"; sleep {LONG}")
    result = execute(bash_in(tmp_path, now=time_is_up(is_there)), command, running_call(cancel))
    wanted = ("completed", None) if ending == "exit" else ("failed", ending)
    assert (result.status, result.reason) == wanted
    assert KILLED in said(result)
    assert SURVIVED not in said(result)
    assert all(is_gone(pid) for pid in read_pids(pids))
    assert sleepers() == []
    assert zombie_children() == []


def test_children_that_are_not_of_the_command_are_left_alone(tmp_path: Path) -> None:
    """Neither those of before, nor those that other threads start, which may have ended."""
    others: list[subprocess.Popen[bytes]] = []
    is_over = threading.Event()

    def start(own_session: bool) -> None:
        others.append(subprocess.Popen(["sleep", str(LONG)], start_new_session=own_session))
        (tmp_path / f"started{len(others)}").touch()

    def start_and_end() -> None:
        start(own_session=False)

    def start_and_stay() -> None:
        ending.start()
        ending.join()
        start(own_session=True)
        is_over.wait()

    ending, staying = (
        threading.Thread(target=start_and_end),
        threading.Thread(target=start_and_stay),
    )
    daemon = f"setsid -f bash -c 'touch daemon; exec sleep {LONG}' >/dev/null 2>&1"
    command = f"echo ready; {daemon}; until [ -e started3 -a -e daemon ]; do sleep 0.01; done"
    try:
        start(own_session=True)
        bash = bash_in(tmp_path, live=True)
        result = execute(bash, command, running_call(show=lambda stream, text: staying.start()))
        assert KILLED in said(result)
        assert [other.poll() for other in others] == [None] * 3
        assert sorted(sleepers()) == sorted(other.pid for other in others)
    finally:
        is_over.set()
        for other in others:
            other.kill()
            other.wait()


def test_outside_the_first_thread_a_daemon_is_told_by_its_pipe(tmp_path: Path, pids: Path) -> None:
    command = f"setsid -f bash -c 'echo $$ >{pids}; exec sleep {LONG}'"
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(execute, bash_in(tmp_path), command).result()
    assert SURVIVED in said(result)
    os.kill(read_pids(pids)[0], signal.SIGKILL)


def test_after_a_run_orphans_go_to_whom_they_went_before(tmp_path: Path) -> None:
    subreaper = ctypes.c_int(-1)
    execute(bash_in(tmp_path), "true")
    assert ctypes.CDLL(None).prctl(37, ctypes.byref(subreaper), 0, 0, 0) == 0
    assert subreaper.value == 0


def test_b4_the_snapshot_is_taken_before_the_first_signal(
    tmp_path: Path, pids: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once its parent is dead, nothing ties a process of another session to the command."""
    order: list[str] = []
    snapshot, kill_group = survivors.snapshot, survivors.kill_group

    def note_snapshot(session: int) -> list[survivors.Member]:
        order.append("snapshot")
        return snapshot(session)

    def note_kill(group: int) -> bool:
        order.append("kill")
        return kill_group(group)

    monkeypatch.setattr(survivors, "snapshot", note_snapshot)
    monkeypatch.setattr(survivors, "kill_group", note_kill)
    bash = bash_in(tmp_path, now=time_is_up(written(pids)))
    execute(bash, f"setsid bash -c 'echo $$ >{pids}; exec sleep {LONG}'; :")
    assert order[:2] == ["snapshot", "kill"]
    assert is_gone(read_pids(pids)[0])


def test_b6_a_group_that_is_gone_is_no_fault() -> None:
    process = subprocess.Popen(["true"], start_new_session=True)
    process.wait()
    assert survivors.kill_group(process.pid) is False
    survivors.kill(survivors.Member(process.pid, os.getpid(), process.pid, 1))


def test_b6_a_number_that_another_process_has_taken_is_left_alone() -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        survivors.kill(survivors.Member(other.pid, os.getpid(), other.pid, start=1))
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(0.05)
        other.kill()


def test_b7_an_interrupt_right_after_the_start_kills_the_whole_group(
    tmp_path: Path, pids: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    popen = subprocess.Popen

    def interrupted(*args: object, **options: object) -> object:
        process = popen(*args, **options)  # type: ignore[call-overload]
        assert os.getpgid(process.pid) == process.pid == os.getsid(process.pid)
        started.append(process.pid)
        signal.raise_signal(signal.SIGINT)
        return process

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    cancel = CancelToken()
    result = execute(bash_in(tmp_path), f"sleep {LONG} & sleep {LONG}", running_call(cancel))
    assert (result.status, result.reason, cancel.by) == ("failed", "cancelled", "user")
    assert is_gone(started[0])
    assert zombie_children() == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_b11_every_interrupt_during_a_run_leads_to_one_result(tmp_path: Path) -> None:
    """The interrupts come from the command itself, so they arrive while it is watched."""
    twice = f"kill -INT {os.getpid()}; sleep 0.01; kill -INT {os.getpid()}; sleep {LONG}"
    model = ScriptedModel(
        [ModelTurn(tool_calls=(ToolCall("call-1", "bash", arguments(twice)),)), ModelTurn("no")]
    )
    runner = AgentRunner(model, ToolBox([bash_in(tmp_path)], granted=["bash"]))
    result = runner.run("go")
    assert result.stop_reason == "cancelled"
    results = [event.payload for event in result.events if event.type == "tool.result"]
    assert [(made["status"], made["reason"]) for made in results] == [("failed", "cancelled")]
    assert [message.role for message in result.messages] == ["user", "assistant", "tool"]
    assert sum(event.type == "cancel.request" for event in result.events) == 1
    assert zombie_children() == []


@pytest.mark.parametrize("reading", range(12))
def test_b12_a_keyboard_interrupt_anywhere_still_kills_and_reaps(
    reading: int, tmp_path: Path, pids: Path
) -> None:
    before = open_descriptors()
    now = clock(0.2, at=reading, fault=KeyboardInterrupt())
    bash = bash_in(tmp_path, timeout_seconds=1, now=now)
    cancel = CancelToken()
    result = execute(bash, f"echo $$ >{pids}; sleep {LONG}", running_call(cancel))
    assert result.status == "failed"
    assert result.reason in ("cancelled", "timeout")  # an interrupted cleanup keeps its cause
    assert result.reason == "timeout" or cancel.by == "user"
    assert not pids.exists() or all(is_gone(pid) for pid in read_pids(pids))
    assert zombie_children() == []
    assert open_descriptors() == before


def test_b12_interrupts_do_reach_the_wait_and_the_cleanup(tmp_path: Path) -> None:
    """What the test above relies on: the first readings of its clock fall into the wait."""
    cancel = CancelToken()
    bash = bash_in(tmp_path, now=clock(0.2, at=2, fault=KeyboardInterrupt()))
    result = execute(bash, f"sleep {LONG}", running_call(cancel))
    assert (result.reason, cancel.by) == ("cancelled", "user")


def test_b8_any_other_exception_kills_and_reaps_on_its_way_out(tmp_path: Path) -> None:
    before = open_descriptors()
    bash = bash_in(tmp_path, now=clock(0.01, at=3, fault=SystemExit(143)))
    with pytest.raises(SystemExit, match="143"):
        execute(bash, f"sleep {LONG} & sleep {LONG}")
    assert sleepers() == []
    assert zombie_children() == []
    assert open_descriptors() == before


def test_a_cancellation_from_elsewhere_stops_the_command(tmp_path: Path) -> None:
    cancel = CancelToken()
    bash = bash_in(tmp_path, live=True)
    call = running_call(cancel, lambda stream, text: cancel.cancel("policy"))
    result = execute(bash, f"echo ready; sleep {LONG}", call)
    assert (result.status, result.reason, result.output) == ("failed", "cancelled", "ready\n")
    assert said(result) == "cancelled; the command was killed"
    assert cancel.by == "policy"


def test_a_cancellation_ends_the_wait_for_leftovers_too(tmp_path: Path) -> None:
    """On this clock the wait never ends by itself; the leftover speaks once the shell is dead."""
    cancel = CancelToken()
    bash = bash_in(tmp_path, live=True, now=lambda: 0.0)
    call = running_call(cancel, lambda stream, text: cancel.cancel("user"))
    dead = "until grep -q '^State:.Z' /proc/$$/status; do sleep 0.001; done"
    result = execute(bash, f"({dead}; echo late; sleep {LONG}) &", call)
    assert (result.reason, result.output) == ("cancelled", "late\n")
    assert sleepers() == []


def test_a_sweep_finds_whoever_came_after_the_snapshot() -> None:
    with subprocess.Popen(["sleep", str(LONG)], start_new_session=True) as late:
        assert survivors.sweep(late.pid, []) is True
        assert late.wait() == -signal.SIGKILL


def test_a_sweep_that_cannot_kill_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survivors, "kill", lambda member: None)
    monkeypatch.setattr(survivors, "PAUSES", (0.0, 0.0))
    with subprocess.Popen(["sleep", str(LONG)], start_new_session=True) as stubborn:
        assert survivors.sweep(stubborn.pid, survivors.snapshot(stubborn.pid)) is False
        stubborn.kill()


def test_b13_sixteen_calls_leave_no_zombie_and_no_descriptor(tmp_path: Path) -> None:
    commands = ["true", "exit 3", "kill -9 $$", f"sleep {LONG} & echo hi >&2"] * 4
    calls = tuple(
        ToolCall(f"call-{number}", "bash", arguments(command))
        for number, command in enumerate(commands)
    )
    model = ScriptedModel([ModelTurn(tool_calls=calls), ModelTurn("done", stop=True)])
    before = open_descriptors()
    result = AgentRunner(model, ToolBox([bash_in(tmp_path)], granted=["bash"])).run("go")
    assert result.stop_reason == "completed"
    assert sum(event.type == "tool.result" for event in result.events) == 16
    assert zombie_children() == []
    assert open_descriptors() == before


def test_a_hundred_calls_leave_no_descriptor(tmp_path: Path) -> None:
    bash = bash_in(tmp_path)
    execute(bash, "true")
    before = open_descriptors()
    for _ in range(100):
        assert execute(bash, "true").exit_code == 0
    assert open_descriptors() == before


def test_b15_no_descriptor_of_the_harness_reaches_the_command(tmp_path: Path) -> None:
    with open(tmp_path / "lock", "w") as lock:
        os.set_inheritable(lock.fileno(), True)
        result = execute(bash_in(tmp_path), "readlink /proc/$$/fd/{0..200}; true")
    targets = result.output.split()
    assert targets[0] == "/dev/null"
    assert [target.partition(":")[0] for target in targets[1:]] == ["pipe", "pipe"]


def test_the_shell_leads_a_session_without_a_terminal(tmp_path: Path) -> None:
    result = execute(bash_in(tmp_path), "cut -d' ' -f6,7 /proc/$$/stat; echo $$; : </dev/tty")
    stdout = result.output.partition("[stderr]")[0].splitlines()
    session, terminal = stdout[1].split()
    assert session == stdout[2]
    assert terminal == "0"
    assert "/dev/tty" in result.output
    assert result.status == "failed"


def test_a_leftover_that_pours_out_text_is_an_overflow_and_is_stopped(tmp_path: Path) -> None:
    result = execute(bash_in(tmp_path), "yes & echo hi")
    assert (result.status, result.reason, result.truncated) == ("failed", "output-limit", True)
    assert SURVIVED not in said(result)


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without /proc and pidfds, as macOS: only the group can be seen and stopped."""

    def absent(pid: int) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", absent)
    monkeypatch.setattr(survivors, "snapshot", lambda session: [])
    monkeypatch.setattr(survivors, "can_look", lambda: False)
    monkeypatch.setattr(survivors, "session_is_empty", lambda session, fd: False)


@pytest.mark.usefixtures("blind")
def test_without_proc_and_pidfds_the_bounds_hold_for_the_group(tmp_path: Path, pids: Path) -> None:
    assert execute(bash_in(tmp_path), "echo hi; exit 3").exit_code == 3
    assert execute(bash_in(tmp_path), "kill -9 $$").exit_code == -9
    assert said(execute(bash_in(tmp_path), "true")) == "there was no output"
    left = execute(bash_in(tmp_path), f"sleep {LONG} & echo $! >>{pids}; echo hi")
    assert (left.status, left.output) == ("completed", "hi\n")
    assert KILLED in said(left)
    now = time_is_up(lambda: len(read_pids(pids)) == 3)
    late = execute(bash_in(tmp_path, now=now), f"sleep {LONG} & echo $! $$ >>{pids}; sleep {LONG}")
    assert late.reason == "timeout"
    assert zombie_children() == []
    for pid in read_pids(pids):
        assert_gone_soon(pid)


def assert_gone_soon(pid: int) -> None:
    """Without /proc nobody waits for the orphans of a killed group: give the kernel its moment."""
    with contextlib.suppress(ProcessLookupError):
        fd = PIDFD_OPEN(pid)
        select.select([fd], [], [], 10)
        os.close(fd)
    assert is_gone(pid)
