"""`python -m curriculum.trace COMMAND`: what can be done with a trace file."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import NoReturn

from curriculum.trace.inputs import IO_FAULT, USAGE, RefusedError
from curriculum.trace.standard_streams import silence, standard_streams, tell_fault

INTERRUPTED, CLOSED_PIPE = 130, 141
# Each is in a module of its own, `command_NAME`; only the one that is asked for is loaded.
COMMANDS = ("validate", "play", "stats", "diff", "redact", "export", "import", "view")


class _Parser(argparse.ArgumentParser):
    """Wrong usage has exit code 64: the codes 1 to 3 are verdicts."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    with standard_streams():
        return _run(sys.argv[1:] if arguments is None else arguments)


def _run(words: list[str]) -> int:
    asked = words[0] if words else ""
    parser = _Parser(prog="python -m curriculum.trace", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    try:
        for name in (asked,) if asked in COMMANDS else COMMANDS:
            import_module(f"curriculum.trace.command_{name}").add_parser(commands)
        try:
            given = parser.parse_args(words)
            code: int = given.run(given)
        finally:
            sys.stdout.flush()
    except RefusedError as refused:
        print(f"{asked}: {refused}", file=sys.stderr)
        return refused.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        silence(sys.stdout)
        return CLOSED_PIPE
    except OSError as fault:
        tell_fault("curriculum.trace", fault)
        return IO_FAULT
    return code


if __name__ == "__main__":
    sys.exit(main())
