"""SIGKILL in and after every step of the disk and of the tool; then everything is checked.

Steps are each open, write, sync and truncate, and each effect of the tool, of turns with one to
three calls; then the same again during recovery. With "vanish" and "zeros" the machine goes down
too: what was not synced is gone, or is zeros up to the end of the line.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.golden import ROOT
from tests.sessions.parts import (
    Marker,
    QuickDisk,
    StrictModel,
    file_of,
    marks,
    records_of,
    reopen,
    runner_of,
    saved_turn,
)

Kill = dict[str, Any]
MOST_STEPS = 80


class Victims:
    """Runs jobs in children of one helper process."""

    def __init__(self) -> None:
        self.kills = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.sessions.victim"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, home: Path, what: str, calls: int, step: int, phase: str, loss: str) -> bool:
        """True if the job was killed at that step, False if it has no such step."""
        assert self._process.stdin
        assert self._process.stdout
        job = {"home": str(home), "what": what, "calls": calls, "step": step, "phase": phase}
        self._process.stdin.write(json.dumps({**job, "loss": loss}) + "\n")
        self._process.stdin.flush()
        end = json.loads(self._process.stdout.readline())
        assert end in ({"signal": 9}, {"exit": 0}), f"{job}: {end}"
        self.kills += end == {"signal": 9}
        return end == {"signal": 9}

    def close(self) -> None:
        self._process.communicate(timeout=60)


@pytest.fixture(scope="module")
def victims() -> Iterator[Victims]:
    helper = Victims()
    yield helper
    helper.close()


def without_times(data: bytes) -> list[dict[str, Any]]:
    return [{**record, "timestamp": ""} for record in records_of(data)]


def crash_points(
    victims: Victims, base: Path, what: str, calls: int, loss: str, start: Path | None = None
) -> Iterator[Path]:
    """A home for each point at which the process was killed, unless another left just the same."""
    seen: set[tuple[tuple[str, bytes], ...]] = set()
    for phase in ("half", "after"):  # after one step is before the next
        for step in range(1, MOST_STEPS):
            home = base / f"{phase}-{step}"
            if start:
                shutil.copytree(start, home)
            else:
                home.mkdir(parents=True)
            if not victims.run(home, what, calls, step, phase, loss):
                break
            left = tuple(sorted((p.name, p.read_bytes()) for p in home.rglob("*") if p.is_file()))
            if left not in seen:
                seen.add(left)
                yield home
            shutil.rmtree(home)
        else:
            raise AssertionError("the job never came to its end")
        shutil.rmtree(home)


def expected_results(before: list[dict[str, Any]], calls: int) -> dict[str, str]:
    """The status of each call on disk before the restart, by the rule of the lesson."""
    answered = any(r["kind"] == "model_response" and r["data"]["tool_calls"] for r in before)
    started = {r["data"]["call_id"] for r in before if r["kind"] == "tool_start"}
    finished = {
        r["data"]["call_id"]: r["data"]["status"] for r in before if r["kind"] == "tool_result"
    }
    names = [f"call-{n}" for n in range(calls)] if answered else []
    return {
        name: finished.get(name) or ("unknown" if name in started else "not_executed")
        for name in names
    }


def records_before(data: bytes) -> list[dict[str, Any]]:
    """What reached the disk: whole lines, none with the zeros of bytes that did not."""
    lines = data[: data.rfind(b"\n") + 1].splitlines(keepends=True)
    return records_of(b"".join(line for line in lines if b"\0" not in line))


def check_after_crash(home: Path, calls: int) -> None:
    """Whatever was left behind: it opens, tells the truth, reruns nothing, and goes on."""
    path = file_of(home)
    ran = marks(home / "marks")
    before = records_before(path.read_bytes()) if path.exists() else []
    kept = int((home / "kept").read_text() or 0) if (home / "kept").exists() else 0
    if not path.exists():
        assert (kept, ran) == (0, []), "a session that was vouched for has gone"
        return
    store = reopen(home, disk=QuickDisk())
    store.close()
    first = path.read_bytes()
    after = records_of(first)
    assert len(after) >= kept, "a record that was vouched for has gone"
    assert after[0]["kind"] == "session"
    results = [r["data"] for r in after if r["kind"] == "tool_result"]
    statuses = {data["call_id"]: data["status"] for data in results}
    assert len(results) == len(statuses), "two results for one call"
    assert statuses == expected_results(before, calls)
    starts = [r["data"]["call_id"] for r in after if r["kind"] == "tool_start"]
    assert len(ran) == len(set(ran)), "a call ran twice"
    assert set(ran) <= set(starts), "a call ran without a start on disk"
    assert all(name in ran for name, status in statuses.items() if status == "completed")
    inputs = sum(r["kind"] == "user_input" for r in after)
    assert inputs == sum(r["kind"] == "turn_end" for r in after)
    for rule in ("completed-only", "with-evidence"):
        with reopen(home, rule, disk=QuickDisk()) as store:
            assert path.read_bytes() == first, "recovery changed its mind"
            assert not store.recovery.turn_id
            assert store.recovery.torn_bytes == 0
    go_on(home, statuses, ran)


def go_on(home: Path, statuses: dict[str, str], ran: list[str]) -> None:
    """The next request is accepted under both rules, and nothing is run again."""
    path = file_of(home)
    data = path.read_bytes()
    for rule in ("completed-only", "with-evidence"):
        path.write_bytes(data)
        with reopen(home, rule, disk=QuickDisk()) as store:
            waiting = [outcome.call.call_id for outcome in store.unacknowledged]
            assert waiting == [name for name, status in statuses.items() if status == "unknown"]
            for outcome in store.unacknowledged:
                store.acknowledge(outcome)
            model = StrictModel()
            result = runner_of(store, model, Marker(home / "marks")).run("and now?")
            assert result.error is None
            told = {m.call_id for m in model.requests[0] if m.role == "tool"}
            completed = b'"turn_end"' in data and b'"status":"completed"}}' in data.splitlines()[-1]
            expected = set(statuses) if rule == "with-evidence" or completed else set()
            assert told == expected
    assert marks(home / "marks") == ran
    path.write_bytes(data)


@pytest.mark.parametrize("loss", ["kept", "vanish", "zeros"])
@pytest.mark.parametrize("calls", [1, 2, 3])
def test_a_crash_at_any_step_of_a_turn_is_recovered(
    victims: Victims, calls: int, loss: str, tmp_path: Path
) -> None:
    before = victims.kills
    for home in crash_points(victims, tmp_path, "run", calls, loss):
        check_after_crash(home, calls)
    records = 5 + 2 * calls
    assert victims.kills - before > 2 * 2 * records, "a write and a sync each, half and whole"


@pytest.mark.parametrize("loss", ["kept", "vanish"])
@pytest.mark.parametrize("calls", [1, 2, 3])
def test_a_crash_at_any_step_of_recovery_is_recovered(
    victims: Victims, calls: int, loss: str, tmp_path: Path
) -> None:
    """Each crash of a turn, and then each crash of opening what it left behind."""
    before = victims.kills
    for start in crash_points(victims, tmp_path / "run", "run", calls, "kept"):
        if not file_of(start).exists():
            continue
        tail = file_of(start).read_bytes().rpartition(b"\n")[2]
        whole = tmp_path / "whole"
        shutil.copytree(start, whole)
        reopen(whole, disk=QuickDisk()).close()
        expected = without_times(file_of(whole).read_bytes())
        shutil.rmtree(whole)
        for home in crash_points(victims, tmp_path / "again", "recover", calls, loss, start):
            reopen(home, disk=QuickDisk()).close()
            assert without_times(file_of(home).read_bytes()) == expected
            assert marks(home / "marks") == marks(start / "marks")
            torn = [path.read_bytes() for path in file_of(home).parent.glob("*.torn-*")]
            assert len(torn) == len(set(torn)) <= 2, "the same tail was set aside twice"
            assert not tail or tail in torn, "what was set aside has gone"
    assert victims.kills - before > 75 * calls


def test_the_check_sees_a_call_that_ran_without_a_start(tmp_path: Path) -> None:
    """The matrix is not vacuous: a harness that acts before it writes is found out."""
    data = saved_turn(tmp_path, 1)
    file_of(tmp_path).write_bytes(b"".join(data.splitlines(keepends=True)[:3]))
    with pytest.raises(AssertionError, match="without a start"):
        check_after_crash(tmp_path, 1)


def test_the_check_sees_a_call_that_ran_twice(tmp_path: Path) -> None:
    saved_turn(tmp_path, 1)
    (tmp_path / "marks").write_text("call-0\ncall-0\n")
    with pytest.raises(AssertionError, match="ran twice"):
        check_after_crash(tmp_path, 1)


def test_the_check_sees_a_record_that_was_vouched_for_and_is_gone(tmp_path: Path) -> None:
    data = saved_turn(tmp_path, 1)
    file_of(tmp_path).write_bytes(b"".join(data.splitlines(keepends=True)[:4]))
    (tmp_path / "kept").write_text("7")
    with pytest.raises(AssertionError, match="vouched for"):
        check_after_crash(tmp_path, 1)
