"""Standard streams that tell their faults: what was not written is never taken for written.

A closed standard input is empty, and a closed standard error takes everything. A standard output
that is closed or full is a fault, however Python buffers: `OutputError`, one line, an exit code.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import IO, TYPE_CHECKING

from curriculum.mino.exits import CLOSED_PIPE, NO_OUTPUT

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputError(OSError):
    """Standard output takes no more; not because its reader has gone."""


class _StandardOutput(io.FileIO):
    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as fault:
            if type(fault) is not OSError:  # BrokenPipeError, or a signal's handler
                raise
            raise OutputError(fault.errno, fault.strerror) from None


# region: streams
def prepare_streams() -> None:
    """UTF-8 whatever the locale is, and a stream in the place of one that is closed."""
    for name, flags, mode in (
        ("stdin", os.O_RDONLY, "r"),
        ("stdout", os.O_RDONLY, ""),  # whatever is written there fails
        ("stderr", os.O_WRONLY, "w"),
    ):
        if getattr(sys, name) is None:
            fd = os.open(os.devnull, flags)
            setattr(sys, name, os.fdopen(fd, mode) if mode else _output(fd))
    for stream in (sys.stdin, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.stdout = _output(sys.stdout.fileno())


# endregion


def _output(fd: int) -> io.TextIOWrapper:
    buffer = io.BufferedWriter(_StandardOutput(fd, "w", closefd=False))
    line_by_line = os.isatty(fd)
    return io.TextIOWrapper(buffer, "utf-8", "backslashreplace", line_buffering=line_by_line)


def close_output(code: int) -> int:
    """Write what is left; the exit code, which is another than `code` if that cannot be done."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        abandon(sys.stdout)
        return code or CLOSED_PIPE
    except OSError as fault:
        return output_failed(fault, code)
    return code


def output_failed(fault: OSError, code: int = 0) -> int:
    """Tell the fault of standard output; the exit code."""
    abandon(sys.stdout)
    complain(f"standard output: {fault.strerror} (errno {fault.errno})")
    return code or NO_OUTPUT


def complain(message: str) -> None:
    """One line on standard error, if that takes it."""
    try:
        print(f"mino: {message}", file=sys.stderr, flush=True)
    except OSError:
        abandon(sys.stderr)  # or Python tries again at its end, and takes our exit code


def abandon(stream: IO[str]) -> None:
    """Nobody takes what is written there: what is left over goes nowhere, and in silence."""
    with contextlib.suppress(OSError, ValueError):
        fd, nowhere = stream.fileno(), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, fd)
        os.close(nowhere)
        stream.flush()
