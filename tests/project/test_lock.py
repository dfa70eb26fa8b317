"""The lock installs on every Python that the project admits, its oldest patch release too."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[2]


def test_no_locked_package_refuses_a_python_that_the_project_admits() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == ">=3.11"
    locked = re.findall(r"^([a-z0-9._-]+)==", (ROOT / "requirements.lock").read_text(), re.M)
    asked = {name: distribution(name).metadata["Requires-Python"] or "" for name in locked}
    assert len(asked) > 50
    refused = {
        name: wanted
        for name, wanted in asked.items()
        if not all(map(SpecifierSet(wanted).contains, ("3.11.0", "3.12.0", "3.13.0")))
    }
    assert refused == {}
