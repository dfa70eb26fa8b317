"""`python -m curriculum.trace export --to FORMAT FILE`: a trace for other people's tools."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any, TypeVar

from curriculum.trace.events import open_events
from curriculum.trace.inputs import EXIT_CODES, get_engine
from curriculum.trace.outputs import add_secrets, given_secrets, open_output
from curriculum.trace.redact import Redactor
from curriculum.trace.secret_rules import SecretRules

FORMATS = ("otel", "perfetto", "asciicast", "atif")
IDLE_LIMIT_SECONDS = 2.0

Parser = TypeVar("Parser", bound=argparse.ArgumentParser)


def add_parser(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add the `export` subcommand."""
    parser = commands.add_parser(
        "export",
        help="write a trace for other tools",
        description="Write a trace as otel (OTLP JSON, GenAI conventions 1.41.0), perfetto (trace "
        "event JSON), asciicast (v2) or atif (trajectory, 1.7). It is redacted on the way. otel "
        "and perfetto hold what was said only with --content; the other two are made of it.",
        epilog="Exit code: 0 written; " + EXIT_CODES,
    )
    parser.add_argument("file", metavar="FILE", help="a trace; - is standard input")
    parser.add_argument("--to", choices=FORMATS, required=True)
    parser.add_argument("--output", metavar="FILE", help="where to write (default: the terminal)")
    parser.add_argument("--content", action="store_true", help="with prompts, answers, results")
    add_secrets(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Export; returns the exit code. Raises RefusedError."""
    redactor = Redactor(SecretRules(given_secrets(arguments)))
    with open_events(arguments.file, get_engine()) as events:

        def redacted() -> Iterator[dict[str, Any]]:
            for event in events:
                for held in redactor.take(event):
                    yield held.event
            for held in redactor.finish():
                yield held.event

        lines = _export(arguments.to, redacted(), arguments.content)
        with open_output(arguments.output) as sink:
            for line in lines:
                sink.write(line + "\n")
    return 0


def _export(format: str, events: Iterator[dict[str, Any]], with_content: bool) -> Iterator[str]:
    if format == "asciicast":
        from curriculum.trace.export_asciicast import export_asciicast

        yield from export_asciicast(events, IDLE_LIMIT_SECONDS)
    elif format == "otel":
        from curriculum.trace.export_otel import export_otel

        yield json.dumps(export_otel(events, with_content))
    elif format == "perfetto":
        from curriculum.trace.export_perfetto import export_perfetto

        yield json.dumps(export_perfetto(events, with_content))
    else:
        from curriculum.trace.export_atif import export_atif

        yield json.dumps(export_atif(events))
