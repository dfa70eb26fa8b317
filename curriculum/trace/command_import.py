"""`python -m curriculum.trace import --from AGENT FILE`: sessions of other agents as traces."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from typing import TypeVar

from curriculum.core.errors import TraceError
from curriculum.core.visible import quote
from curriculum.trace.foreign import Foreign, NotThisFormatError
from curriculum.trace.inputs import (
    BAD_DATA,
    EXIT_CODES,
    NO_INPUT,
    RefusedError,
    open_source,
    shown_progress,
)
from curriculum.trace.outputs import open_output

AGENTS = ("codex", "claude-code", "mini-swe-agent")
BLOCK_BYTES = 1 << 20
MOST_BYTES = 1 << 28  # a session is read whole

Parser = TypeVar("Parser", bound=argparse.ArgumentParser)


def add_parser(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add the `import` subcommand."""
    parser = commands.add_parser(
        "import",
        help="make a trace of a session of another agent",
        description="Make a trace of a session file of Codex, Claude Code or mini-swe-agent. What "
        "is not carried over is counted and named on stderr; private reasoning never is carried "
        "over. The trace is not redacted.",
        epilog="Exit code: 0 written; " + EXIT_CODES,
    )
    parser.add_argument("file", metavar="FILE", help="a session file; - is standard input")
    parser.add_argument("--from", dest="agent", choices=AGENTS, required=True)
    parser.add_argument("--output", metavar="FILE", help="where to write (default: the terminal)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Import; returns the exit code. Raises RefusedError."""
    name = arguments.agent.replace("-", "_")
    module = import_module(f"curriculum.trace.from_{name}")
    read: Callable[[bytes], Foreign] = getattr(module, f"read_{name}")
    with open_source(arguments.file) as source, shown_progress(source) as progress:
        data = bytearray()
        while block := source.read(BLOCK_BYTES):
            data += block
            if len(data) > MOST_BYTES:
                raise RefusedError(f"{source.said}: larger than {MOST_BYTES} bytes", NO_INPUT)
            if progress:
                progress(len(data))
        said = source.said
    try:
        session = read(bytes(data))
    except NotThisFormatError as wrong:
        raise RefusedError(f"{said}: {wrong}; see --from", BAD_DATA) from None
    count = _write(session, arguments.output)
    _tell(session, count)
    return 0


def _write(session: Foreign, output: str | None) -> int:
    from curriculum.trace.write_foreign import write_foreign

    events = write_foreign(session)
    with open_output(output) as sink:
        for event in events:
            try:
                sink.write(event.to_line())
            except TraceError as fault:
                said = f"event {event.sequence + 1} does not fit in a line: {fault}"
                raise RefusedError(said, BAD_DATA) from None
        sink.flush()
    return len(events)


def _tell(session: Foreign, count: int) -> None:
    print(f"import: {count} events; redact them before you share them", file=sys.stderr)
    for what, counter in (("left out", session.left_out), ("UNKNOWN", session.unknown)):
        if counter:
            print(f"import: {what}: {_named(counter)}", file=sys.stderr)


def _named(counter: Counter[str]) -> str:
    return ", ".join(f"{quote(kind)[1:-1]} {count}" for kind, count in sorted(counter.items()))
