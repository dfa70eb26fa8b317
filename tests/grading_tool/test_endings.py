"""A command ends with one line and the right code, whatever becomes of its output or of itself."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from curriculum.grading.cli.catalogue import ROOT
from tests.grading_tool.attacks import HEAD, body
from tests.grading_tool.desk import Desk

COMMANDS = ("", "grade", "hint s01.a", "solution --spoil s01.a", "start s01", "--help")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("where", "said"),
    [(">/dev/full", "No space left on device"), (">&-", "standard output is closed")],
    ids=["full", "closed"],
)
def test_output_that_cannot_be_written_is_one_line(
    command: str, where: str, said: str, desk: Desk
) -> None:
    line = f"{shlex.quote(sys.executable)} -S -m curriculum {command} {where}"
    done = subprocess.run(
        ["sh", "-c", line], cwd=desk.root, env=desk.env, stderr=subprocess.PIPE, text=True
    )
    assert (done.returncode, done.stderr) == (3, f"curriculum: {said}\n")


@pytest.mark.parametrize("seconds", ["1e300", "inf", "86401", "0", "nan"])
def test_a_time_has_to_be_one_that_can_be_waited_for(seconds: str, desk: Desk) -> None:
    done = desk.run("grade", "s01.a", "--timeout", seconds)
    assert done.returncode == 2
    assert "is no number of seconds above 0, at most 86400" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_who_is_ended_by_a_signal_leaves_no_box(number: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "class" / "one" / "s01_agent_loop" / "exercises.py"
    path.parent.mkdir(parents=True)
    path.write_text(HEAD + body("while True: pass"), "utf-8")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    words = ["grade-class", str(tmp_path / "class"), "--lessons", "s01.a", "--timeout", "3"]
    grader = subprocess.Popen(
        [sys.executable, "-m", "curriculum", *words],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        while not any(temporary.glob("curriculum-*/package/curriculum/lessons")):
            assert grader.poll() is None
        grader.send_signal(number)
        told, said = grader.communicate(timeout=120)
    finally:
        grader.kill()
        grader.wait()
    assert (grader.returncode, told, said) == (130, "", "")
    assert list(temporary.iterdir()) == []
