"""`python -m curriculum.trace validate`: verdicts of files, and one exit code for all.

0 complete, 1 invalid, 2 open, 3 torn; of several files the worst: 1, then 3, then 2. What is not
about a trace has codes of its own: 64 wrong usage, 66 a file that cannot be read (whatever the
other files are), 69 no JSON Schema library, 74 a fault while reading or writing.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sqlite3
import sys
from collections.abc import Iterable
from typing import TypeVar

from curriculum.trace.codes import WORST_FIRST, Verdict
from curriculum.trace.engines import Engine
from curriculum.trace.inputs import (
    IO_FAULT,
    RefusedError,
    Source,
    get_engine,
    open_source,
    read_secrets,
    shown_progress,
)
from curriculum.trace.report import as_json, as_text, shown_name
from curriculum.trace.validate import DEFAULT_LIMIT, Options, Report, validate

Parser = TypeVar("Parser", bound=argparse.ArgumentParser)


def add_parser(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add the `validate` subcommand."""
    parser = commands.add_parser(
        "validate",
        help="check traces: shape, order and meaning",
        description="Check Trace 0.1 files: the shape of each event and what they mean together.",
        epilog="Exit code: 0 complete, 1 invalid, 2 open (no session.stop yet), 3 torn (the last "
        "line is not whole); of several files the worst: 1, then 3, then 2. "
        "64 usage, 66 a file cannot be read, 69 a library is missing, 74 no room or no output.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a trace; - is standard input")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: JSONL")
    parser.add_argument("--strict", action="store_true", help="an unknown type is an error")
    parser.add_argument(
        "--secret-file",
        metavar="FILE",
        action="append",
        default=[],
        help="planted secrets, one a line, that must be nowhere, however JSON spells them",
    )
    parser.add_argument(
        "--canary", metavar="TEXT", action="append", default=[], help="one more planted secret"
    )
    parser.add_argument(
        "--max-errors",
        metavar="N",
        type=_count,
        default=DEFAULT_LIMIT,
        help="show at most N errors a file (default: %(default)s); all are counted",
    )
    parser.add_argument(
        "--engine",
        choices=("auto", "fast", "plain"),
        default="auto",
        help="fast: jsonschema-rs and orjson; plain: jsonschema; the same verdicts",
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=_count,
        default=1,
        help="validate N files at a time (default: %(default)s); 0: one for each processor",
    )
    parser.set_defaults(run=run)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Validate each file; returns the exit code."""
    try:
        secrets = read_secrets(arguments.secret_file, arguments.canary)
        options = Options(is_strict=arguments.strict, secrets=secrets, limit=arguments.max_errors)
        engine = get_engine(arguments.engine)
    except RefusedError as refused:
        return _complain(str(refused), refused.exit_code)
    # Events are trees that live for one line: looking through them for cycles finds nothing.
    gc.set_threshold(100_000)
    verdicts, fault = set(), 0
    for name, report in _reports(arguments, engine, options):
        if isinstance(report, Report):
            verdicts.add(report.verdict)
            _show(name, report, arguments.format)
        else:
            fault = max(fault, _complain(*report))
    return fault or next((verdict for verdict in WORST_FIRST if verdict in verdicts), Verdict(0))


def _reports(
    arguments: argparse.Namespace, engine: Engine, options: Options
) -> Iterable[tuple[str, Report | tuple[str, int]]]:
    """Each file with its report, or with why it has none; in the order in which they are named."""
    files = arguments.files
    jobs = min(arguments.jobs or os.cpu_count() or 1, len(files))
    if jobs > 1:
        from curriculum.trace.side_by_side import validate_side_by_side

        return validate_side_by_side(files, arguments.engine, options, jobs)
    return ((name, validate_file(name, engine, options)) for name in files)


def _complain(message: str, exit_code: int) -> int:
    print(f"validate: {message}", file=sys.stderr)
    return exit_code


def _show(name: str, report: Report, format: str) -> None:
    if format == "json":
        print(json.dumps(as_json(name, report)), flush=True)
        return
    for line in as_text(name, report):
        print(line)
    sys.stdout.flush()


def validate_file(name: str, engine: Engine, options: Options) -> Report | tuple[str, int]:
    """The report of a file; or why it has none, and the exit code of that."""
    try:
        with open_source(name) as source:
            return _validate_stream(source, engine, options)
    except RefusedError as refused:
        return str(refused), refused.exit_code
    except sqlite3.Error as fault:
        return f"no room for the ids of {shown_name(name)}: {fault}", IO_FAULT


def _validate_stream(source: Source, engine: Engine, options: Options) -> Report:
    with shown_progress(source) as progress:
        return validate(source.read, engine, options, progress)
