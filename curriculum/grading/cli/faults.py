"""What ends a command with one line and an exit code; the codes are the same for all commands.

0 all that was graded has passed; 1 something has not; 2 wrong usage; 3 a file cannot be used.
"""

from __future__ import annotations

import os
import sys

OK, NOT_PASSED, USAGE, NO_FILE, INTERRUPTED, CLOSED_PIPE = 0, 1, 2, 3, 130, 141


def program() -> str:
    """How the user has called us, to be said again in advice."""
    name = os.path.basename(sys.argv[0])
    return name if name == "curriculum" else "python3 -m curriculum"


def program_with_packages() -> str:
    """The same for what needs the packages of `make locked`: python3 may not have them."""
    return program().replace("python3", ".venv/bin/python")


class CommandError(Exception):
    """Ends the command: one line for the user, and the exit code."""

    def __init__(self, message: str, exit_code: int = USAGE) -> None:
        super().__init__(message)
        self.exit_code = exit_code
