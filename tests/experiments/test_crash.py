"""What a crash leaves, and what each replay rule tells of it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from curriculum.experiments.crash import run_until_crash
from curriculum.experiments.faults import WatchedDisk
from curriculum.experiments.perform import perform
from curriculum.experiments.plan import Task
from curriculum.experiments.settings import complete
from tests.experiments.parts import task_of

SETTINGS = {"fault.crash": True, "model.turns": 2, "model.steps": 2, "tool.write_every": 1}


class Killed(WatchedDisk):
    """A disk whose last step is the real end of the process."""

    def step(self, act, half=None):  # type: ignore[no-untyped-def]
        if self._is_armed and self.steps + 1 == self._dies_at:
            if self._half and half:
                half()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().step(act, half)


def bytes_after(home: Path) -> bytes:
    (file,) = (home / "sessions").glob("*.jsonl")
    return file.read_bytes()


@pytest.mark.parametrize("step", [1, 2, 6, 7, 8, 9, 20, 31])
@pytest.mark.parametrize("half", [False, True])
def test_a_dead_disk_leaves_the_same_bytes_as_a_real_kill(
    step: int, half: bool, tmp_path: Path
) -> None:
    task = task_of(**{name.replace(".", "__"): value for name, value in SETTINGS.items()})
    played, real = tmp_path / "played", tmp_path / "real"
    run_until_crash(task, str(played), WatchedDisk(), step, half=half)
    child = os.fork()
    if not child:
        try:
            run_until_crash(task, str(real), Killed(), step, half=half)
        finally:
            os._exit(70)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
    assert bytes_after(played) == bytes_after(real)


def outcomes(**more: bool | str) -> list[dict[str, int | float]]:
    given = {**SETTINGS, **{name.replace("__", "."): value for name, value in more.items()}}
    tasks = [Task(f"run-{n}", (), n, n, complete(given)) for n in range(40)]
    return [dict(perform(task).metrics) for task in tasks]


def test_with_evidence_no_effect_of_a_synced_session_is_ever_lost_or_denied() -> None:
    found = outcomes(journal__rule="with-evidence", fault__loss="vanish")
    assert sum(one["effects"] for one in found) > 40
    assert sum(one["lost_effects"] + one["denied_effects"] for one in found) == 0


def test_completed_only_loses_the_effects_of_the_turn_that_was_cut_and_tells_the_user() -> None:
    found = outcomes(journal__rule="completed-only")
    lost = [one for one in found if one["lost_evidence"]]
    assert len(lost) > 20
    assert all(one["user_told"] for one in lost)


def test_what_was_never_synced_is_lost_under_any_rule() -> None:
    found = outcomes(journal__rule="with-evidence", journal__sync=False, fault__loss="vanish")
    assert all(one["lost_effects"] == one["effects"] for one in found)
    assert sum(one["effects"] for one in found) > 40
