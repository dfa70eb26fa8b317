"""The command line of mino: what was asked for, and one clear line if it cannot be done."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from typing import TextIO

from curriculum.mino import exits
from curriculum.mino.config import ConfigError, find_home, read_settings
from curriculum.mino.options import make_parser
from curriculum.mino.signals import TerminatedError
from curriculum.sessions.errors import SessionError, SessionIdError

NO_TERMINAL = (
    "a chat needs a terminal as its input and output, because piped input cannot approve "
    'commands; for a script: mino run "PROMPT"'
)


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
