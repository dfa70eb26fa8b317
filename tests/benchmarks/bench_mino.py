"""What `mino --version` costs as a whole process, against `python -c pass`; aim: at most 2.5.

The start of a chat's parts (all that `mino run` loads) is shown as well, without an aim.
Times in milliseconds of the processor.

    python tests/benchmarks/bench_mino.py [--rounds N] [--json]
"""

from __future__ import annotations

import argparse
import compileall
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.rounds import (  # noqa: E402
    Taken,
    compare,
    cpu_seconds,
    in_turns,
    rows_of,
    tell,
)

AIM = 2.5
WAYS = {
    "python -c pass": ["-c", "pass"],
    "mino --version": ["-m", "curriculum.mino", "--version"],
    "mino sessions": ["-m", "curriculum.mino", "sessions"],
    "all that a turn loads": ["-c", "import curriculum.mino.run, curriculum.providers.connection"],
}


def measure(rounds: int) -> Taken:
    """Seconds of each way in each round."""
    compileall.compile_dir(ROOT / "curriculum", quiet=2)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    with tempfile.TemporaryDirectory() as home:
        runs = {
            name: partial(
                subprocess.run,
                [sys.executable, *arguments],
                cwd=ROOT,
                env={**kept, "HOME": home},
                stdout=subprocess.DEVNULL,
                check=True,
            )
            for name, arguments in WAYS.items()
        }
        return in_turns(runs, rounds, warm_up=3, clock=cpu_seconds)


def main() -> int:
    """Print the table; the exit code is always 0, as a benchmark is no test."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", action="store_true", help="one JSON object in place of a table")
    options = parser.parse_args()
    taken = measure(options.rounds)
    ways = ("mino --version", "python -c pass")
    tell(
        "mino", rows_of(taken), [compare("start: mino --version", *ways, taken, AIM)], options.json
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
