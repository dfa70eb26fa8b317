"""The core and lessons s01 to s06 run on a bare Python, also where packages are installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden import ROOT

# In a fresh process: import the modules, run the demos among them, name what came from elsewhere.
# Lazy imports count too, so the demo is run. What `site` loads before us is not ours to answer for.
PROBE = """
import contextlib, importlib, io, json, sys
before = set(sys.modules)
root, *names = sys.argv[1:]
sys.path.insert(0, root)
with contextlib.redirect_stdout(io.StringIO()):
    for name in names:
        module = importlib.import_module(name)
        if name.endswith(".demo"):
            module.main()
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(json.dumps(sorted(loaded - {"curriculum", "__main__"} - sys.stdlib_module_names)))
"""


def foreign_modules(names: list[str], root: Path, *flags: str) -> list[str]:
    """Top-level modules outside the standard library and `curriculum` that `names` load."""
    run = subprocess.run(
        [sys.executable, "-I", *flags, "-c", PROBE, str(root), *names],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    found: list[str] = json.loads(run.stdout)
    return found


def modules_under(folder: Path) -> list[str]:
    """Dotted names of all modules in a package, itself included."""
    paths = (path.relative_to(ROOT).with_suffix("") for path in sorted(folder.rglob("*.py")))
    return [".".join(path.parts).removesuffix(".__init__") for path in paths]


BARE = [ROOT / "curriculum" / "core", *sorted(ROOT.glob("curriculum/lessons/s0[1-6]_*/"))]


@pytest.mark.parametrize("folder", BARE, ids=lambda folder: folder.name)
@pytest.mark.parametrize("flags", [["-S"], []], ids=["bare", "packages-installed"])
def test_only_the_standard_library_is_loaded(folder: Path, flags: list[str]) -> None:
    names = modules_under(folder)
    assert names
    assert foreign_modules(names, ROOT, *flags) == []


def test_the_check_sees_a_foreign_import(tmp_path: Path) -> None:
    (tmp_path / "curriculum").mkdir()
    (tmp_path / "curriculum" / "__init__.py").write_text("import sortedcontainers, json\n")
    assert foreign_modules(["curriculum"], tmp_path) == ["sortedcontainers"]


def test_the_check_sees_an_import_that_waits_for_the_demo_to_run(tmp_path: Path) -> None:
    (tmp_path / "curriculum").mkdir()
    (tmp_path / "curriculum" / "__init__.py").touch()
    (tmp_path / "curriculum" / "demo.py").write_text("def main():\n    import sortedcontainers\n")
    assert foreign_modules(["curriculum.demo"], tmp_path) == ["sortedcontainers"]
