"""Validation beside other validators of the same schema, and memory against file size.

The file is many turns in one trace. The others get each line of it and say whether it is a right
event; ours also holds each line to strict JSON and the events to the rules between them. The limit
is the fastest parser with the fastest validator, orjson and jsonschema-rs: the aim is at most 1.3
times as long. The slow ones are given a short file. Memory is the peak of a fresh process.

    python tests/benchmarks/bench_validate.py [--rounds N] [--json] [--long]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import orjson  # noqa: E402

from curriculum.core.trace import format_timestamp  # noqa: E402
from curriculum.trace.codes import Verdict  # noqa: E402
from curriculum.trace.engines import Engine, make_engine  # noqa: E402
from curriculum.trace.validate import validate  # noqa: E402
from tests.benchmarks.rounds import compare, in_turns, line_of, middle  # noqa: E402
from tests.benchmarks.validators import PEERS, mutants  # noqa: E402
from tests.trace import story  # noqa: E402

MEGABYTE = 1_000_000
AIM = 1.3
OURS, PLAIN, PARSED = "ours", "ours on jsonschema alone", "orjson.loads alone"
LIMIT, REFERENCE = "orjson + jsonschema-rs", "orjson + jsonschema"
SLOW = (PLAIN, REFERENCE, "orjson + fastjsonschema")
PEAK = """
import resource, sys
from curriculum.trace.__main__ import main
code = main(["validate", sys.argv[1]])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak * (1 if sys.platform == "darwin" else 1024), file=sys.stderr)
sys.exit(code)
"""
# A request lists the role of every message before it, so a trace of many short answers would be
# roles above all. Here an answer comes in many pieces, and a call gives much output.
PIECES, OUTPUTS = 100, 50
ROLES_OF_A_TURN = ("user", "assistant", "tool", "assistant")


def turn(number: int) -> Iterable[story.Event]:
    """One user turn with a call: 258 events of about 500 bytes on average."""
    first, second = 2 * number + 1, 2 * number + 2
    call = {**story.CALL, "call_id": f"call-{number + 1}"}
    call["arguments"] = '{"command":"grep -rn --include=*.py validate . | sort | head -20"}'
    before = [*ROLES_OF_A_TURN * number, "user"]
    pieces = [f"This is piece {index} of an answer. " for index in range(PIECES)]
    whole = {"count": PIECES, "complete": True}
    yield story.user("Where is the validator, and who calls it? Answer in one paragraph, please.")
    for request in (first, second):
        roles = before if request == first else [*before, "assistant", "tool"]
        yield story.request(request, *roles, turn=1 if request == first else 2)
        yield from (story.delta(request, index, text) for index, text in enumerate(pieces))
        calls = [call] if request == first else []
        yield story.response(request, "".join(pieces), *calls, chunks=whole)
        if calls:
            yield story.call(first, **call)
            yield story.begun(call["call_id"])
            for index in range(OUTPUTS):
                output = story.output(index, call["call_id"])
                output["payload"]["text"] = "curriculum/trace/validate.py:1: validate\n" * 4
                yield output
            yield story.result(call_id=call["call_id"], exit_code=0)


def write_trace(path: Path, size: int, ids: Callable[[int], str]) -> int:
    """Write a complete trace of about `size` bytes; returns its number of events."""
    sequence = written = 0
    previous = None
    with path.open("wb") as file:

        def put(event: story.Event) -> None:
            nonlocal sequence, written, previous
            event.update(
                event_id=ids(sequence),
                sequence=sequence,
                parent_id=previous,
                timestamp=format_timestamp(story.START_US + 1000 * sequence),
                elapsed_us=1000 * sequence,
            )
            previous = event["event_id"]
            sequence += 1
            line = orjson.dumps(event, option=orjson.OPT_SORT_KEYS) + b"\n"
            written += len(line)
            file.write(line)

        put(story.start())
        number = 0
        while written < size:
            for event in turn(number):
                put(event)
            number += 1
        end = story.stop()
        end["payload"]["event_count"] = sequence + 1
        put(end)
    return sequence


def check(path: Path, engine: Engine) -> None:
    with path.open("rb") as file:
        report = validate(file.read, engine)
    assert report.verdict == Verdict.COMPLETE, report.findings[:3]


def measure_speed(
    folder: Path, rounds: int
) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """(a row for each way, the comparisons). Times are of the processor, for each event."""
    fast, slow = folder / "fast.jsonl", folder / "slow.jsonl"
    ids = "event-{}".format
    events = {fast: write_trace(fast, 8 * MEGABYTE, ids), slow: write_trace(slow, 150_000, ids)}
    peers = {name: make() for name, make in PEERS.items()}
    kinds = {event["type"]: event for event in map(orjson.loads, slow.open("rb"))}
    wrong = [line for line in mutants(kinds.values()) if not peers[REFERENCE](line)]

    def each_of(is_valid: Callable[[bytes], object], path: Path) -> Callable[[], object]:
        def run() -> None:
            with path.open("rb") as file:
                assert all(map(is_valid, file)), "a right event was refused"

        return run

    files = {name: slow if name in SLOW else fast for name in (OURS, PLAIN, PARSED, *PEERS)}
    ways = {
        OURS: partial(check, fast, make_engine("fast")),
        PLAIN: partial(check, slow, make_engine("plain")),
        PARSED: each_of(orjson.loads, fast),
        **{name: each_of(is_valid, files[name]) for name, is_valid in peers.items()},
    }
    taken = {
        name: [seconds / events[files[name]] for seconds in found]
        for name, found in in_turns(ways, rounds, warm_up=1, clock=time.process_time).items()
    }
    ratios = []
    for name, is_valid in peers.items():
        missed = sum(map(is_valid, wrong))
        note = "checks no rule between events"
        note += f", lets {missed} of {len(wrong)} wrong events pass" if missed else ""
        aim = AIM if name == LIMIT else None
        ratios.append(compare("validation: an event", OURS, name, taken, aim, note, is_peer=True))
    rows = []
    for name, found in taken.items():
        low, median, high = (1e6 * seconds for seconds in middle(found))
        rows.append({"what": name, "us_per_event": median, "low_us": low, "high_us": high})
    return rows, ratios


def measure_memory(folder: Path, sizes: Iterable[int]) -> list[dict[str, object]]:
    """Peak memory of the command at each size, for counted ids and for ids at random."""
    rows: list[dict[str, object]] = []
    for name, ids in (
        ("counted", lambda index: f"event-{index + 1}"),
        ("random", lambda index: f"{index * 0x9E3779B97F4A7C15 % 2**64:016x}x"),
    ):
        for size in sizes:
            path = folder / "memory.jsonl"
            write_trace(path, size, ids)
            began = time.perf_counter()
            run = subprocess.run(
                [sys.executable, "-c", PEAK, str(path)], cwd=ROOT, capture_output=True, text=True
            )
            assert run.returncode == 0, run.stdout[:500] + run.stderr[:500]
            rows.append(
                {
                    "ids": name,
                    "file_mb": size / MEGABYTE,
                    "peak_mb": int(run.stderr) / MEGABYTE,
                    "seconds": time.perf_counter() - began,
                }
            )
            path.unlink()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--long", action="store_true", help="also a file of 1 GB")
    parser.add_argument("--rounds", type=int, default=11)
    given = parser.parse_args()
    sizes = [10 * MEGABYTE, 200 * MEGABYTE] + [1000 * MEGABYTE] * given.long
    with tempfile.TemporaryDirectory() as name:
        # Memory first: a process starts out with the peak of the one that it was forked from.
        memory = measure_memory(Path(name), sizes)
        speed, ratios = measure_speed(Path(name), given.rounds)
    if given.json:
        found = {"rows": speed, "memory": memory, "ratios": ratios}
        print(json.dumps({"benchmark": "validate", **found}))
        return
    print(f"{'one core':32}{'µs/event':>10}{'middle half':>18}{'events/s':>12}")
    for row in speed:
        spread = f"{row['low_us']:.2f} to {row['high_us']:.2f}"
        rate = 1e6 / row["us_per_event"]
        print(f"{row['what']:32}{row['us_per_event']:10.2f}{spread:>18}{rate:12,.0f}")
    for found in ratios:
        print(line_of(found))
    print(f"\n{'ids':10}{'file':>10}{'peak memory':>14}{'seconds':>10}")
    for row in memory:
        sizes_shown = f"{row['file_mb']:7.0f} MB{row['peak_mb']:11.0f} MB"
        print(f"{row['ids']:10}{sizes_shown}{row['seconds']:10.1f}")


if __name__ == "__main__":
    main()
