"""A fresh desk for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.grading_tool.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    root = tmp_path / "a learner's checkout"
    root.mkdir()
    return Desk(root)
