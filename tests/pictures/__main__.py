"""`python -m tests.pictures` compares every picture; `--update` writes them anew."""

from __future__ import annotations

import argparse
import sys

from tests.pictures import problems


def main() -> int:
    """Exit code 0 when every picture is right (or was written), else 1."""
    parser = argparse.ArgumentParser(prog="tests.pictures", description=__doc__)
    parser.add_argument("--update", action="store_true", help="write the pictures anew")
    found = list(problems(parser.parse_args().update))
    for problem in found:
        print(f"pictures: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
