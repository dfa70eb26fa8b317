"""Ctrl+C at a bad moment, and output that nobody takes: one line and the right exit code."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.experiments.parts import ROOT, SMALL, command, python

SLOW = SMALL.replace(
    "steps = 2",
    'steps = 2\n[settings.tool]\nread_ms = 500\n[settings.clock]\nkind = "real"',
)
INTERRUPTED = "experiments: interrupted; run it again to go on\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SLOW)
    return path


def start(*arguments: str) -> subprocess.Popen[str]:
    """The command, in a process group of its own as a terminal would have it."""
    return subprocess.Popen(
        [sys.executable, "-m", "curriculum.experiments", *arguments],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_until(is_so: Callable[[], bool], running: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 100
    while not is_so():
        assert running.poll() is None, "it has ended before"
        assert time.monotonic() < deadline
        time.sleep(0.005)


def spawned(parent: int) -> list[int]:
    """Its children that run a task, or begin to: they may be importing just now."""
    found = []
    for tasks in Path(f"/proc/{parent}/task").glob("*/children"):
        try:
            pids = tasks.read_text().split()
            found += [pid for pid in pids if b"spawn_main" in _words(pid)]
        except OSError:
            continue
    return [int(pid) for pid in found]


def _words(pid: str) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def is_deaf(pid: int) -> bool:
    """Whether SIGINT is blocked there."""
    status = Path(f"/proc/{pid}/status").read_text()
    blocked = next(line for line in status.splitlines() if line.startswith("SigBlk:"))
    return bool(int(blocked.split()[1], 16) & 1 << (signal.SIGINT - 1))


@pytest.mark.parametrize("way", [("--jobs", "3"), ("--dask", "local", "--jobs", "1")])
def test_ctrl_c_while_workers_begin_is_one_line(
    way: tuple[str, ...], file: Path, tmp_path: Path
) -> None:
    running = start("run", str(file), "--out", str(tmp_path / "out"), *way)
    wait_until(lambda: bool(spawned(running.pid)), running)
    if way[0] == "--jobs":  # when it imports is luck; that it is deaf is not
        assert all(is_deaf(pid) for pid in spawned(running.pid))
    os.killpg(running.pid, signal.SIGINT)
    _, told = running.communicate(timeout=100)
    assert (running.returncode, told) == (130, INTERRUPTED)


LOADING = """
import builtins, signal, sys
from curriculum.experiments.__main__ import main
load = builtins.__import__

def interrupted(name, *rest):
    if name == "curriculum.experiments.plan":
        builtins.__import__ = load
        signal.raise_signal(signal.SIGINT)
    return load(name, *rest)

builtins.__import__ = interrupted
sys.exit(main(["list"]))
"""


def test_ctrl_c_while_all_is_loaded_says_nothing() -> None:
    ended = python(LOADING)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def test_nothing_is_said_of_semaphores_where_the_command_is_killed(
    file: Path, tmp_path: Path
) -> None:
    rows = tmp_path / "out" / "rows.jsonl"
    running = start("run", str(file), "--out", str(rows.parent), "--jobs", "2")
    wait_until(lambda: rows.exists() and bool(rows.read_bytes()), running)
    running.kill()
    _, told = running.communicate(timeout=100)  # to its end: of all that could say something
    assert "resource_tracker" not in told


@pytest.mark.parametrize("what", ["list", "run"])
def test_output_that_nobody_takes_is_one_line(what: str, file: Path, tmp_path: Path) -> None:
    words, done = [what], ""
    if what == "run":
        file.write_text(SMALL)
        words += [str(file), "--out", str(tmp_path / "out"), "--jobs", "1"]
        assert command(*words).returncode == 0
        done = "experiments: 12 of 12 runs are done already\n"
    begin = shlex.join([sys.executable, "-m", "curriculum.experiments", *words])
    for where, told in [
        (">/dev/full", f"{done}experiments: No space left on device\n"),
        (">&-", f"{done}experiments: standard output is closed\n"),
        (">/dev/full 2>&-", ""),
    ]:
        ended = subprocess.run(
            ["bash", "-c", f"{begin} {where}"],
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},  # buffered, as it is by itself
            stderr=subprocess.PIPE,
            text=True,
            timeout=100,
            check=False,
        )
        assert (ended.returncode, ended.stderr) == (74, told), where
