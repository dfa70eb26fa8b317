"""What the commands that write traces have in common: known secrets, and where the output goes."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from curriculum.trace.inputs import USAGE, RefusedError, read_secrets


def add_secrets(parser: argparse.ArgumentParser) -> None:
    """Add the options that name known secrets."""
    parser.add_argument(
        "--secret-file",
        metavar="FILE",
        action="append",
        default=[],
        help="known secrets, one a line",
    )
    parser.add_argument(
        "--secret-env",
        metavar="NAME",
        action="append",
        default=[],
        help="an environment variable that holds a known secret",
    )


def given_secrets(arguments: argparse.Namespace) -> tuple[str, ...]:
    """The secrets that the options name. Raises RefusedError."""
    given = [_from_environment(name) for name in arguments.secret_env]
    return read_secrets(arguments.secret_file, given)


def _from_environment(name: str) -> str:
    secret = os.environ.get(name)
    if not secret:
        raise RefusedError(f"the environment has no {name!a}", USAGE)
    return secret


@contextmanager
def open_output(name: str | None) -> Iterator[TextIO]:
    """Where the trace goes. A file appears whole or not at all, readable by its owner only."""
    if name is None:
        yield sys.stdout
        return
    target = Path(name)
    handle, made = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            yield file
        os.replace(made, target)
    except BaseException:
        os.unlink(made)
        raise
