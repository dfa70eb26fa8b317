"""Runs on a cluster: a scheduler and two workers, all processes of their own on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.experiments.parts import ROOT, SMALL, command
from tests.experiments.test_run import contents, rows_of

LONG = SMALL.replace("steps = 2", "steps = 3\n[settings.tool]\nread_ms = 50").replace(
    "[matrix.fault]", '[settings.clock]\nkind = "real"\n[matrix.fault]'
)


@contextmanager
def started(*arguments: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """A part of a cluster; its stderr is there to be read line by line."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=cwd,
        env=environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(process: subprocess.Popen[str], words: str) -> str:
    """The first line of its log with these words."""
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            return line
    raise AssertionError(f"ended before it said {words!r}")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[int]]]:
    """(address of the scheduler, pids of two workers and of the scheduler)."""
    with ExitStack() as stack:
        scheduler = stack.enter_context(
            started(
                *("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"),
                "--no-dashboard",
                cwd=tmp_path,
            )
        )
        address = wait_for(scheduler, "Scheduler at:").split()[-1]
        pids = []
        for name in ("one", "two"):
            worker = stack.enter_context(
                started(
                    *("distributed.cli.dask_worker", address, "--host", "127.0.0.1"),
                    *("--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name),
                    *("--local-directory", str(tmp_path)),
                    cwd=tmp_path,
                )
            )
            wait_for(worker, "Registered to:")
            pids.append(worker.pid)
        yield address, [*pids, scheduler.pid]


def test_a_worker_that_is_killed_loses_no_run_and_none_is_done_twice(
    cluster: tuple[str, list[int]], tmp_path: Path
) -> None:
    address, (victim, other, _) = cluster
    file, out = tmp_path / "long.toml", tmp_path / "out"
    file.write_text(LONG)
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "tests.experiments.on_dask", str(file), str(out)),
            *(address, str(victim), "3"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert Path(f"/proc/{other}").exists()
    lines = (out / "rows.jsonl").read_bytes().splitlines()
    assert len(lines) == len({json.loads(line)["run_id"] for line in lines}) == 12
    assert len(list((out / "traces").glob("*.jsonl"))) == 12


def test_a_cluster_gives_the_same_results_as_one_process(
    cluster: tuple[str, list[int]], tmp_path: Path
) -> None:
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    here, there = tmp_path / "here", tmp_path / "there"
    assert command("run", str(file), "--out", str(here), "--jobs", "1").returncode == 0
    ended = command("run", str(file), "--out", str(there), "--dask", cluster[0])
    assert ended.returncode == 0, ended.stderr
    assert rows_of(here) == rows_of(there)
    assert contents(here) == contents(there)


def test_a_scheduler_that_is_lost_is_told_in_one_line_and_the_next_start_goes_on(
    cluster: tuple[str, list[int]], tmp_path: Path
) -> None:
    address, (_, _, scheduler) = cluster
    file, out = tmp_path / "long.toml", tmp_path / "out"
    file.write_text(LONG)
    running = subprocess.Popen(
        [
            *(sys.executable, "-m", "curriculum.experiments", "run", str(file)),
            *("--out", str(out), "--dask", address),
        ],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (out / "rows.jsonl").exists() or not (out / "rows.jsonl").read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(scheduler, signal.SIGKILL)
    _, told = running.communicate(timeout=60)
    line = f"experiments: --dask {address}: the scheduler was lost; run it again to go on\n"
    assert (running.returncode, told) == (69, line)
    done = len(rows_of(out))
    assert 0 < done < 12
    ended = command("run", str(file), "--out", str(out), "--jobs", "2")
    assert ended.stderr == f"experiments: {done} of 12 runs are done already\n"
    assert len(rows_of(out)) == 12


def test_a_scheduler_that_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    out = str(tmp_path / "out")
    ended = command("run", str(file), "--out", out, "--dask", "tcp://127.0.0.1:9")
    assert ended.returncode == 69
    assert ended.stderr.startswith("experiments: --dask tcp://127.0.0.1:9: no scheduler answers")
    assert ended.stderr.count("\n") == 1
