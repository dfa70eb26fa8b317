"""Whatever a test leaves running is ended by its process id."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.running import is_gone, read_pids


@pytest.fixture
def pids(tmp_path: Path) -> Iterator[Path]:
    """A file that commands write process ids to; who still lives afterwards is killed."""
    path = tmp_path / "pids"
    yield path
    if path.exists():
        for pid in read_pids(path):
            if not is_gone(pid):
                os.kill(pid, signal.SIGKILL)
