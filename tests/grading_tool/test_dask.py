"""A class on a cluster: a scheduler and two workers, all processes of their own on loopback."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.experiments.test_dask import started, wait_for
from tests.golden import ROOT
from tests.grading_tool.test_class import FEW, command, generate, outcomes_in
from tests.grading_tool.test_submissions import left_over, wait_until

SCHEDULER = ("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0")
WORKER = ("--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard")


@pytest.fixture
def scheduler_process(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with started(*SCHEDULER, "--no-dashboard", cwd=tmp_path) as process:
        yield process


@pytest.fixture
def scheduler(scheduler_process: subprocess.Popen[str]) -> str:
    """The address of one without workers."""
    return wait_for(scheduler_process, "Scheduler at:").split()[-1]


@pytest.fixture
def workers(scheduler: str, tmp_path: Path) -> Iterator[list[int]]:
    """The pids of two."""
    with ExitStack() as stack:
        pids = []
        for name in ("one", "two"):
            words = ("distributed.cli.dask_worker", scheduler, *WORKER, "--name", name)
            folder = ("--local-directory", str(tmp_path / name))
            worker = stack.enter_context(started(*words, *folder, cwd=tmp_path))
            wait_for(worker, "Registered to:")
            pids.append(worker.pid)
        yield pids


def test_a_worker_that_is_killed_loses_no_submission_and_none_is_there_twice(
    scheduler: str, workers: list[int], tmp_path: Path
) -> None:
    names = ("good", "wrong", "exit 0", "endless", "unittest patched", "reads the solutions")
    earned = generate(tmp_path / "class", 12, names)
    (tmp_path / "class" / "broken.zip").write_bytes(b"no archive")
    words = [str(tmp_path / "class"), str(tmp_path / "out"), scheduler, str(workers[0]), "3"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.grading_tool.on_dask", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert not Path(f"/proc/{workers[0]}/exe").exists()
    assert Path(f"/proc/{workers[1]}/exe").exists()
    kept = {path.stem: json.loads(path.read_text()) for path in (tmp_path / "out").glob("*.json")}
    assert [report["fault"] for name, report in sorted(kept.items()) if name in earned] == [""] * 12
    assert outcomes_in(tmp_path / "out") == {**earned, "broken.zip": ""}
    assert sorted(done.stdout.split()) == sorted([*earned, "broken.zip"])
    wait_until(lambda: not left_over())


def test_the_command_goes_on_where_the_class_stopped(
    scheduler: str, workers: list[int], tmp_path: Path
) -> None:
    earned = generate(tmp_path / "class", 3, FEW)
    words = [str(tmp_path / "class"), "--lessons", "s01.a", "--dask", scheduler]
    done = command(*words)
    assert done.returncode == 0, done.stderr
    assert "3 submissions: 0 not graded" in done.stdout
    assert "3/3" in done.stderr
    assert outcomes_in(tmp_path / "class-reports") == earned
    report = tmp_path / "class-reports" / "student-001.json"
    before = report.stat().st_mtime_ns
    assert command(*words).stdout == done.stdout
    assert report.stat().st_mtime_ns == before


@pytest.mark.parametrize("missing", ["scheduler", "workers", "package"])
def test_a_cluster_that_is_not_there_is_told_in_one_line(
    missing: str, scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate(tmp_path / "class", 1, FEW)
    address, said = {
        "scheduler": ("tcp://127.0.0.1:9", "no scheduler answers"),
        "workers": (scheduler, "the scheduler has no workers; start some"),
        "package": (scheduler, "--dask needs the package distributed; run `make locked`"),
    }[missing]
    if missing == "package":
        (tmp_path / "hidden").mkdir()
        (tmp_path / "hidden" / "distributed.py").write_text("raise ImportError('not installed')")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "hidden"))
    done = command(str(tmp_path / "class"), "--dask", address)
    assert done.returncode == 3
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("ends", "code", "said"),
    [("scheduler", 3, "the scheduler is gone; what was graded is kept"), ("Ctrl+C", 130, "")],
)
def test_a_class_that_is_interrupted_keeps_what_was_graded(
    ends: str,
    code: int,
    said: str,
    scheduler: str,
    scheduler_process: subprocess.Popen[str],
    workers: list[int],
    tmp_path: Path,
) -> None:
    generate(tmp_path / "class", 9, ("good", "endless"))
    words = [str(tmp_path / "class"), "--lessons", "s01.a", "--dask", scheduler]
    instructor = subprocess.Popen(
        [sys.executable, "-m", "curriculum", "grade-class", *words],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert wait_for(instructor, "1/9").startswith("1/9")
        if ends == "scheduler":
            scheduler_process.kill()
        else:
            instructor.send_signal(signal.SIGINT)
        _, rest = instructor.communicate(timeout=60)
    finally:
        instructor.kill()
        instructor.communicate()
    told = [line for line in rest.splitlines() if "student-" not in line]
    assert instructor.returncode == code, rest
    assert len(told) == bool(said), rest
    assert said in rest
    assert list((tmp_path / "class-reports").glob("student-*.json"))


def test_a_worker_that_has_no_box_or_other_graders_is_given_nothing(
    scheduler: str, tmp_path: Path
) -> None:
    generate(tmp_path / "class", 1, FEW)
    hostile = tmp_path / "worker.py"
    for patch, said in (
        ("pools.best_box = grading.best_box = lambda: ''", "cannot be isolated on worker tcp://"),
        ("del pools._about_worker", "a worker has not what it takes"),
        ("pools.digest_of_graders = lambda: 'other'", "has another version of the curriculum"),
    ):
        hostile.write_text(
            "from curriculum.grading.submission import grading, pools\n"
            f"{patch}\n"
            "from distributed.cli.dask_worker import main\nmain()\n"
        )
        words = [sys.executable, str(hostile), scheduler, *WORKER]
        worker = subprocess.Popen(
            [*words, "--local-directory", str(tmp_path / "local")],
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            wait_for(worker, "Registered to:")
            done = command(str(tmp_path / "class"), "--dask", scheduler)
        finally:
            worker.terminate()
            worker.communicate()
        assert done.returncode == 3
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
        assert not (tmp_path / "class-reports" / "student-000.json").exists()
