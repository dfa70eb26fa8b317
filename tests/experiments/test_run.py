"""A run does what its settings say, leaves a valid trace, and comes out the same every time."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from curriculum.core.waiting import VirtualTime
from curriculum.experiments.perform import Outcome, perform
from curriculum.experiments.pool import Processes
from curriculum.experiments.settings import Value
from tests.experiments.parts import ROOT, SMALL, command, experiment, task_of


def deterministic(outcome: Outcome) -> tuple[object, ...]:
    numbers = {k: v for k, v in outcome.metrics.items() if not k.startswith("real_")}
    return outcome.run_id, outcome.stop, outcome.error, numbers, outcome.trace


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"fault__drop_percent": 60, "fault__drop_at": -1, "retry__attempts": 3},
        {"fault__busy_percent": 50, "retry__attempts": 5},
        {"model__calls": 8, "scheduler__kind": "parallel", "tool__read_ms": 50, "tool__spread": 50},
        {"model__turns": 5, "tool__output": 2000, "context__policy": "summarise"},
        {"model__turns": 5, "tool__output": 2000, "context__policy": "all"},
        {"model__repeats": True, "fault__every_call": 3},
        {"budget__money": 20_000, "budget__seconds": 5, "model__turns": 3},
        {"journal__kind": "session", "fault__disk_at": 5},
        {"fault__crash": True, "model__turns": 2, "tool__write_every": 1, "fault__loss": "vanish"},
    ],
)
def test_the_same_seed_gives_the_same_trace_and_numbers(settings: dict[str, Value]) -> None:
    task = task_of(**settings)
    assert deterministic(perform(task)) == deterministic(perform(task))


def test_a_drop_before_anything_was_shown_is_retried_and_a_later_one_is_not() -> None:
    early = task_of(fault__drop_percent=50, retry__attempts=20)
    late = task_of(fault__drop_percent=50, retry__attempts=20, fault__drop_at=1)
    assert perform(early).metrics["completed"] == 1
    assert perform(early).metrics["retry_ms"] > 0
    assert perform(late).metrics["completed"] == 0
    assert perform(late).error.startswith("model: the stream was dropped after 1 pieces")


def test_the_waits_of_a_retry_policy_are_part_of_the_run_s_time() -> None:
    found = perform(task_of(fault__drop_percent=50, retry__attempts=20, clock__event_us=0)).metrics
    assert found["elapsed_ms"] == found["retry_ms"] > 100


def test_a_virtual_wait_of_days_is_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []
    pass_us = VirtualTime.pass_us

    def count(time: VirtualTime, passed_us: int) -> None:
        steps.append(passed_us)
        pass_us(time, passed_us)

    monkeypatch.setattr(VirtualTime, "pass_us", count)
    task = task_of(model__steps=1, model__answer_ms=10**9, tool__read_ms=10**9, clock__event_us=0)
    assert perform(task).metrics["elapsed_ms"] == 3 * 10**9
    assert [step for step in steps if step] == [*[250 * 10**9] * 4, 10**12, *[250 * 10**9] * 4]


def test_a_stream_that_never_drops_asks_once_for_each_answer() -> None:
    assert perform(task_of(model__steps=4)).metrics["requests"] == 5


@pytest.mark.parametrize(("threads", "ms"), [(1, 800), (2, 400), (4, 200), (8, 100)])
def test_reads_that_overlap_take_as_long_as_the_longest_of_their_group(
    threads: int, ms: int
) -> None:
    task = task_of(
        model__steps=1,
        model__calls=8,
        tool__read_ms=100,
        scheduler__kind="parallel",
        scheduler__threads=threads,
        clock__event_us=0,
    )
    assert perform(task).metrics["tools_ms"] == ms


def test_every_third_call_fails_and_is_asked_for_again() -> None:
    found = perform(task_of(model__steps=5, model__repeats=True, fault__every_call=3)).metrics
    assert (found["calls"], found["failed_calls"], found["completed"]) == (7, 2, 1)


@pytest.mark.parametrize(
    ("policy", "denied", "seconds"),
    [("granted", 0, 0), ("all", 0, 48), ("reads", 2, 48), ("none", 8, 48)],
)
def test_a_policy_is_asked_about_each_call_and_that_takes_its_time(
    policy: str, denied: int, seconds: int
) -> None:
    found = perform(
        task_of(
            model__calls=2,
            tool__write_every=3,
            clock__event_us=0,
            approval__policy=policy,
            approval__answer_ms=6000,
        )
    ).metrics
    assert (found["completed"], found["calls"], found["denied_calls"]) == (1, 8, denied)
    assert found["elapsed_ms"] == 1000 * seconds


def test_a_provider_with_a_small_window_ends_a_run_that_keeps_everything() -> None:
    long = {"model__turns": 4, "tool__output": 2000, "model__window": 3000}
    assert perform(task_of(**long)).metrics["completed"] == 0
    dropped = perform(task_of(**long, context__policy="drop", context__limit=2500)).metrics
    assert dropped["completed"] == 1
    assert dropped["compactions"] > 0
    assert 0 < dropped["facts_kept"] < 1


def test_a_lost_disk_ends_the_run_with_a_journal_error() -> None:
    outcome = perform(task_of(journal__kind="session", fault__disk_at=4))
    assert (outcome.stop, outcome.metrics["records"]) == ("failed", 3)
    assert outcome.error.startswith("journal: ")


def test_a_budget_that_is_too_small_stops_with_its_own_reason() -> None:
    assert perform(task_of(budget__turns=2)).stop == "budget"


# -- the whole command


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.name not in ("results.csv", "results.parquet", "rows.jsonl", "lock")
    }


def rows_of(folder: Path) -> list[dict[str, object]]:
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_bytes().splitlines()]
    rows = [{k: v for k, v in row.items() if not k.startswith("real_")} for row in rows]
    return sorted(rows, key=lambda row: str(row["run_id"]))


def test_one_process_and_a_pool_write_the_same_page_plots_and_traces(
    file: Path, tmp_path: Path
) -> None:
    for jobs in ("1", "2"):
        ended = command("run", str(file), "--out", str(tmp_path / jobs), "--jobs", jobs)
        assert (ended.returncode, ended.stderr) == (0, "")
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    assert rows_of(tmp_path / "1") == rows_of(tmp_path / "2")
    assert len(list((tmp_path / "1" / "traces").glob("*.jsonl"))) == 12


def test_every_trace_validates_and_the_table_has_every_run(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert command("run", str(file), "--out", str(out), "--jobs", "1").returncode == 0
    traces = sorted(str(path) for path in (out / "traces").iterdir())
    judged = subprocess.run(
        [sys.executable, "-m", "curriculum.trace", "validate", *traces],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert judged.returncode == 0, judged.stdout
    with open(out / "results.csv", newline="") as table:
        rows = list(csv.DictReader(table))
    assert [row["run_id"] for row in rows] == [task.run_id for task in experiment().tasks()]
    assert {row["completed"] for row in rows} == {"0", "1"}


def test_the_page_holds_its_plots_and_asks_nothing_of_a_network(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert command("run", str(file), "--out", str(out), "--jobs", "1").returncode == 0
    page = (out / "report.html").read_text()
    assert page.count("<svg") == 2
    assert "<script" not in page
    for plot in (out / "plots").iterdir():
        root = ET.fromstring(plot.read_text())
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert plot.read_text() in page


def test_a_finished_experiment_is_not_done_again(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command("run", str(file), "--out", str(out), "--jobs", "1")
    before = (out / "rows.jsonl").read_bytes()
    again = command("run", str(file), "--out", str(out), "--jobs", "1")
    assert again.stderr == "experiments: 12 of 12 runs are done already\n"
    assert (out / "rows.jsonl").read_bytes() == before


def test_results_of_another_version_of_the_experiment_are_left_alone(
    file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command("run", str(file), "--out", str(out), "--jobs", "1")
    before = contents(out)
    file.write_text(SMALL.replace("steps = 2", "steps = 3"))
    ended = command("run", str(file), "--out", str(out), "--jobs", "1")
    assert ended.returncode == 73
    assert "another version of this one; give another --out" in ended.stderr
    assert contents(out) == before


@pytest.mark.parametrize("kept", [1, 4, 7, 11])
def test_after_a_kill_no_run_is_lost_and_none_is_done_twice(
    file: Path, tmp_path: Path, kept: int
) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    command("run", str(file), "--out", str(whole), "--jobs", "1")
    env = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": "1"}
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.experiments.killed", str(file), str(out), str(kept)],
        cwd=ROOT,
        env=env,
    )
    assert running.wait(60) == -signal.SIGKILL
    workers = (tmp_path / "workers").read_text().split()
    assert len(workers) == 2
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}/exe").exists() for pid in workers):
        assert time.monotonic() < deadline, "a worker outlives the process that started it"
        time.sleep(0.01)
    left = (out / "rows.jsonl").read_bytes()
    assert left.count(b"\n") == kept
    assert not left.endswith(b"\n")  # it was killed in the middle of a row
    names = {json.loads(line)["run_id"] for line in left.splitlines()[:kept]}
    stamps = {name: os.stat(out / "traces" / f"{name}.jsonl").st_ino for name in names}
    ended = command("run", str(file), "--out", str(out), "--jobs", "2")
    assert ended.returncode == 0
    assert ended.stderr == f"experiments: {kept} of 12 runs are done already\n"
    assert (out / "rows.jsonl").read_bytes().startswith(left[: left.rfind(b"\n") + 1])
    assert {n: os.stat(out / "traces" / f"{n}.jsonl").st_ino for n in names} == stamps
    assert len(rows_of(out)) == 12
    assert rows_of(out) == rows_of(whole)
    assert contents(out) == contents(whole)


def test_a_worker_that_dies_costs_no_run_of_the_pool() -> None:
    tasks = experiment().tasks()
    ended = []
    for task, outcome in Processes(2).run(tasks, False):
        if not ended:
            victim = multiprocessing.active_children()[0].pid
            assert victim is not None
            os.kill(victim, signal.SIGKILL)
        assert isinstance(outcome, Outcome)
        ended.append(task.run_id)
    assert sorted(ended) == sorted(task.run_id for task in tasks)


def test_a_second_start_is_refused_while_the_first_one_runs(file: Path, tmp_path: Path) -> None:
    import fcntl

    out = tmp_path / "out"
    out.mkdir()
    with open(out / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ended = command("run", str(file), "--out", str(out))
    assert ended.returncode == 75
    assert ended.stderr.endswith("another process runs this experiment; wait for it\n")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_is_one_line_and_the_next_start_goes_on(
    jobs: str, file: Path, tmp_path: Path
) -> None:
    slow = 'steps = 2\n[settings.tool]\nread_ms = 200\n[settings.clock]\nkind = "real"'
    file.write_text(SMALL.replace("steps = 2", slow))
    out = tmp_path / "out"
    running = subprocess.Popen(
        [
            *(sys.executable, "-m", "curriculum.experiments", "run", str(file)),
            *("--out", str(out), "--jobs", jobs),
        ],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not (out / "rows.jsonl").exists() or not (out / "rows.jsonl").read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert (running.returncode, told) == (130, "experiments: interrupted; run it again to go on\n")
    before = rows_of(out)
    assert 0 < len(before) < 12
    assert all(row["stop"] != "cancelled" for row in before)
    assert command("run", str(file), "--out", str(out)).returncode == 0
    assert len(rows_of(out)) == 12


def test_a_row_that_cannot_be_read_is_told_and_nothing_is_overwritten(
    file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command("run", str(file), "--out", str(out), "--jobs", "1")
    damaged = b"what\n" + (out / "rows.jsonl").read_bytes()
    (out / "rows.jsonl").write_bytes(damaged)
    ended = command("run", str(file), "--out", str(out))
    assert (ended.returncode, ended.stderr.count("\n")) == (73, 1)
    assert "line 1 is no row; put the file right" in ended.stderr
    assert (out / "rows.jsonl").read_bytes() == damaged
