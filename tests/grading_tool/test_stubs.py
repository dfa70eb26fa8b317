"""The exercises as handed out are tidy; what a learner makes of them is never judged for style."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.golden import ROOT
from tests.prose.shell import handed_out

STUBS = sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("curriculum/lessons/*/exercises.py"))


def ruff(*words: str) -> subprocess.CompletedProcess[str]:
    words = (sys.executable, "-m", "ruff", *words)
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_stubs_are_linted_and_formatted_as_handed_out(tmp_path: Path) -> None:
    assert STUBS
    copies = []
    for number, name in enumerate(STUBS):
        copy = tmp_path / f"stub_{number}.py"
        copy.write_bytes(handed_out(ROOT, name))
        copies.append(str(copy))
    config = ["--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    for done in (ruff("check", *config, *copies), ruff("format", "--check", *config, *copies)):
        assert done.returncode == 0, done.stdout + done.stderr


def test_make_lint_does_not_look_at_them() -> None:
    looked_at = ruff("check", "--show-files", ".").stdout
    assert "solutions.py" in looked_at
    assert "exercises.py" not in looked_at
