"""What the bounds of Bash cost: one call of the tool against a bare start of the same shell.

Every round measures each way once, in turn, so that a busy machine slows all of them alike; what
counts is the ratio of the medians within this one run, with an aim of at most 1.2. The reference
has the tool's own small environment, which starts faster than one that inherits everything. Times
are in milliseconds; the spread is that of the middle half of the rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from curriculum.core.seams import CancelToken
from curriculum.core.tools import RunningCall
from curriculum.tools.bash import Bash

AIM = 1.2
SHELL = ["/bin/bash", "--noprofile", "--norc", "-c"]
ENVIRONMENT = {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
FULL = "head -c 60000 /dev/zero"


def ways() -> dict[str, Callable[[], object]]:
    """What is measured, by name; the first is what the others are compared with."""
    bash = Bash("/", ENVIRONMENT)

    def tool(command: str) -> None:
        call = RunningCall("call-1", CancelToken(), lambda stream, text: None)
        result = bash.execute(bash.prepare(json.dumps({"command": command})), call)
        assert result.exit_code == 0, result

    def bare(command: str, **options: bool) -> None:
        subprocess.run([*SHELL, command], check=True, env=ENVIRONMENT, cwd="/", **options)

    return {
        "bare run of true": lambda: bare("true"),
        "bare run, all inherited": lambda: subprocess.run([*SHELL, "true"], check=True),
        "run with captured output": lambda: bare("true", capture_output=True),
        "Bash: true": lambda: tool("true"),
        "run capturing 60,000 bytes": lambda: bare(FULL, capture_output=True),
        "Bash: 60,000 bytes": lambda: tool(FULL),
    }


def measure(rounds: int) -> list[dict[str, object]]:
    """One row for each way: median and quartiles in ms, and the ratio to the bare run."""
    runs = ways()
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds + 5):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if number >= 5:  # the first rounds only warm up
                seconds[name].append(time.perf_counter() - start)
    bare = statistics.median(next(iter(seconds.values())))
    rows: list[dict[str, object]] = []
    for name, taken in seconds.items():
        low, median, high = (1000 * cut for cut in statistics.quantiles(taken, n=4))
        ratio = median / 1000 / bare
        rows.append(
            {"way": name, "median_ms": median, "low_ms": low, "high_ms": high, "ratio": ratio}
        )
    return rows


def main() -> int:
    """Print the table; the exit code is always 0, as a benchmark is no test."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="one JSON object in place of a table")
    options = parser.parse_args()
    rows = measure(options.rounds)
    if options.json:
        print(json.dumps({"benchmark": "bash", "aim": AIM, "rounds": options.rounds, "rows": rows}))
        return 0
    print(f"{'':28}{'median':>9}{'middle half':>18}{'ratio':>8}   aim {AIM}")
    for row in rows:
        spread = f"{row['low_ms']:.2f} - {row['high_ms']:.2f}"
        print(f"{row['way']:28}{row['median_ms']:9.2f}{spread:>18}{row['ratio']:8.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
