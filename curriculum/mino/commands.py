"""The command line of mino: what was asked for, and one clear line if it cannot be done."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys

from curriculum.mino import exits
from curriculum.mino.config import ConfigError, find_home, read_settings
from curriculum.mino.options import make_parser
from curriculum.mino.signals import TerminatedError
from curriculum.mino.streams import (
    OutputError,
    close_output,
    complain,
    output_failed,
    prepare_streams,
)
from curriculum.sessions.errors import SessionError, SessionIdError

NO_TERMINAL = (
    "a chat needs a terminal as its input and output, because piped input cannot approve "
    'commands; for a script: mino run "PROMPT"'
)


# region: command
def run_command(arguments: list[str]) -> int:
    """Do what the command line says; returns the exit code."""
    from curriculum.mino.secrecy import take_key

    prepare_streams()
    key = take_key(os.environ)
    return close_output(_try(arguments, key))


def _try(arguments: list[str], key: tuple[str, str]) -> int:
    try:
        return _dispatch(make_parser().parse_args(arguments), key)
    except SystemExit as end:  # of argparse
        return int(end.code or exits.OK)
    except BrokenPipeError:
        return exits.CLOSED_PIPE
    except OutputError as fault:
        return output_failed(fault)
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


# endregion


def _complain(message: str, code: int) -> int:
    complain(message)
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
            "rich is missing; run `make locked` in a checkout, then the same command with "
            ".venv/bin/python (or pip install '.[mino]' there)"
        )
    settings = read_settings(given, os.environ, key)
    if options.command == "chat" and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError(NO_TERMINAL)
    try:
        os.getcwd()
    except OSError as fault:
        raise ConfigError(f"the current directory cannot be used: {fault.strerror}") from None
    from curriculum.mino.trace_file import TraceFile

    if options.command == "run":
        from curriculum.mino.run import read_task, run_prompt

        task = read_task(given)
    path: str | None = given.get("trace")
    trace = None if path is None else TraceFile.create(path)
    try:
        if options.command == "run":
            return run_prompt(settings, given, task, trace)
        from curriculum.mino.chat import Chat

        return Chat(settings, trace, path).hold(given.get("resume"))
    finally:
        if trace:
            trace.close()
