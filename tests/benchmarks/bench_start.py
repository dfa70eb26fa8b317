"""What the s01 demo costs as a whole process, against `python -c pass` of the same interpreter.

The aim is at most 1.6. `-m` alone (a package with nothing in it) is shown as well: it is Python's
own part. Bytecode is compiled first, as `make demo` does. Times are of
the processor, in milliseconds.

    python tests/benchmarks/bench_start.py [--rounds N] [--json]
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

AIM = 1.6
DEMO = "curriculum.lessons.s01_agent_loop.demo"


def measure(rounds: int) -> Taken:
    """Seconds of each way in each round."""
    compileall.compile_dir(ROOT / "curriculum", quiet=2)
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder, "a", "b", "c")
        empty.mkdir(parents=True)
        for package in (empty, empty.parent, empty.parent.parent):
            (package / "__init__.py").touch()
        (empty / "demo.py").touch()
        compileall.compile_dir(folder, quiet=2)
        ways = {
            "python -c pass": (["-c", "pass"], folder),
            "python -m, an empty module": (["-m", "a.b.c.demo"], folder),
            "python -m, the s01 demo": (["-m", DEMO], str(ROOT)),
        }
        env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        runs = {
            name: partial(
                subprocess.run,
                [sys.executable, *arguments],
                cwd=cwd,
                env=env,
                stdout=subprocess.DEVNULL,
                check=True,
            )
            for name, (arguments, cwd) in ways.items()
        }
        return in_turns(runs, rounds, warm_up=3, clock=cpu_seconds)


def main() -> int:
    """Print the table; the exit code is always 0, as a benchmark is no test."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--json", action="store_true", help="one JSON object in place of a table")
    options = parser.parse_args()
    taken = measure(options.rounds)
    ways = ("python -m, the s01 demo", "python -c pass")
    tell("start", rows_of(taken), [compare("start: the s01 demo", *ways, taken, AIM)], options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
