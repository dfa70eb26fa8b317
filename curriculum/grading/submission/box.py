"""A box for one submission: a copy of the package, and the processes that grade on it.

The copy holds no solutions, and of hidden tests nothing at all: their source goes to the process
that runs them through a pipe.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from curriculum.grading.cli.catalogue import ROOT
from curriculum.grading.submission.isolation import (
    ENV,
    LIMITS,
    PACKAGE,
    PYTHON,
    SITE,
    inside,
    packages,
)

LEFT_OUT = ("solutions.py", "__pycache__", "mino", "hints*.toml")


class Box:
    """A folder with the copy of the package, and the processes that run on it, one at a time."""

    def __init__(self, folder: Path, kind: str) -> None:
        self._root, self._package, self._kind = folder / "root", folder / "package", kind
        self._root.mkdir()
        copy_package(self._package)

    def put(self, lesson: str, text: bytes) -> None:
        """The submitted exercises of a lesson; they are all that is taken from a submission."""
        (self._package / "curriculum" / "lessons" / lesson / "exercises.py").write_bytes(text)

    def start(self, code: str, words: Sequence[str], fd: int) -> subprocess.Popen[bytes]:
        """Run `code` by a bare Python with the package on its path; `fd` stays open in it."""
        bound = self._kind != LIMITS
        package = PACKAGE if bound else str(self._package)
        site = SITE if bound else packages()
        code = f"import sys; sys.path[:0] = [{package!r}]; sys.path += [{site!r}]; {code}"
        command = [PYTHON, "-I", "-S", "-B", "-c", code, *words]
        return subprocess.Popen(
            inside(self._kind, self._root, self._package, command) if bound else command,
            cwd=self._package,
            env=ENV,
            pass_fds=[fd],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it has started: its box with it, if it is in one."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    with contextlib.suppress(OSError):
        for pid in children.read_text().split():
            os.kill(int(pid), signal.SIGKILL)  # the first process of the box: the kernel ends all
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdin:
        with contextlib.suppress(OSError):
            process.stdin.close()


def copy_package(target: Path) -> None:
    """The package without the answers, readable for everybody."""
    ignore = shutil.ignore_patterns(*LEFT_OUT)
    shutil.copytree(ROOT / "curriculum", target / "curriculum", ignore=ignore)
    for path in (target, *target.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
