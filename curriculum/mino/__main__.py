"""The entry of `mino`. Only `--version` is answered here, so that it starts as fast as Python."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> int:
    """Run mino; returns its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if given in (["--version"], ["-V"]):
        from curriculum import __version__

        print(f"mino {__version__}")
        return 0
    from curriculum.mino.commands import run_command

    return run_command(given)


if __name__ == "__main__":
    sys.exit(main())
