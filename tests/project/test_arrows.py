"""The contracts in pyproject.toml hold the arrows of the design, for packages yet to come too."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden import ROOT

PACKAGES = [
    "core",
    "tools",
    "sessions",
    "providers",
    "trace",
    "grading",
    "experiments",
    "mino",
    "lessons",
    "tests",
]
LINT = "from importlinter.cli import lint_imports_command as lint; lint()"
ALLOWED = {
    "tools": "core",
    "sessions": "core",
    "providers": "core",
    "trace": "core",
    "mino": "core tools sessions providers trace",
    "lessons": "core tools sessions providers trace grading experiments",
    "tests": "core lessons",
}


def lint(
    root: Path, arrows: dict[str, str], packages: list[str]
) -> subprocess.CompletedProcess[str]:
    """Lint a package whose folders import as `arrows` say, by this project's contracts."""
    shutil.copy(ROOT / "pyproject.toml", root)
    (root / "curriculum").mkdir()
    (root / "curriculum" / "__init__.py").touch()
    for package in packages:
        lines = [f"import curriculum.{target}\n" for target in arrows.get(package, "").split()]
        (root / "curriculum" / package).mkdir()
        (root / "curriculum" / package / "__init__.py").write_text("".join(lines))
    return subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache"], cwd=root, capture_output=True, text=True
    )


def test_arrows_of_the_design_are_allowed(tmp_path: Path) -> None:
    run = lint(tmp_path, ALLOWED, PACKAGES)
    assert run.returncode == 0, run.stdout


def test_packages_yet_to_come_may_be_absent(tmp_path: Path) -> None:
    run = lint(tmp_path, {}, ["core", "tools", "lessons", "tests"])
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("core", "tools"),
        ("core", "grading"),
        ("tools", "sessions"),
        ("sessions", "trace"),
        ("providers", "tools"),
        ("trace", "providers"),
        ("lessons", "mino"),
        ("mino", "lessons"),
        ("grading", "lessons"),
        ("experiments", "lessons"),
    ],
)
def test_any_other_arrow_is_refused(tmp_path: Path, source: str, target: str) -> None:
    run = lint(tmp_path, {source: target}, PACKAGES)
    assert run.returncode == 1, run.stdout
    assert f"curriculum.{source} -> curriculum.{target}" in run.stdout


def test_a_package_that_no_layer_names_is_refused(tmp_path: Path) -> None:
    run = lint(tmp_path, {}, [*PACKAGES, "helpers"])
    assert run.returncode == 1, run.stdout
    assert "helpers" in run.stdout
