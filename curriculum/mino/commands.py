"""The command line of mino: what was asked for, and one clear line if it cannot be done."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from typing import NoReturn, TextIO

from curriculum import __version__
from curriculum.core.visible import escape
from curriculum.mino import exits
from curriculum.mino.config import OPTIONAL_FIELDS, ConfigError, find_home, read_settings
from curriculum.mino.signals import TerminatedError
from curriculum.sessions.errors import SessionError, SessionIdError
from curriculum.sessions.replay import RULES

ABOUT = """\
A terminal agent: it asks before it runs a command, and keeps every step.
Settings come from flags, MINO_*, OPENAI_* and ~/.mino/config.toml, in this
order; `mino doctor` shows them. The key is in OPENAI_API_KEY."""
NO_TERMINAL = (
    "a chat needs a terminal as its input and output, because piped input cannot approve "
    'commands; for a script: mino run "PROMPT"'
)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(exits.USAGE, f"{self.prog}: {escape(message)}; see {self.prog} --help\n")


# region: parser
def make_parser() -> argparse.ArgumentParser:
    """The options; one that is not given is not in the result."""
    common = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--home", metavar="DIR", help="mino's folder (default: ~/.mino)")
    common.add_argument("--model", metavar="NAME", help="the model to ask")
    common.add_argument("--base-url", metavar="URL", help="a Responses endpoint, up to /v1")
    common.add_argument(
        "--omit",
        metavar="FIELDS",
        help=f"request fields the server does not take: {','.join(OPTIONAL_FIELDS)}",
    )
    common.add_argument(
        "--replay", metavar="RULE", help=f"of interrupted turns: {' or '.join(RULES)}"
    )
    common.add_argument(
        "--demo", action="store_true", help="a scripted model: no key and no network"
    )
    turns = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    turns.add_argument("--trace", metavar="FILE", help="write Trace 0.1 to a new file")
    turns.add_argument(
        "--resume",
        metavar="ID",
        nargs="?",
        const="",
        help="go on with a session (the beginning of its id is enough; none: the newest)",
    )
    parser = _Parser(
        prog="mino",
        description=ABOUT,
        parents=[common, turns],
        epilog=exits.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"mino {__version__}")
    parser.set_defaults(command="chat")
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)
    run = commands.add_parser(
        "run",
        parents=[common, turns],
        help="one turn for scripts",
        epilog=exits.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.add_argument("prompt", metavar="PROMPT", help="what to ask; - reads standard input")
    run.add_argument(
        "--allow-rule",
        metavar="TOOL:PATTERN",
        action="append",
        default=[],
        help="allow calls whose whole command matches; all others are denied",
    )
    run.add_argument("--json", action="store_true", help="stream Trace 0.1 on standard output")
    run.set_defaults(command="run")
    sessions = commands.add_parser("sessions", parents=[common], help="what can be resumed")
    sessions.set_defaults(command="sessions")
    doctor = commands.add_parser("doctor", parents=[common], help="what would be used")
    doctor.set_defaults(command="doctor")
    return parser


# endregion


# region: command
def run_command(arguments: list[str]) -> int:
    """Do what the command line says; returns the exit code."""
    from curriculum.mino.secrecy import take_key

    _prepare_streams()
    key = take_key(os.environ)
    try:
        return _dispatch(make_parser().parse_args(arguments), key)
    except BrokenPipeError:
        return exits.CLOSED_PIPE
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except TerminatedError as end:
        return exits.SIGNALLED + int(end.args[0])
    except ConfigError as fault:
        return _complain(str(fault), exits.USAGE)
    except SessionIdError as fault:
        return _complain(str(fault), exits.USAGE)
    except SessionError as fault:
        return _complain(str(fault), exits.NO_SESSION)
    finally:
        _let_go_of(sys.stdout)


# endregion


def _prepare_streams() -> None:
    """UTF-8 whatever the locale is; and where a stream is closed, one that takes everything."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            mode = os.O_RDONLY if name == "stdin" else os.O_WRONLY
            stream = os.fdopen(os.open(os.devnull, mode), "r" if name == "stdin" else "w")
            setattr(sys, name, stream)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _let_go_of(stream: TextIO) -> None:
    """Flush; what a closed pipe or terminal does not take must not be told by Python at the end."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _complain(message: str, code: int) -> int:
    print(f"mino: {message}", file=sys.stderr)
    return code


def _dispatch(options: argparse.Namespace, key: tuple[str, str]) -> int:
    """Load what the command needs, and nothing else."""
    from curriculum.mino.secrecy import hide_process

    given, hidden = vars(options), hide_process()
    if options.command == "sessions":
        from curriculum.mino.listing import session_rows

        for row in session_rows(find_home(given, os.environ)[0]):
            print(row)
        return exits.OK
    if options.command == "doctor":
        from curriculum.mino.doctor import examine

        return examine(given, key, hidden)
    if importlib.util.find_spec("rich") is None:
        raise ConfigError(
            "rich is missing; install it: python -m pip install 'agent-harness-curriculum[mino]'"
        )
    settings = read_settings(given, os.environ, key)
    if options.command == "chat" and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError(NO_TERMINAL)
    try:
        os.getcwd()
    except OSError as fault:
        raise ConfigError(f"the current directory cannot be used: {fault.strerror}") from None
    from curriculum.mino.trace_file import TraceFile

    path = given.get("trace", "")
    trace = TraceFile.create(path, settings.endpoint.api_key) if path else None
    if options.command == "run":
        from curriculum.mino.run import run_prompt

        return run_prompt(settings, given, trace)
    from curriculum.mino.chat import Chat

    return Chat(settings, trace, path).hold(given.get("resume"))
