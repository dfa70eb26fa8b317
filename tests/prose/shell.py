"""Runs the commands of a page as a reader would: in a fresh copy of the project, from its root.

`python3` is a bare Python, `.venv/bin/python` the locked environment that runs the tests. The
environment holds PATH, HOME and LANG and nothing else. Exercises are as they were handed out: a
learner who has done some, and committed them, still finds the pages true.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from curriculum.grading.exercise import is_stub
from tests.prose.page import Fence

BASE_PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
COMMAND_SECONDS = 120
EXERCISES = re.compile(r"curriculum/lessons/\w+/exercises\.py")


@dataclass(frozen=True)
class Command:
    """What a reader enters at `line`, and the output that the page shows below `under`.

    A line of a `console` block has its output right under it, a `sh` block in the `output` block
    that follows; `under` is None where there is none.
    """

    line: int
    text: str
    output: tuple[str, ...]
    under: int | None = None


def commands_of(fences: Sequence[Fence]) -> list[Command]:
    """The commands of a page, in order: each `$ ` line of a `console` block, each `sh` block.

    Raises ValueError where a block has no command, or cannot be copied as it stands.
    """
    commands: list[Command] = []
    before = ""
    for fence in fences:
        if fence.language == "console":
            commands += _entered(fence.line, fence.lines)
        elif fence.language == "sh":
            commands.append(Command(fence.line, "\n".join(fence.lines), ()))
        elif fence.language == "output":
            if before != "sh":
                raise ValueError(f"line {fence.line}: an output block follows its sh block")
            commands[-1] = replace(commands[-1], output=fence.lines, under=fence.line)
        before = fence.language
    return commands


def _entered(line: int, body: tuple[str, ...]) -> list[Command]:
    """The commands of a console block whose fence opens on `line`."""
    commands: list[Command] = []
    for number, shown in enumerate(body, line + 1):
        if shown.startswith("$ "):
            commands.append(Command(number, shown[2:], (), number))
        elif not commands:
            raise ValueError(f"line {number}: a console block starts with a line '$ command'")
        elif (shown + " ").startswith("> ") and not commands[-1].output:
            raise ValueError(
                f"line {number}: a command of several lines cannot be copied with its '> '; "
                "put it into a sh block, and what it prints into an output block after it"
            )
        else:
            commands[-1] = replace(commands[-1], output=(*commands[-1].output, shown))
    return commands


def matches(shown: tuple[str, ...], real: str) -> bool:
    """Is `real` what the page shows? A line `...` is one line or more, `…` is text in a line."""
    pattern = "".join(
        r"(?:[^\n]*\n)+?"
        if line == "..."
        else "[^\n]+?".join(re.escape(part) for part in line.split("…")) + "\n"
        for line in shown
    )
    if real and not real.endswith("\n"):
        real += "\n"
    return re.fullmatch(pattern, real) is not None


class Shell:
    """A copy of the project under `folder` in which commands are run."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = folder / "checkout"
        home, programs = folder / "home", folder / "bin"
        for path in (self.root, home, programs):
            path.mkdir(parents=True)
        (programs / "python3").symlink_to(BASE_PYTHON)
        self._env = {
            "PATH": f"{programs}:/usr/bin:/bin",
            "HOME": str(home),
            "LANG": "C.UTF-8",
        }
        for name in _files(root):
            copy = self.root / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, copy)
            if EXERCISES.fullmatch(name):
                copy.write_bytes(handed_out(root, name))
        locked = self.root / ".venv" / "bin" / "python"
        locked.parent.mkdir(parents=True)
        locked.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
        locked.chmod(0o755)
        (self.root / ".venv" / ".python").touch()

    def run(self, command: str) -> tuple[str, int]:
        """Run a command; returns what it printed (both streams) and its exit code."""
        done = subprocess.run(
            ["/bin/bash", "--noprofile", "--norc", "-c", command],
            cwd=self.root,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=COMMAND_SECONDS,
        )
        return done.stdout.decode(errors="replace"), done.returncode


def _files(root: Path) -> list[str]:
    """What git tracks, and what it would if it were told to."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    return [name for name in listed.stdout.split("\0") if name and (root / name).is_file()]


def handed_out(root: Path, name: str) -> bytes:
    """The newest version of the exercises, of this folder or of any commit, with nothing done."""
    text = (root / name).read_bytes()
    if _is_untouched(text):
        return text
    listed = ["git", "log", "--format=%H", "--", name]
    commits = subprocess.run(listed, cwd=root, check=True, capture_output=True, text=True)
    for commit in commits.stdout.split():
        kept = subprocess.run(["git", "show", f"{commit}:{name}"], cwd=root, capture_output=True)
        if kept.returncode == 0 and _is_untouched(kept.stdout):
            return kept.stdout
    raise AssertionError(f"no commit here has {name} as it was handed out; fetch the whole history")


def _is_untouched(text: bytes) -> bool:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    defined = [
        node.name if isinstance(node, ast.FunctionDef | ast.ClassDef) else ast.unparse(node.target)
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AnnAssign)
    ]
    return bool(defined) and all(is_stub(tree, name) for name in defined)
