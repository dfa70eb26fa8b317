"""Standard streams that are closed or full: one line that says so and a code, never a traceback."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden import ROOT
from tests.sessions.parts import saved_turn

DEMOS = sorted(path.name for path in (ROOT / "curriculum" / "lessons").glob("s0[1-6]_*"))
CLOSED = "standard output is closed"
FULL = "No space left on device"


def run(module: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a module in a shell; redirections among the words mean what they mean there."""
    command = f"{shlex.quote(sys.executable)} -m {module} {' '.join(words)}"
    return subprocess.run(
        ["/bin/sh", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=60
    )


def test_there_are_six_demos() -> None:
    assert len(DEMOS) == 6


@pytest.mark.parametrize("name", DEMOS)
@pytest.mark.parametrize(("where", "said"), [(">&-", CLOSED), (">/dev/full", FULL)])
def test_a_demo_whose_output_cannot_be_written_says_so(name: str, where: str, said: str) -> None:
    done = run(f"curriculum.lessons.{name}.demo", where)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert said in done.stderr


@pytest.mark.parametrize("name", DEMOS)
def test_a_demo_without_standard_error_runs_all_the_same(name: str) -> None:
    done = run(f"curriculum.lessons.{name}.demo", "2>&-")
    assert done.returncode == 0
    assert '"type":"session.stop"' in done.stdout.splitlines()[-1]


COMMANDS = ["list", "show s-1", "export s-1", "resume-id s-1"]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("where", "said"), [(">&-", CLOSED), (">/dev/full", FULL)])
def test_sessions_says_that_its_output_cannot_be_written(
    command: str, where: str, said: str, tmp_path: Path
) -> None:
    saved_turn(tmp_path, 1)
    done = run("curriculum.sessions", command, "--home", shlex.quote(str(tmp_path)), where)
    assert (done.returncode, done.stderr) == (74, f"curriculum.sessions: {said}\n")
    silent = "2>&-" if where == ">&-" else "2>/dev/full"
    done = run("curriculum.sessions", command, "--home", shlex.quote(str(tmp_path)), where, silent)
    assert done.returncode == 74


@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full"])
def test_what_sessions_cannot_say_changes_no_exit_code(where: str, tmp_path: Path) -> None:
    home = ["--home", shlex.quote(str(tmp_path))]
    assert run("curriculum.sessions", "list", *home, where).returncode == 0
    assert run("curriculum.sessions", "show s-1", *home, where).returncode == 66
    saved_turn(tmp_path, 1)
    with (tmp_path / "sessions" / "s-1.jsonl").open("ab") as file:
        file.write(b'{"torn')
    done = run("curriculum.sessions", "export s-1", *home, where)
    assert done.returncode == 0
    assert '"type":"session.stop"' in done.stdout.splitlines()[-1]
