"""The targets by name: each takes bytes, returns a word for what became of them, or raises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.fuzz import arguments, session, sse, trace

TARGETS: dict[str, Callable[[bytes], str]] = {
    "sse": sse.check,
    "session": session.check,
    "trace": trace.check,
    "bash": arguments.check_bash,
    "read_file": arguments.check_read_file,
    "edit_file": arguments.check_edit_file,
}
CORPUS = Path(__file__).resolve().parent / "corpus"
MOST_BYTES = 512  # of one input


def saved(target: str) -> list[Path]:
    """The saved inputs of a target, each a file of its own."""
    return sorted(path for path in (CORPUS / target).iterdir() if path.is_file())
