"""`python -m curriculum.trace view FILE [FILE2]`: a run, or two side by side, in the browser."""

from __future__ import annotations

import argparse
import os
import tempfile
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from curriculum.trace.inputs import EXIT_CODES, USAGE, RefusedError, get_engine
from curriculum.trace.outputs import open_output
from curriculum.trace.report import shown_name
from curriculum.trace.viewer.build import write_page

Parser = TypeVar("Parser", bound=argparse.ArgumentParser)


def add_parser(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add the `view` subcommand."""
    parser = commands.add_parser(
        "view",
        help="look at a run, or at two side by side, in the browser",
        description="Write a trace as one HTML file that needs no network, and open it. With two "
        "traces the first divergence is marked. With --serve, follow a file that still grows. "
        "The page holds everything that the trace holds: redact a trace before you share it.",
        epilog="Exit code: 0 written, or stopped with Ctrl+C; " + EXIT_CODES,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a trace; - is standard input")
    parser.add_argument("--output", metavar="FILE", help="default: a new file for temporary use")
    parser.add_argument("--no-open", action="store_true", help="do not open a browser")
    parser.add_argument(
        "--serve", action="store_true", help="follow one growing file, on 127.0.0.1 only"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write or serve; returns the exit code. Raises RefusedError."""
    files = arguments.files
    if len(files) > 2:
        raise RefusedError("one trace, or two to compare", USAGE)
    if files == ["-", "-"]:
        raise RefusedError("standard input can be one of the two traces, not both", USAGE)
    if arguments.serve:
        return _serve(arguments)
    output = arguments.output or _temporary(files)
    _refuse_overwriting(files, output)
    try:
        with open_output(output) as sink:
            write_page(files, get_engine(), sink)
    except BaseException:
        if not arguments.output:
            os.rmdir(os.path.dirname(output))
        raise
    print(f"wrote {shown_name(output)}")
    if not arguments.no_open:
        _open(Path(output).resolve().as_uri())
    return 0


def _serve(arguments: argparse.Namespace) -> int:
    from curriculum.trace.viewer.serve import serve

    if len(arguments.files) > 1 or arguments.files == ["-"] or arguments.output:
        raise RefusedError("--serve follows one file and writes none", USAGE)
    return serve(arguments.files[0], get_engine(), None if arguments.no_open else _open)


def _temporary(files: Sequence[str]) -> str:
    """A file that is not there yet, in a folder of its own that only the owner can enter."""
    stem = "trace" if files[0] == "-" else Path(files[0]).stem
    return os.path.join(tempfile.mkdtemp(prefix="trace-view-"), f"{stem}.html")


def _refuse_overwriting(files: Sequence[str], output: str) -> None:
    if os.path.exists(output):
        given = [name for name in files if name != "-" and os.path.exists(name)]
        if any(os.path.samefile(name, output) for name in given):
            raise RefusedError("--output is the trace itself; name another file", USAGE)


def _open(address: str) -> None:
    if not webbrowser.open(address):
        print(f"no browser could be started; open {address}")
