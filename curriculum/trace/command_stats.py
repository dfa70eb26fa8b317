"""`python -m curriculum.trace stats FILE...`: what runs were made of, as tables or as JSON."""

from __future__ import annotations

import argparse
import gc
import json
import sys
from typing import Any, TypeVar

from curriculum.trace.events import open_events
from curriculum.trace.inputs import EXIT_CODES, get_engine
from curriculum.trace.prices import as_dollars, read_prices
from curriculum.trace.report import written_name
from curriculum.trace.stats import Stats

Parser = TypeVar("Parser", bound=argparse.ArgumentParser)


def add_parser(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add the `stats` subcommand."""
    parser = commands.add_parser(
        "stats",
        help="count a run: turns, calls, time, tokens, cost",
        description="Count what runs were made of. Memory does not grow with the trace.",
        epilog="Exit code: 0 counted; " + EXIT_CODES,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a trace; - is standard input")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: JSONL")
    parser.add_argument(
        "--prices",
        metavar="FILE",
        help='what tokens cost: {"MODEL": {"input": N, "output": N}}, whole micro-dollars per '
        "million tokens; the model * is every other one",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Count each file; returns the exit code. Raises RefusedError."""
    prices = read_prices(arguments.prices) if arguments.prices else None
    engine = get_engine()
    gc.set_threshold(100_000)  # events are trees that live for one line
    for name in arguments.files:
        stats = Stats(prices)
        with open_events(name, engine) as events:
            for event in events:
                stats.take(event)
            data = {
                "file": written_name(name),
                "bytes": events.bytes_read,
                "torn_bytes": events.torn_bytes,
                **stats.as_data(),
            }
        if arguments.format == "json":
            print(json.dumps(data), flush=True)
        else:
            _show(name, data, stats)
    return 0


def _show(name: str, data: dict[str, Any], stats: Stats) -> None:
    from curriculum.trace.tables import show_stats

    cost = as_dollars(data["cost_micro_dollars"]) if "cost_micro_dollars" in data else None
    sys.stdout.write(show_stats(name, data, stats, cost))
    sys.stdout.flush()
