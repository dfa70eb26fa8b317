"""Validation against its parts, as ratios within one run, and memory against file size.

The file is many short sessions' worth of turns in one trace, written by the real recorder's
writer. `orjson` is what any reader must pay at least; `jsonschema` is one reused validator over
the same schema, by line, on a share of the file. Memory is the peak of a fresh process.

    python tests/benchmarks/bench_validate.py [--json] [--long]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import orjson  # noqa: E402
from jsonschema import Draft202012Validator  # noqa: E402

from curriculum.core.trace import format_timestamp  # noqa: E402
from curriculum.trace.codes import Verdict  # noqa: E402
from curriculum.trace.engines import make_engine  # noqa: E402
from curriculum.trace.schema import load_schema  # noqa: E402
from curriculum.trace.validate import validate  # noqa: E402
from tests.trace import story  # noqa: E402

MEGABYTE = 1_000_000
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


def best(work: Callable[[], object], times: int) -> float:
    """Processor seconds of the fastest of several runs: others on the machine count little."""
    taken = []
    for _ in range(times):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)


def check(path: Path, engine: str) -> None:
    with path.open("rb") as file:
        report = validate(file.read, make_engine(engine))
    assert report.verdict == Verdict.COMPLETE, report.findings[:3]


def measure_speed(folder: Path, times: int) -> list[dict[str, object]]:
    """Seconds an event of each way, and how they compare with validation on the fast path."""
    path = folder / "speed.jsonl"
    events = write_trace(path, 20 * MEGABYTE, lambda index: f"event-{index + 1}")
    lines = path.read_bytes().splitlines()
    share = lines[: len(lines) // 40]
    reused = Draft202012Validator(load_schema())
    small = folder / "small.jsonl"
    few = write_trace(small, MEGABYTE // 2, lambda index: f"event-{index + 1}")

    def each_parsed() -> None:
        for line in lines:
            orjson.loads(line)

    def each_valid() -> None:
        assert all(reused.is_valid(orjson.loads(line)) for line in share)

    ways = [
        ("validate, fast", best(lambda: check(path, "fast"), times) / events),
        ("orjson.loads alone", best(each_parsed, times) / events),
        ("validate, plain", best(lambda: check(small, "plain"), 1) / few),
        ("jsonschema reused, shape only", best(each_valid, 1) / len(share)),
    ]
    ours = ways[0][1]
    return [
        {
            "what": what,
            "us_per_event": taken * 1e6,
            "events_per_s": 1 / taken,
            "ratio": taken / ours,
        }
        for what, taken in ways
    ]


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
    parser.add_argument("--times", type=int, default=3, help="runs of which the best counts")
    given = parser.parse_args()
    sizes = [10 * MEGABYTE, 200 * MEGABYTE] + [1000 * MEGABYTE] * given.long
    with tempfile.TemporaryDirectory() as name:
        # Memory first: a process starts out with the peak of the one that it was forked from.
        memory = measure_memory(Path(name), sizes)
        speed = measure_speed(Path(name), given.times)
    if given.json:
        print(json.dumps({"speed": speed, "memory": memory}))
        return
    print(f"{'one core':32}{'µs/event':>10}{'events/s':>12}{'ratio':>8}")
    for row in speed:
        print(
            f"{row['what']:32}{row['us_per_event']:10.2f}{row['events_per_s']:12,.0f}"
            f"{row['ratio']:8.2f}"
        )
    print(f"\n{'ids':10}{'file':>10}{'peak memory':>14}{'seconds':>10}")
    for row in memory:
        sizes_shown = f"{row['file_mb']:7.0f} MB{row['peak_mb']:11.0f} MB"
        print(f"{row['ids']:10}{sizes_shown}{row['seconds']:10.1f}")


if __name__ == "__main__":
    main()
