"""Runs `python -m curriculum.trace` as a user would, and fails at any traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.golden import ROOT

COMMAND = (sys.executable, "-m", "curriculum.trace")


def run(
    *arguments: str | Path, data: bytes = b"", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one command to its end, with `data` on its standard input."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=ROOT,
        input=data,
        capture_output=True,
        timeout=120,
        env={**os.environ, **(env or {})},
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )
