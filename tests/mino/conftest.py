"""A fresh desk for each test, and a look afterwards whether the key got anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mino.desk import KEY, Desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """J4 for every test: the planted key is in no file that mino wrote."""
    desk = Desk(tmp_path)
    yield desk
    for path in tmp_path.rglob("*"):
        if path.is_file() and not path.is_symlink() and "holds_the_key" not in path.parts:
            assert KEY.encode() not in path.read_bytes(), f"the key is in {path}"
