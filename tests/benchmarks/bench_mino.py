"""What `mino --version` costs as a whole process, against `python -c pass`; aim: at most 2.5.

Every round starts each way once, in turn; what counts is the ratio of the medians within this one
run. The start of a chat's parts (all that `mino run` loads) is shown as well, without an aim.

    python tests/benchmarks/bench_mino.py [--rounds N] [--json]
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
AIM = 2.5
WAYS = {
    "python -c pass": ["-c", "pass"],
    "mino --version": ["-m", "curriculum.mino", "--version"],
    "mino sessions": ["-m", "curriculum.mino", "sessions"],
    "all that a turn loads": ["-c", "import curriculum.mino.run, curriculum.providers.connection"],
}


def measure(rounds: int) -> list[dict[str, object]]:
    """One row for each way: median and quartiles in ms, and the ratio to `pass`."""
    compileall.compile_dir(ROOT / "curriculum", quiet=2)
    seconds: dict[str, list[float]] = {name: [] for name in WAYS}
    with tempfile.TemporaryDirectory() as home:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        for number in range(rounds + 3):
            for name, arguments in WAYS.items():
                start = time.perf_counter()
                subprocess.run(
                    [sys.executable, *arguments],
                    cwd=ROOT,
                    env={**kept, "HOME": home},
                    stdout=subprocess.DEVNULL,
                    check=True,
                )
                if number >= 3:  # the first rounds only warm up
                    seconds[name].append(time.perf_counter() - start)
    bare = statistics.median(seconds["python -c pass"])
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
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", action="store_true", help="one JSON object in place of a table")
    options = parser.parse_args()
    rows = measure(options.rounds)
    if options.json:
        print(json.dumps({"benchmark": "mino", "aim": AIM, "rows": rows}))
        return 0
    for row in rows:
        print(
            f"{row['way']:<24} {row['median_ms']:6.1f} ms"
            f"  ({row['low_ms']:.1f} to {row['high_ms']:.1f})  {row['ratio']:5.2f}"
        )
    print(f"aim: `mino --version` at most {AIM}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
