"""The exercises as handed out are tidy; what a learner makes of them is never judged for style."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.golden import ROOT
from tests.prose.shell import handed_out

MODULES = """\
[[tool.mypy.overrides]]
module = ["curriculum.lessons.*.exercises"]
ignore_errors = true"""
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


def test_stubs_have_the_types_that_the_graders_expect(tmp_path: Path) -> None:
    """mypy, strict, on what is handed out in place of what the learner has made of it."""
    settings = (ROOT / "pyproject.toml").read_text("utf-8")
    assert MODULES in settings
    config = tmp_path / "pyproject.toml"
    config.write_text(settings.replace(MODULES, "").replace('packages = ["curriculum"]', ""))
    words = [sys.executable, "-m", "mypy", "--config-file", str(config)]
    words += ["--cache-dir", str(tmp_path / "cache"), "--follow-imports", "silent"]
    for number, name in enumerate(STUBS):
        copy = tmp_path / f"stub_{number}.py"
        copy.write_bytes(handed_out(ROOT, name))
        words += ["--shadow-file", name, str(copy)]
        words += ["--module", name.removesuffix(".py").replace("/", ".")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)
    found = f"Success: no issues found in {len(STUBS)} source files\n"
    assert (done.returncode, done.stdout) == (0, found), done.stdout + done.stderr


def test_make_lint_does_not_look_at_them() -> None:
    looked_at = ruff("check", "--show-files", ".").stdout
    assert "solutions.py" in looked_at
    assert "exercises.py" not in looked_at
