"""`python -m curriculum.sessions COMMAND`: look at sessions, export one, find one to go on with.

Nothing here changes a session. Exit codes: 64 wrong usage, 65 a session is damaged, 66 there is
no such session or it cannot be read, 74 a fault while writing the output, 75 the session is busy
(after kill -9 it may be for a moment: a command that was just being started still has to begin).
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import NoReturn, TextIO

from curriculum.core.errors import TraceError
from curriculum.sessions.errors import (
    SessionBusyError,
    SessionDamagedError,
    SessionError,
    SessionIdError,
)
from curriculum.sessions.export import export_trace
from curriculum.sessions.files import check_free
from curriculum.sessions.ids import known_ids, resolve_prefix
from curriculum.sessions.listing import SessionFile, list_sessions
from curriculum.sessions.show import as_lines, as_row
from curriculum.sessions.text import shown

USAGE, DAMAGED, NO_INPUT, IO_FAULT, BUSY = 64, 65, 66, 74, 75
INTERRUPTED, CLOSED_PIPE = 130, 141
DEFAULT_HOME = "~/.mino"


class _Parser(argparse.ArgumentParser):
    """Wrong usage has exit code 64, as in `curriculum.trace`."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {shown(message)}; see {self.prog} --help\n")


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    home = _Parser(add_help=False)
    home.add_argument(
        "--home",
        default=DEFAULT_HOME,
        help="folder that holds sessions/ (default: %(default)s)",
    )
    which = _Parser(add_help=False)
    which.add_argument("prefix", metavar="ID-PREFIX", help="the beginning of one session's id")
    parser = _Parser(prog="python -m curriculum.sessions", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    listing = commands.add_parser("list", parents=[home], help="all sessions, the newest first")
    listing.set_defaults(run=run_list)
    show = commands.add_parser("show", parents=[home, which], help="the records of one session")
    show.set_defaults(run=run_show)
    export = commands.add_parser(
        "export",
        parents=[home, which],
        help="one session as a trace",
        description="Print one session as a trace. Each request in it lists the roles of all "
        "messages before it, so its size grows with the square of the turns: 4,000 turns of one "
        "call each give about 220 MB.",
    )
    export.add_argument("--to", choices=("trace",), default="trace", help="trace: Trace 0.1, JSONL")
    export.set_defaults(run=run_export)
    resume = commands.add_parser(
        "resume-id", parents=[home, which], help="the whole id of a session that is free to resume"
    )
    resume.set_defaults(run=run_resume_id)
    return parser


def run_list(given: argparse.Namespace) -> None:
    """Print one row for each session."""
    summaries = list_sessions(given.home)
    width = max((len(one.session_id) for one in summaries), default=0)
    for summary in summaries:
        print(as_row(summary, width))
    if not summaries:
        _tell(f"no sessions in {shown(given.home)}")


def run_show(given: argparse.Namespace) -> None:
    """Print every record of one session."""
    session = _find(given)
    for record in session:
        for line in as_lines(record):
            print(line)
    _tell_torn(session)


def run_export(given: argparse.Namespace) -> None:
    """Print the trace of one session."""
    session = _find(given)
    export_trace(session, sys.stdout.write)
    _tell_torn(session)


def run_resume_id(given: argparse.Namespace) -> None:
    """Print the id that a prefix means, unless the session is in use."""
    session = _find(given)
    check_free(session.path)
    print(session.session_id)


def _find(given: argparse.Namespace) -> SessionFile:
    return SessionFile(given.home, resolve_prefix(given.prefix, known_ids(given.home)))


def _tell_torn(session: SessionFile) -> None:
    if session.torn_bytes:
        said = f"the last {session.torn_bytes} bytes are not a whole record and were left out"
        _tell(f"{shown(session.path)}: {said}")


def _tell(line: str) -> None:
    """A line on standard error. What cannot be said there is dropped: the exit code stays right."""
    if sys.stderr:  # else it would be said on standard output
        try:
            print(line, file=sys.stderr, flush=True)
        except OSError:
            _discard(sys.stderr)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    if not sys.stdout:  # closed by the caller; its number would go to the next file that is opened
        return _complain("standard output is closed", IO_FAULT)
    try:
        given = make_parser().parse_args(arguments)
        given.home = os.path.expanduser(given.home)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # whatever the locale is
                stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
        given.run(given)
        sys.stdout.flush()
    except SessionError as fault:
        return _complain(str(fault), _code_of(fault))
    except TraceError as fault:
        return _complain(f"the session is too long for one trace: {fault.message}", DAMAGED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _discard(sys.stdout)
        return CLOSED_PIPE
    except OSError as fault:
        _discard(sys.stdout)
        return _complain(fault.strerror or str(fault), IO_FAULT)
    return 0


def _code_of(fault: SessionError) -> int:
    if isinstance(fault, SessionIdError):
        return USAGE
    if isinstance(fault, SessionDamagedError):
        return DAMAGED
    return BUSY if isinstance(fault, SessionBusyError) else NO_INPUT


def _complain(message: str, exit_code: int) -> int:
    _tell(f"curriculum.sessions: {message}")
    return exit_code


def _discard(stream: TextIO) -> None:
    """Python flushes it once more on its way out; give it somewhere that takes the bytes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
