"""A short soak: some seconds of what `python -m tests.soak` does for long."""

from __future__ import annotations

import subprocess
import sys

from tests.golden import ROOT
from tests.soak import leftovers


def test_nothing_is_left_over_after_some_turns() -> None:
    command = [sys.executable, "-m", "tests.soak", "--turns", "80", "--bash", "60", "--seed", "5"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert said["soak"] == "nothing is left over"
    assert int(said["turns"]) >= 80
    assert int(said["results"]) >= 60
    assert int(said["turns cancelled"]) > 0
    assert int(said["killed"]) > 0
    assert int(said["reopened"]) > 0


def test_what_is_left_over_is_found() -> None:
    assert leftovers.slope([(0, 10), (10, 30), (20, 50)]) == 2.0
    held = leftovers.open_descriptors()
    child = subprocess.Popen(["sleep", "600"], env={"MARK": "soak-left-over"})
    try:
        with open("/dev/null"):
            assert leftovers.open_descriptors() == held + 1
        assert str(child.pid) in leftovers.children()
        assert leftovers.marked("soak-left-over") == [child.pid]
    finally:
        child.kill()
        child.wait()
    assert leftovers.marked("soak-left-over") == []
