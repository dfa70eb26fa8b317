"""What goes into a bounded run and what comes out of it, with the bounds that nobody chooses."""

from __future__ import annotations

from curriculum.core.values import TYPE_CHECKING, value

if TYPE_CHECKING:
    from typing import Literal

    Cause = Literal["exit", "timeout", "output-limit", "cancelled"]

POLL_SECONDS = 0.1  # how late a cancellation may be noticed
BLIND_POLL_SECONDS = 0.01  # how late an exit may be, where there are no pidfds (macOS)
INHERITED_PIPE_SECONDS = 0.25
READ_BYTES = 64 * 1024
REAP_SECONDS = 2.0  # a killed process may hang in the kernel; nothing can hurry it


@value
class Launch:
    """Exactly what runs: the command, where, with which environment, within which bounds."""

    command: str
    directory: str
    environment: tuple[tuple[str, str], ...]
    timeout_seconds: float
    output_limit_bytes: int


@value
class Ending:
    """How a run ended.

    `code` is the exit code, negative for the signal that killed the shell, None when it was
    stopped by us or its status was lost. `held`: a pipe outlived the shell by 250 ms. `stopped`:
    the shell had left processes behind, and they were killed. `escaped`: somebody still runs.
    """

    cause: Cause
    code: int | None
    held: bool
    stopped: bool
    escaped: bool
