"""Every benchmark in one run, put into one table, one JSON file and one picture.

Each `bench_*.py` beside this file measures one thing and is the only place where it is measured;
here their comparisons stand together, with the aims, and it is said where a peer wins. A ratio is
how many times as long (or as much) ours takes as the other, in the same round: the median, and
the middle half of the rounds. Less than 1 is better. Times of the disk and of whole processes are
worth as much as the machine was quiet.

    python -m tests.benchmarks [--only NAME ...] [--skip NAME ...] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.picture import draw
from tests.benchmarks.rounds import short

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NAMES = sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def measure(name: str) -> dict[str, Any]:
    """What one benchmark says. Raises RuntimeError with the reason if it says nothing."""
    done = subprocess.run(
        [sys.executable, str(HERE / f"bench_{name}.py"), "--json"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    try:
        told: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        raise RuntimeError(done.stdout.strip() or f"exit code {done.returncode}") from None
    return told


# region: table
def as_table(ratios: list[dict[str, Any]]) -> list[str]:
    """One line for each comparison, with the aim and whether it is met."""
    lines = [f"{'ours':36}{'against':32}{'ratio':>8}{'middle half':>18}{'aim':>7}"]
    for found in ratios:
        aim = found["aim"]
        met = "" if aim is None else f"{aim:7.2f}  {'met' if found['ratio'] <= aim else 'MISSED'}"
        spread = f"{short(found['low'])} to {short(found['high'])}"
        ratio = short(found["ratio"])
        line = f"{found['measure']:36}{found['against']:32}{ratio:>8}{spread:>18}{met}"
        lines.append(line + (f"  ({found['note']})" if found["note"] else ""))
    return lines


def verdicts(ratios: list[dict[str, Any]]) -> list[str]:
    """Which aims are missed, and where a peer wins. A bare start of Python is no peer."""
    missed = [f for f in ratios if f["aim"] is not None and f["ratio"] > f["aim"]]
    peers = [f for f in ratios if f["is_peer"]]
    won = [f for f in peers if f["ratio"] > 1]
    aims = sum(found["aim"] is not None for found in ratios)
    lines = [f"aims: {aims - len(missed)} of {aims} met", f"comparisons with peers: {len(peers)}"]
    lines += [
        f"where a peer wins: {f['against']} in {f['measure']} ({short(f['ratio'])})" for f in won
    ]
    return lines if won else [*lines, "where a peer wins: nowhere"]


# endregion


def main() -> int:
    """Measure, print, write; the exit code is always 0, as a benchmark is no test."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--skip", nargs="+", choices=NAMES, default=[])
    parser.add_argument("--out", type=Path, default=ROOT / ".cache" / "bench")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "absent": {},
    }
    ratios: list[dict[str, Any]] = []
    for name in [name for name in NAMES if name in given.only and name not in given.skip]:
        print(f"measuring: {name}", file=sys.stderr)
        try:
            found[name] = measure(name)
        except RuntimeError as fault:
            found["absent"][name] = str(fault)
            continue
        ratios += found[name]["ratios"]
        (given.out / "results.json").write_text(json.dumps(found, indent=1) + "\n")
    (given.out / "plot.svg").write_text(draw(ratios))
    print("\n".join([*as_table(ratios), *verdicts(ratios)]))
    for name, why in found["absent"].items():
        print(f"not measured: {name}: {why}")
    load = f", load {found['load']:.1f} at the start" if found["load"] is not None else ""
    print(f"{found['date']}, Python {found['python']}, {found['machine']}{load}")
    print(f"written: {given.out / 'results.json'} and plot.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
