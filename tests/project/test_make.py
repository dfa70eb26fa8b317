"""`make` from a fresh checkout: sets up once, is repaired when cut short, says in one line why not.

The checkout is a copy of what git tracks, in a folder with a space in its name, with an empty HOME
and next to nothing in the environment. Nothing here needs the network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import golden

BASE_PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
# A stub is a real Python that is made to look older, or to lack a module.
OLD = """#!/bin/sh
exec "{python}" -c 'import sys; sys.version_info = (3, 10, 13); exec(sys.argv.pop(1))' "$2" "$3"
"""
LACKING = """#!/bin/sh
PYTHONPATH="{folder}" exec "{python}" "$@"
"""


class Checkout:
    """A copy of the project, and what `make` needs to run in it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "a check out"
        self.bin = folder / "bin"
        home = folder / "empty home"
        for path in (self.root, self.bin, home):
            path.mkdir()
        (self.bin / "python3").symlink_to(BASE_PYTHON)
        self.env = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(home)}
        tracked = subprocess.run(
            ["git", "ls-files", "-z"], cwd=golden.ROOT, check=True, capture_output=True, text=True
        )
        for name in filter(None, tracked.stdout.split("\0")):
            if (golden.ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(golden.ROOT / name, self.root / name)

    def make(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["make", *arguments],
            cwd=self.root,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def stub(self, text: str, **names: object) -> str:
        """Write an executable in place of a Python; returns its path."""
        path = self.bin / "stub"
        path.write_text(text.format(python=BASE_PYTHON, **names))
        path.chmod(0o755)
        return str(path)

    def lacking(self, module: str) -> str:
        """A Python in which `import module` fails."""
        folder = self.bin / f"no {module}"
        folder.mkdir()
        (folder / f"{module}.py").write_text("raise ImportError('not here')\n")
        return self.stub(LACKING, folder=folder)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def assert_demo(run: subprocess.CompletedProcess[str]) -> None:
    kept = (golden.GOLDEN / "s01_agent_loop.jsonl").read_text("utf-8")
    assert run.returncode == 0, run.stderr
    assert run.stdout.endswith(kept)
    assert run.stderr == ""


def assert_one_line(run: subprocess.CompletedProcess[str], *parts: str) -> None:
    """Failed, with one line of ours; make adds its own `make: *** ...`."""
    ours = [line for line in run.stderr.splitlines() if not line.startswith("make: ***")]
    assert run.returncode != 0
    assert run.stdout == ""
    assert len(ours) == 1, run.stderr
    for part in ("set-up: ", *parts):
        assert part in ours[0]


def test_demo_runs_twice_and_is_set_up_once(checkout: Checkout) -> None:
    assert_demo(checkout.make("demo"))
    made = checkout.root / ".venv" / ".python"
    first = made.stat()
    assert_demo(checkout.make("demo"))
    assert made.stat().st_mtime_ns == first.st_mtime_ns
    assert made.stat().st_ino == first.st_ino


def test_demo_installs_no_package(checkout: Checkout) -> None:
    assert_demo(checkout.make("demo"))
    assert list(checkout.root.glob(".venv/lib/*/site-packages/*")) == []
    assert list(Path(checkout.env["HOME"]).iterdir()) == []


def test_set_up_compiles_the_package_even_if_python_is_told_not_to(checkout: Checkout) -> None:
    assert_demo(checkout.make("demo", PYTHONDONTWRITEBYTECODE="1"))
    assert list(checkout.root.glob("curriculum/core/__pycache__/loop.*.pyc"))


def test_a_moved_checkout_is_not_set_up_again(checkout: Checkout) -> None:
    assert_demo(checkout.make("demo"))
    checkout.root = checkout.root.rename(checkout.root.with_name("moved away"))
    made = (checkout.root / ".venv" / ".python").stat().st_mtime_ns
    assert_demo(checkout.make("demo"))
    assert (checkout.root / ".venv" / ".python").stat().st_mtime_ns == made


@pytest.mark.parametrize("lost", [".python", "bin/python", "pyvenv.cfg", "bin"])
def test_a_set_up_cut_short_is_done_again(checkout: Checkout, lost: str) -> None:
    assert_demo(checkout.make("demo"))
    path = checkout.root / ".venv" / lost
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert_demo(checkout.make("demo"))
    assert path.exists()


def test_another_python_is_set_up_when_asked_for(checkout: Checkout) -> None:
    assert_demo(checkout.make("demo"))
    stamp = checkout.root / ".venv" / ".python"
    stamp.write_text("3.11.0 /another/python\n")
    assert_demo(checkout.make("demo"))
    assert stamp.read_text() == "3.11.0 /another/python\n"  # no wish, so what is there will do
    assert_demo(checkout.make("demo", PYTHON=BASE_PYTHON))
    assert stamp.read_text().endswith(f" {BASE_PYTHON}\n")


def test_an_active_environment_does_not_remove_itself(checkout: Checkout) -> None:
    assert_demo(checkout.make("demo"))
    (checkout.root / ".venv" / ".python").unlink()
    path = f"{checkout.root / '.venv' / 'bin'}:{checkout.env['PATH']}"
    assert_demo(checkout.make("demo", PATH=path))


@pytest.mark.parametrize("target", ["demo", "test", "lint"])
def test_a_python_too_old_is_one_line(checkout: Checkout, target: str) -> None:
    run = checkout.make(target, PYTHON=checkout.stub(OLD))
    assert_one_line(run, "older than Python 3.11", "install Python 3.11")


def test_a_python_too_old_is_one_line_also_after_set_up(checkout: Checkout) -> None:
    assert_demo(checkout.make("demo"))
    assert_one_line(checkout.make("demo", PYTHON=checkout.stub(OLD)), "older than Python 3.11")


def test_no_python_is_one_line(checkout: Checkout) -> None:
    run = checkout.make("demo", PYTHON="/nowhere/python3")
    assert_one_line(run, "/nowhere/python3 is missing", "install Python 3.11")


@pytest.mark.parametrize("target", ["demo", "test"])
def test_no_venv_is_one_line(checkout: Checkout, target: str) -> None:
    run = checkout.make(target, PYTHON=checkout.lacking("venv"))
    assert_one_line(run, "has no venv", "apt install python3-venv")


def test_a_python_without_pip_is_enough_for_the_demo(checkout: Checkout) -> None:
    python = checkout.lacking("ensurepip")
    assert_demo(checkout.make("demo", PYTHON=python))
    assert_one_line(checkout.make("test", PYTHON=python), "has no venv", "python3-venv")


def test_a_folder_that_cannot_be_written_is_one_line(checkout: Checkout) -> None:
    # Root may write anywhere, so it is mkdir that refuses.
    (checkout.bin / "mkdir").write_text("#!/bin/sh\nexit 1\n")
    (checkout.bin / "mkdir").chmod(0o755)
    assert_one_line(checkout.make("demo"), "cannot write .venv")


def test_the_log_of_a_failure_is_shown_when_asked_for(checkout: Checkout) -> None:
    # A venv that is there, and fails when it is run.
    (checkout.bin / "venv.py").write_text("if __name__ == '__main__': raise SystemExit('full')\n")
    path = str(checkout.bin)
    assert_one_line(checkout.make("demo", PYTHONPATH=path), "could not make .venv", "VERBOSE=1")
    loud = checkout.make("demo", PYTHONPATH=path, VERBOSE="1")
    assert loud.stderr.startswith("full\nset-up: ")


def test_packages_that_cannot_be_installed_are_one_line(checkout: Checkout) -> None:
    unreachable = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_RETRIES": "0",
    }
    run = checkout.make("test", **unreachable)
    note, *_ = run.stderr.splitlines(True)
    assert note == "set-up: installing requirements.lock into .venv (once; one to five minutes)\n"
    run.stderr = run.stderr.removeprefix(note)
    assert_one_line(run, "pip could not install requirements.lock: No matching distribution")
    assert not (checkout.root / ".venv" / ".locked").exists()
    assert_demo(checkout.make("demo"))


def test_packages_are_installed_once_and_the_end_is_told(checkout: Checkout) -> None:
    (checkout.root / "requirements.lock").write_text("--no-index\n")
    run = checkout.make("locked")
    first, last = run.stderr.splitlines()
    assert first.startswith("set-up: installing requirements.lock into .venv ")
    assert re.fullmatch(r"set-up: done in \d+ s", last)
    assert (run.returncode, run.stdout) == (0, "")
    again = checkout.make("locked")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_what_pip_says_is_in_the_one_line(checkout: Checkout) -> None:
    (checkout.root / "requirements.lock").write_text("--no-index\nsome-package==1.0\n")
    run = checkout.make("locked")
    run.stderr = "".join(run.stderr.splitlines(True)[1:])
    assert_one_line(
        run, "pip could not install requirements.lock: No matching distribution found for some-"
    )


def test_clean_removes_whatever_git_does_not_want(checkout: Checkout) -> None:
    ignored = [line for line in (golden.ROOT / ".gitignore").read_text().split() if line[-1] == "/"]
    assert {".venv/", ".benchmarks/"} <= set(ignored)
    # What a learner has read and written is not ours to remove, nor what took long to fetch.
    spared = {".curriculum/", ".cache/"}
    for name in ignored:
        (checkout.root / name).mkdir()
    run = checkout.make("clean")
    assert (run.returncode, run.stderr) == (0, "")
    kept = {name for name in ignored if (checkout.root / name).exists()}
    assert kept == spared & set(ignored)


def test_help_lists_every_target(checkout: Checkout) -> None:
    run = checkout.make()
    listed = {line.split()[1] for line in run.stdout.splitlines()}
    assert {"help", "demo", "test", "lint", "traces", "validate", "clean"} <= listed
