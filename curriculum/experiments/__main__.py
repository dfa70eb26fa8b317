"""The entry of `python -m curriculum.experiments`; Ctrl+C is heard also while all is loaded."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says; returns the exit code."""
    try:
        from curriculum.experiments.commands import run_command

        return run_command(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # nothing has begun
        return 130


if __name__ == "__main__":
    sys.exit(main())
