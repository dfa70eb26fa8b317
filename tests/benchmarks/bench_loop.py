"""How the cost of a turn grows with the length of a run: 10, 100 and 1,000 scripted turns.

Each turn asks for one tool call. The runs take turns within one measurement, each from a
collected heap, with the collector on as in any program; what counts is the time per turn at
1,000 over that at 100. The aim is at most 1.15: linear within 15%. Times in microseconds.

    python tests/benchmarks/bench_loop.py [--rounds N] [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from curriculum.core.loop import AgentConfig, AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from tests.benchmarks.rounds import compare, line_of, middle

AIM = 1.15
LENGTHS = (10, 100, 1000)


class Echo:
    """Gives back its arguments."""

    definition = ToolDefinition("echo", "Echo.", {"type": "object"})

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({"arguments": arguments}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        return ToolResult("completed", str(prepared.action))


def run_turns(count: int) -> float:
    """Seconds that a run of `count` model turns takes."""
    script = [ModelTurn("next", (ToolCall(f"call-{n}", "echo"),)) for n in range(count - 1)]
    model = ScriptedModel([*script, ModelTurn("done")])
    runner = AgentRunner(model, ToolBox([Echo()], ["echo"]), AgentConfig(count, count))
    gc.collect()
    start = time.process_time()
    result = runner.run("go")
    taken = time.process_time() - start
    assert result.stop_reason == "completed", result.error
    return taken


def measure(rounds: int) -> dict[str, list[float]]:
    """Microseconds a turn in each round, by the number of turns."""
    taken: dict[str, list[float]] = {str(length): [] for length in LENGTHS}
    for _ in range(rounds):
        for length in LENGTHS:
            runs = max(LENGTHS) // length  # as many turns for each length in every round
            whole = sum(run_turns(length) for _ in range(runs))
            taken[str(length)].append(whole / runs / length * 1e6)
    return taken


def main() -> int:
    """Print the table; the exit code is always 0, as a benchmark is no test."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true", help="one JSON object in place of a table")
    options = parser.parse_args()
    taken = measure(options.rounds)
    growth = compare("loop: a turn of 1,000", "1000", "100", taken, AIM)
    growth["against"] = "a turn of 100"
    rows = [
        {"turns": int(length), "low_us": low, "median_us": median, "high_us": high}
        for length, (low, median, high) in zip(taken, map(middle, taken.values()), strict=True)
    ]
    if options.json:
        print(json.dumps({"benchmark": "loop", "rows": rows, "ratios": [growth]}))
        return 0
    for row in rows:
        print(
            f"{row['turns']:6.0f} turns  {row['median_us']:6.1f} µs a turn"
            f"  ({row['low_us']:.1f} to {row['high_us']:.1f})"
        )
    print(line_of(growth))
    return 0


if __name__ == "__main__":
    sys.exit(main())
