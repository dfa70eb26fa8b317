"""Files as the commands are given them, and what is said when one cannot be used.

Every command refuses the same input in the same words: one line on stderr (what, where, what to
do) and an exit code of its own. A fault while reading is never taken for one while writing.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from curriculum.trace.engines import Engine, MissingLibraryError, make_engine
from curriculum.trace.report import shown_name

USAGE, BAD_DATA, NO_INPUT, UNAVAILABLE, IO_FAULT = 64, 65, 66, 69, 74
SHORTEST_SECRET = 4
MOST_SECRET_BYTES = 1_000_000
PATIENCE_SECONDS = 1.0
MEGABYTE = 1_000_000
# What every command that reads events may end with, for its --help.
EXIT_CODES = (
    "64 usage, 65 a line is no event (see validate), 66 a file cannot be read, "
    "69 a library is missing, 74 no room or no output."
)


class RefusedError(Exception):
    """The command cannot be done as asked."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True)
class Source:
    """An open file: `read(size)` gives its next bytes; `size` is 0 where it is not known.

    `said` is how a message names it; it stays on one line whatever the name is. `descriptor` can
    be read at any place while the source is open, unless it is -1.
    """

    said: str
    size: int
    read: Callable[[int], bytes]
    descriptor: int = -1


def get_engine(name: str = "auto") -> Engine:
    """The engine that judges events. Raises RefusedError when no library is there."""
    try:
        return make_engine(name)
    except (MissingLibraryError, FileNotFoundError) as missing:
        raise RefusedError(str(missing), UNAVAILABLE) from None


@contextmanager
def open_source(name: str) -> Iterator[Source]:
    """Open a file, or standard input for `-`. Raises RefusedError, also while it is read."""
    said = "standard input" if name == "-" else shown_name(name)
    try:
        descriptor = sys.stdin.fileno() if name == "-" else os.open(name, os.O_RDONLY)
    except (OSError, ValueError) as fault:  # ValueError: a name with NUL in it
        raise RefusedError(f"{said}: {reason(fault)}", NO_INPUT) from None

    def read(size: int) -> bytes:
        try:
            return os.read(descriptor, size)
        except OSError as fault:
            raise RefusedError(f"{said}: {reason(fault)}", NO_INPUT) from None

    try:
        about = os.fstat(descriptor)
        anywhere = descriptor if stat.S_ISREG(about.st_mode) and name != "-" else -1
        yield Source(said, about.st_size, read, anywhere)
    finally:
        if name != "-":
            os.close(descriptor)


def reason(fault: OSError | ValueError) -> str:
    """Why a file cannot be used, in a few words."""
    if isinstance(fault, IsADirectoryError):
        return "is a directory; name the .jsonl files in it"
    if isinstance(fault, OSError) and fault.errno == errno.EBADF:
        return "is closed"
    if isinstance(fault, OSError):
        return (fault.strerror or str(fault)).lower()
    return str(fault)


def read_secrets(files: Iterable[str], given: Iterable[str] = ()) -> tuple[str, ...]:
    """Secrets: those given and those in files, one a line. Raises RefusedError.

    One that would be found by chance is refused.
    """
    secrets = list(given)
    for name in files:
        try:
            with Path(name).open("rb") as file:
                data = file.read(MOST_SECRET_BYTES + 1)
            if len(data) > MOST_SECRET_BYTES:
                said = f"{shown_name(name)}: more than {MOST_SECRET_BYTES} bytes of secrets"
                raise RefusedError(said, NO_INPUT)
            secrets += filter(None, data.decode().splitlines())
        except (OSError, ValueError) as fault:
            is_text = not isinstance(fault, UnicodeDecodeError)
            why = reason(fault) if is_text else "the secrets are not UTF-8"
            raise RefusedError(f"{shown_name(name)}: {why}", NO_INPUT) from None
    if any(len(secret) < SHORTEST_SECRET for secret in secrets):
        raise RefusedError(f"a secret has at least {SHORTEST_SECRET} characters", USAGE)
    if any("\ud800" <= char <= "\udfff" for secret in secrets for char in secret):
        raise RefusedError("a secret is not UTF-8", USAGE)
    return tuple(secrets)


class Progress:
    """A line on the terminal, once reading has taken a while."""

    def __init__(self, name: str, total: int) -> None:
        self._name, self._total = name, total
        self._last = time.monotonic()
        self._is_shown = False

    def show(self, done: int) -> None:
        """`done` bytes are read."""
        if time.monotonic() - self._last < PATIENCE_SECONDS:
            return
        self._last, self._is_shown = time.monotonic(), True
        share = f" of {self._total // MEGABYTE}" if self._total else ""
        line = f"\r{self._name}: {done // MEGABYTE}{share} MB"
        print(line, end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the line away again."""
        if self._is_shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextmanager
def shown_progress(source: Source) -> Iterator[Callable[[int], None] | None]:
    """Progress for a terminal; None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    progress = Progress(source.said, source.size)
    try:
        yield progress.show
    finally:
        progress.clear()
