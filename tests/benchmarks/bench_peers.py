"""This harness beside others, in one run: time per turn, its growth, memory, and import time.

Each harness does the same scripted task (see peers/measure.py): so many answers of a model that
takes no time, each but the last with one call of a tool that does nothing. Each has an environment
of its own, made once in a folder that git ignores; every number is of a process of its own, and
the harnesses take turns. Times are of the processor; what counts are the ratios. The others do
other things as well, and ours records every event of the run: read the numbers as what a turn
costs, not as what a turn is worth.

    python tests/benchmarks/bench_peers.py [--rounds N] [--only NAME ...] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MEASURE = Path(__file__).resolve().parent / "peers" / "measure.py"
OURS = "curriculum"
PEERS = {  # as released when this was written; newer ones may need another script
    "openai-agents": "0.24.0",
    "pydantic-ai-slim": "2.68.0",
    "smolagents": "1.26.0",
    "mini-swe-agent": "2.4.6",
    "langgraph": "1.2.24",
}
LENGTHS = (10, 100, 1000)
RUNS = {10: 10, 100: 3, 1000: 1}
SECONDS = 900  # a measurement that takes longer is given up
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
FIELDS = ("import_s", "peak_kb")


def prepare(name: str, cache: Path) -> str:
    """The Python of a peer's environment, made and filled if need be. Raises RuntimeError."""
    if name == OURS:
        return sys.executable
    folder, wanted = cache / name, f"{name}=={PEERS[name]}"
    python, stamp = folder / "bin" / "python", folder / "installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return str(python)
    print(f"installing {wanted} (once)", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"cannot be installed: {last_line(done.stderr)}")
    stamp.write_text(wanted)
    return str(python)


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[-1][:200]


def measure(python: str, name: str, *what: str) -> dict[str, Any]:
    """One process of a peer. Raises RuntimeError with the reason if it fails."""
    keep = ("PATH", "HOME", "LANG", "TMPDIR")
    environment = {key: os.environ[key] for key in keep if key in os.environ}
    try:
        done = subprocess.run(
            [python, str(MEASURE), name.replace("-", "_"), *what],
            env={**environment, "PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{' '.join(what)} took more than {SECONDS} s") from None
    if done.returncode:
        raise RuntimeError(f"{' '.join(what)} failed: {last_line(done.stderr)}")
    told: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return told


def collect(
    names: list[str], rounds: int, cache: Path
) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Samples of every harness so far, and why others have none; after each round."""
    pythons: dict[str, str] = {}
    absent: dict[str, str] = {}
    samples: dict[str, Any] = {}
    for name in names:
        try:
            pythons[name] = prepare(name, cache)
            told = measure(pythons[name], name, "import")  # also compiles its bytecode
            samples[name] = {"version": told["version"], **{n: [] for n in (*LENGTHS, *FIELDS)}}
        except RuntimeError as fault:
            absent[name] = str(fault)
    for number in range(rounds):
        for length in LENGTHS:
            for name in list(samples):
                show(f"round {number + 1} of {rounds}: {name}, {length} turns")
                try:
                    told = measure(pythons[name], name, "time", str(length), str(RUNS[length]))
                    samples[name][length] += [s / length * 1e6 for s in told["seconds"]]
                    samples[name]["import_s"].append(told["import_s"])
                    if length == max(LENGTHS):
                        samples[name]["peak_kb"].append(told["peak_kb"])
                except RuntimeError as fault:
                    absent[name] = str(fault)
                    del samples[name]
        show("")
        yield samples, absent


def show(line: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def spread(values: list[float]) -> dict[str, float]:
    """Median, least and most."""
    return {"median": statistics.median(values), "low": min(values), "high": max(values)}


def rows_of(samples: dict[str, Any]) -> list[dict[str, Any]]:
    """One row a harness: spreads, and the exponent of growth from 100 turns to 1,000."""
    rows = []
    for name, found in samples.items():
        turns = {str(length): spread(found[length]) for length in LENGTHS}
        growth = math.log10(turns["1000"]["median"] * 10 / turns["100"]["median"])
        rows.append(
            {
                "name": name,
                "version": found["version"],
                "us_per_turn": turns,
                "growth_exponent": growth,
                "import_ms": spread([1000 * s for s in found["import_s"]]),
                "peak_mb": spread([kb / 1024 for kb in found["peak_kb"]]),
            }
        )
    return rows


# region: told
def verdicts(rows: list[dict[str, Any]]) -> list[str]:
    """Who is ahead in what, us or not."""
    us = next((row for row in rows if row["name"] == OURS), None)
    if us is None or len(rows) < 2:
        return []
    wins, losses = [], []
    tests = {f"time a turn at {n}": ("us_per_turn", str(n)) for n in LENGTHS}
    tests |= {"growth": ("growth_exponent",), "import": ("import_ms",), "memory": ("peak_mb",)}
    for what, path in tests.items():
        values = {row["name"]: look(row, path) for row in rows}
        best = min(values, key=lambda name: values[name])
        if best == OURS:
            second = min((v for name, v in values.items() if name != OURS))
            wins.append(f"{what} (next best: {second / values[OURS]:.2f} times ours)")
        else:
            losses.append(f"{what}: {best} has {values[best] / values[OURS]:.2f} of ours")
    lines = [f"least of all here: {', '.join(wins) or 'nothing'}"]
    lines.append(f"where a peer wins: {'; '.join(losses) or 'nowhere'}")
    return lines


def look(row: dict[str, Any], path: tuple[str, ...]) -> float:
    found: Any = row
    for step in path:
        found = found[step]
    return float(found["median"] if isinstance(found, dict) else found)


def as_table(rows: list[dict[str, Any]]) -> list[str]:
    """Medians with their spread; behind each time its ratio to ours."""
    us = next((row for row in rows if row["name"] == OURS), rows[0])
    lines = [
        f"{'harness':18}{'version':>9}"
        + "".join(f"{f'µs a turn at {n:,}':>38}" for n in LENGTHS)
        + f"{'growth':>8}{'import ms':>26}{'peak MB':>20}"
    ]
    for row in rows:
        cells = [f"{row['name']:18}{row['version']:>9}"]
        for n in LENGTHS:
            found = row["us_per_turn"][str(n)]
            ratio = found["median"] / us["us_per_turn"][str(n)]["median"]
            told = f"{found['median']:,.0f} ({found['low']:,.0f} to {found['high']:,.0f})"
            cells.append(f"{told:>30} {ratio:6.1f}x")
        cells.append(f"{row['growth_exponent']:8.2f}")
        for field, width in (("import_ms", 26), ("peak_mb", 20)):
            found = row[field]
            told = f"{found['median']:,.0f} ({found['low']:,.0f} to {found['high']:,.0f})"
            cells.append(f"{told:>{width}}")
        lines.append("".join(cells))
    return lines


# endregion


def as_svg(rows: list[dict[str, Any]]) -> str:
    """Time a turn over the length of the run, both logarithmic; a flat line is linear growth."""
    medians = [found["median"] for row in rows for found in row["us_per_turn"].values()]
    low, high = math.floor(math.log10(min(medians))), math.ceil(math.log10(max(medians)))
    height = 380 + 20 * len(rows)

    def x(turns: int) -> float:
        return 90 + 260 * (math.log10(turns) - 1)

    def y(us: float) -> float:
        return 40 + 280 * (high - math.log10(us)) / (high - low)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 {height}" width="680" '
        f'height="{height}" font-family="sans-serif" font-size="12" role="img">',
        "<title>Time a turn by the length of the run</title>",
        f'<rect width="680" height="{height}" fill="#fff"/>',
        '<text x="90" y="22" font-size="14">µs a turn, by turns of the run</text>',
    ]
    for power in range(low, high + 1):
        at = y(10.0**power)
        out.append(
            f'<path d="M90 {at:.1f}H640" stroke="#ddd"/>'
            f'<text x="82" y="{at + 4:.1f}" text-anchor="end">{10**power:,}</text>'
        )
    for n in LENGTHS:
        out.append(f'<text x="{x(n):.1f}" y="342" text-anchor="middle">{n:,}</text>')
    for number, row in enumerate(rows):
        colour = COLOURS[number % len(COLOURS)]
        points = [(x(n), row["us_per_turn"][str(n)]) for n in LENGTHS]
        way = "L".join(f"{px:.1f} {y(found['median']):.1f}" for px, found in points)
        out.append(f'<path d="M{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for px, found in points:
            out.append(
                f'<path d="M{px:.1f} {y(found["low"]):.1f}V{y(found["high"]):.1f}" '
                f'stroke="{colour}"/><circle cx="{px:.1f}" cy="{y(found["median"]):.1f}" r="3.5" '
                f'fill="{colour}"/>'
            )
        at = 372 + 20 * number
        name = escape(f"{row['name']} {row['version']}, exponent {row['growth_exponent']:.2f}")
        out.append(
            f'<path d="M90 {at - 4}h24" stroke="{colour}" stroke-width="2"/>'
            f'<text x="122" y="{at}">{name}</text>'
        )
    return "\n".join([*out, "</svg>"]) + "\n"


def main() -> int:
    """Measure, print, write; the exit code is always 0, as a benchmark is no test."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--cache", type=Path, default=ROOT / ".cache" / "peers")
    parser.add_argument("--out", type=Path, default=ROOT / ".cache" / "bench-peers")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rows, absent = [], dict[str, str]()
    rounds = collect([OURS, *given.only], given.rounds, given.cache)
    for number, (samples, absent) in enumerate(rounds, 1):
        rows = rows_of(samples)  # an hour that is cut short leaves the rounds that were done
        data = {"benchmark": "peers", "rounds": number, "rows": rows, "absent": absent}
        (given.out / "results.json").write_text(json.dumps(data, indent=1) + "\n")
        (given.out / "plot.svg").write_text(as_svg(rows))
    print("\n".join([*as_table(rows), *verdicts(rows)]))
    for name, why in absent.items():
        print(f"not measured: {name}: {why}")
    print(f"written: {given.out / 'results.json'} and plot.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
