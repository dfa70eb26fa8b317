"""What the model is told of a run: status, code, output, and the harness's own notes.

A status never claims more than is known: only exit code 0 within every bound is `completed`, and a
shell killed by a signal has the negative signal number as its code, which no `exit N` can give.
"""

from __future__ import annotations

import os
import signal

from curriculum.core.tools import ToolResult
from curriculum.core.values import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curriculum.core.tools import ResultStatus
    from curriculum.tools.bounds import Ending, Launch
    from curriculum.tools.capture import Capture


def report(launch: Launch, capture: Capture, ending: Ending) -> ToolResult:
    code = ending.code
    status: ResultStatus = "completed"
    reason: str | None = None
    if ending.cause != "exit":
        status, reason = "failed", ending.cause
    elif code is None:
        status = "unknown"
    elif code:
        status, reason = "failed", ("signal" if code < 0 else None)
    notes = (*_how_it_ended(launch, ending), *_what_is_left(ending), *_what_was_printed(capture))
    return ToolResult(status, _labelled(capture), code, capture.overflowed, reason, notes)


def _how_it_ended(launch: Launch, ending: Ending) -> Iterator[str]:
    if ending.cause == "timeout":
        yield f"timed out after {launch.timeout_seconds:g} s; the command was killed"
    elif ending.cause == "output-limit":
        kept = f"the first {launch.output_limit_bytes} bytes"
        yield f"output limit: only {kept} were kept, and what still ran was killed"
    elif ending.cause == "cancelled":
        yield "cancelled; the command was killed"
    elif ending.code is None:
        yield "the exit status was lost, as the harness runs with SIGCHLD ignored"
    elif ending.code < 0:
        yield f"killed by {_signal_name(-ending.code)}"


def _what_is_left(ending: Ending) -> Iterator[str]:
    if ending.held:
        yield "a leftover process kept the output open after the shell had exited"
    if ending.stopped:
        yield "processes left running in the background were killed"
    if ending.escaped:
        yield "still running: a process that left the shell's session or cannot be killed"


def _what_was_printed(capture: Capture) -> Iterator[str]:
    if capture.sizes["stderr"]:
        yield ", ".join(f"{stream}: {size} bytes" for stream, size in capture.sizes.items())
    elif not capture.sizes["stdout"]:
        yield "there was no output"


def _labelled(capture: Capture) -> str:
    """stdout as it is; with anything on stderr, both under a line that names them.

    The text cannot forge the sizes in the notes, which say where one ends and the other begins.
    """
    stdout, stderr = capture.text("stdout"), capture.text("stderr")
    if not stderr:
        return stdout
    if not stdout:
        return f"[stderr]\n{stderr}"
    end = "" if stdout.endswith("\n") else "\n"
    return f"[stdout]\n{stdout}{end}[stderr]\n{stderr}"


def _signal_name(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} (signal {number})"
    except ValueError:
        return f"signal {number}"


def shown_path(path: str) -> str:
    r"""A path that can be written as UTF-8: bytes that are no UTF-8 are shown as `\xff`."""
    return os.fsencode(path).decode(errors="backslashreplace")
