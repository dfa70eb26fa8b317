"""A throw-away copy of a checkout: there mutants are made and tried, and the checkout stays clean.

Mutants of code that ends processes may end the wrong ones. Where Linux lets us, each command runs
among processes of its own (a PID namespace): it can hurt nobody else, and nothing outlives it.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", ".cache", ".*_cache", ".hypothesis", "__pycache__", "mutants", "dist"
)
# mutmut gives a mutant (seconds its tests took + constant) * multiplier before it counts as hung.
SETTINGS = """
[tool.mutmut]
source_paths = ["curriculum"]
only_mutate = {files}
also_copy = {others}
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = ["-p", "no:cacheprovider", "-p", "under_mutmut"]
timeout_constant = 5.0
timeout_multiplier = 5.0
use_setproctitle = false
track_dependencies = false
use_git_change_detection = false
"""
# What pytest does besides under mutmut. It cannot be given back each id that it makes (quotes,
# escapes), and for mutmut an id that is not found is a kill: so parameters are numbered, unless
# a test names them itself. And a mutant may end mutmut: so who has begun is on record.
PLUGIN = """
import os

def pytest_make_parametrize_id(val, argname):
    return argname

def pytest_configure():
    with open("begun", "a") as begun:
        begun.write(os.environ.get("MUTANT_UNDER_TEST", "") + "\\n")
"""
ALONE = ["unshare", "--user", "--map-root-user", "--pid", "--mount-proc", "--fork", "--kill-child"]
AS_CHILD = ["sh", "-c", '"$@"; exit $?', "sh"]  # the first process of a namespace reaps for all


def copy_checkout(root: Path, copy: Path) -> None:
    shutil.copytree(root, copy, ignore=LEFT_OUT, symlinks=True)


def set_up_mutmut(copy: Path, files: Sequence[Path], tests: Sequence[str]) -> None:
    """Have mutmut change `files` of the copy, and try the mutants with `tests`."""
    (copy / "under_mutmut.py").write_text(PLUGIN, "utf-8")
    others = [x.name for x in copy.iterdir() if x.name not in ("curriculum", "tests")]
    settings = SETTINGS.format(
        files=json.dumps([str(path) for path in files]),
        others=json.dumps(sorted(others)),
        tests=json.dumps(list(tests)),
    )
    with (copy / "pyproject.toml").open("a", encoding="utf-8") as project:
        project.write(settings)


@functools.cache
def prefix() -> list[str]:
    """What to put before a command, so that it runs among processes of its own; else nothing."""
    if not shutil.which("unshare"):
        return []
    tried = subprocess.run([*ALONE, "true"], capture_output=True, check=False)
    return [] if tried.returncode else [*ALONE, *AS_CHILD]


def run_python(
    folder: Path, *arguments: str, log: Path, seconds: float | None = None
) -> int | None:
    """The exit code of `python ...` in `folder`, or None when it took longer than `seconds`."""
    # No bytecode is kept: of a file that changes twice a second it may be that of before.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTHONPATH", None)  # the copy's code, never the checkout's
    command = [*prefix(), sys.executable, *arguments]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            process.kill()
            process.wait()
