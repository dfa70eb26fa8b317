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
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.rounds import compare, middle  # noqa: E402

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
    """Median and quartiles."""
    low, median, high = middle(values)
    return {"median": median, "low": low, "high": high}


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


def ratios_of(samples: dict[str, Any]) -> list[dict[str, object]]:
    """Ours beside each other harness."""
    measures: dict[str, Any] = {f"turn: one of {length:,}": length for length in LENGTHS}
    measures |= {"peak memory, 1,000 turns": "peak_kb", "import": "import_s"}
    return [
        compare(
            measure,
            OURS,
            name,
            {one: samples[one][key] for one in (OURS, name)},
            1.0 if measure.startswith("turn") else None,
            is_peer=True,
        )
        for measure, key in measures.items()
        for name in samples
        if OURS in samples and name != OURS
    ]


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


def main() -> int:
    """Measure, print, write; the exit code is always 0, as a benchmark is no test."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--cache", type=Path, default=ROOT / ".cache" / "peers")
    parser.add_argument("--out", type=Path, default=ROOT / ".cache" / "bench-peers")
    parser.add_argument("--json", action="store_true", help="one JSON object in place of a table")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    data: dict[str, Any] = {}
    rounds = collect([OURS, *given.only], given.rounds, given.cache)
    for number, (samples, absent) in enumerate(rounds, 1):
        rows = rows_of(samples)  # an hour that is cut short leaves the rounds that were done
        data = {"benchmark": "peers", "rounds": number, "rows": rows, "absent": absent}
        data["ratios"] = ratios_of(samples)
        (given.out / "results.json").write_text(json.dumps(data, indent=1) + "\n")
    if given.json:
        print(json.dumps(data))
        return 0
    print("\n".join([*as_table(data["rows"]), *verdicts(data["rows"])]))
    for name, why in data["absent"].items():
        print(f"not measured: {name}: {why}")
    print(f"written: {given.out / 'results.json'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
