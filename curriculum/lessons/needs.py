"""What a lesson needs beyond a bare Python, and the one line that says how to get it."""

from __future__ import annotations

import importlib.util


def without_httpx() -> str:
    """What to do where httpx is missing; "" where it is installed."""
    if importlib.util.find_spec("httpx"):
        return ""
    return "httpx is missing; run `make locked`, then the same command with .venv/bin/python"
