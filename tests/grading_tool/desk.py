"""A learner's checkout to try the commands in: handed out afresh, with git, edited by tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.golden import ROOT
from tests.prose.shell import handed_out

FIRST = "curriculum/lessons/s01_agent_loop/exercises.py"
KEPT = ("s01_agent_loop", "s02_streaming", "s03_bash_tool")
DONE_A = "return runner.model.requests[0]"
DONE_B = """\
from curriculum.core.messages import ModelTurn, ToolCall
    from curriculum.core.model import ScriptedModel
    from curriculum.core.loop import AgentConfig
    turns = [ModelTurn(tool_calls=(ToolCall(f"c{n}", "fiction"),)) for n in range(max_turns)]
    config = AgentConfig(max_turns=max_turns, max_tool_calls=max_turns)
    return AgentRunner(ScriptedModel(turns), config=config).run(prompt)"""


class Desk:
    """A copy of the package with some lessons; commands run as a learner runs them."""

    def __init__(self, root: Path, kept: Sequence[str] = KEPT) -> None:
        self.root = root
        ignore = shutil.ignore_patterns("__pycache__", "mino")
        shutil.copytree(ROOT / "curriculum", root / "curriculum", ignore=ignore)
        for folder in (root / "curriculum" / "lessons").glob("s??_*"):
            if folder.name not in kept:
                shutil.rmtree(folder)
                (root / "curriculum" / "tests" / f"test_{folder.name[:3]}.py").unlink()
                continue
            name = f"curriculum/lessons/{folder.name}/exercises.py"
            (root / name).write_bytes(handed_out(ROOT, name))

    def commit(self) -> None:
        """Put all of it into a git repository."""
        who = ["-c", "user.name=Learner", "-c", "user.email=learner@example.org"]
        for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "as handed out"]):
            subprocess.run(["git", *words], cwd=self.root, check=True)

    @property
    def env(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root),
            "PYTHONDONTWRITEBYTECODE": "1",
            "LANG": "C.UTF-8",
        }

    def run(
        self, *words: str, bare: bool = True, solutions: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """One command; `bare` hides all installed packages from it, `solutions` grades those."""
        flags = ["-S"] if bare else []
        return subprocess.run(
            [sys.executable, *flags, "-m", "curriculum", *words],
            cwd=self.root,
            env={**self.env, **({"CURRICULUM_SOLUTIONS": "1"} if solutions else {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def ok(self, *words: str) -> str:
        """What a command prints that has to end well."""
        done = self.run(*words)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
        return done.stdout

    def solve(self, name: str, body: str) -> None:
        """Replace the NotImplementedError of one function by `body`."""
        text = (self.root / FIRST).read_text("utf-8")
        before, define, rest = text.partition(f"def {name}(")
        assert define
        rest = rest.replace("raise NotImplementedError", body, 1)
        (self.root / FIRST).write_text(before + define + rest, "utf-8")
