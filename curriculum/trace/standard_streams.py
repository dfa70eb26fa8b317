"""The three standard streams, whatever the caller has left of them: closed, full or gone.

A closed one would be None, and its number would go to the next file that is opened. Here each is a
stream that fails when it is used: standard input and output with an OSError that the command tells.
What cannot be said on standard error is dropped, so that the exit code stays the right one. Text
goes out as UTF-8, with LF, whatever the locale is: a trace has no other spelling.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from curriculum.core.visible import escape


class _Forgiving:
    """A text stream whose text is dropped once it cannot be written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            silence(self._stream)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            silence(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def standard_streams() -> Iterator[None]:
    """`sys.stdin`, `sys.stdout` and `sys.stderr` can be used inside, and are flushed at the end."""
    before = sys.stdin, sys.stdout, sys.stderr
    # In this order: each takes the lowest number that is free, which is its own.
    sys.stdin = sys.stdin or _opened(os.O_WRONLY, "r")
    sys.stdout = sys.stdout or _opened(os.O_RDONLY, "w")
    stderr = sys.stderr or _opened(os.O_WRONLY, "w")
    for stream in (sys.stdout, stderr):
        if hasattr(stream, "reconfigure"):  # whatever the locale is
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    sys.stderr = cast(TextIO, _Forgiving(stderr))
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        except OSError:
            silence(sys.stdout)
        sys.stderr.flush()
        sys.stdin, sys.stdout, sys.stderr = before


def tell_fault(program: str, fault: OSError) -> None:
    """One line for output that could not be written; what is left of it is dropped."""
    is_closed = fault.errno == errno.EBADF
    said = "standard output is closed" if is_closed else fault.strerror or fault
    where = f": {escape(str(fault.filename))}" if fault.filename else ""
    print(f"{program}: {said}{where}", file=sys.stderr)
    silence(sys.stdout)


def silence(stream: TextIO) -> None:
    """Give a stream somewhere that takes its bytes: Python flushes it once more on its way out."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _opened(flags: int, mode: str) -> TextIO:
    """The null device; with flags that do not fit the mode, a stream that only fails."""
    return cast(TextIO, open(os.open(os.devnull, flags), mode))
