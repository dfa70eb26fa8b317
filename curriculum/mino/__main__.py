"""The entry of `mino`. Only `--version` is answered here, so that it starts as fast as Python."""

from __future__ import annotations

import os
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run mino; returns its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if given in (["--version"], ["-V"]) and sys.stdout:
        from curriculum import __version__

        try:
            os.write(sys.stdout.fileno(), f"mino {__version__}\n".encode())
            return 0
        except OSError:
            pass  # told below, as ever
    try:
        from curriculum.mino.commands import run_command

        return run_command(given)
    except KeyboardInterrupt:  # while all this is still being loaded
        from curriculum.mino.exits import INTERRUPTED

        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
