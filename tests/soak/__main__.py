"""`python -m tests.soak [--turns N] [--bash N] [--seed N]`: exit code 1 if a bound breaks."""

from __future__ import annotations

import argparse
import sys

from tests.soak.run import soak


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--bash", type=int, default=10_000, help="calls of the Bash tool")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.turns < 1 or given.bash < 0:
        parser.error("--turns is at least 1, --bash at least 0")

    def progress(line: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    outcome = soak(given.turns, given.bash, given.seed, progress)
    progress("")
    print("\n".join(outcome.lines()))
    return 1 if outcome.broken else 0


if __name__ == "__main__":
    sys.exit(main())
