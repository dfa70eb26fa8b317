"""What a durable record costs, and how opening grows with a session.

Appending: the store against the least that any store could do (the same bytes, one write and one
fdatasync each) and against SQLite (WAL, synchronous=FULL, one commit each), on the same disk, in
turns of 20 records. The aim is 0.9 of the raw rate: 1.11 of the time. Opening: sessions of 1,000,
10,000 and 100,000 records, each in a process of its own, with the most memory that it took; the
turns are left out of the replay (`failed`) or kept as messages (`completed`).

    python tests/benchmarks/bench_sessions.py [--rounds N] [--records N] [--folder DIR] [--json]
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

# ruff: noqa: E402
from curriculum.core.journal import Record
from curriculum.core.trace import GoldenClock, format_timestamp
from curriculum.sessions.record import StoredRecord, encode
from curriculum.sessions.store import SessionStore
from tests.benchmarks.rounds import Taken, compare, in_turns, rows_of, tell

AIM = 0.9
BLOCK = 20  # records that one way writes before the next has its turn
Writer = Callable[[int], object]
LENGTHS = (1000, 10_000, 100_000)
OPEN = """
import json, sys, time
from curriculum.sessions.store import SessionStore

def memory(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name)) / 1024

before = memory("VmRSS")
start = time.perf_counter()
store = SessionStore.open(sys.argv[1], sys.argv[2])
taken = time.perf_counter() - start
print(json.dumps([taken, memory("VmHWM") - before, len(store.replay.messages)]))
"""


def turn(number: int, status: str) -> list[Record]:
    """The records of one turn with one call, of about the size of a real one."""
    name, call_id = f"turn-{number}", f"call-{number}"
    call = {"call_id": call_id, "name": "bash", "arguments": '{"command":"ls -l"}'}
    result = {
        "call_id": call_id,
        "status": "completed",
        "output": "total 4\\n" * 40,
        "exit_code": 0,
    }
    display = {"command": "ls -l", "directory": "/home/someone/project", "timeout_seconds": 30}
    return [
        Record("user_input", name, {"content": "What is in this folder, and since when?"}),
        Record("model_response", name, {"content": "I will look.", "tool_calls": [call]}),
        Record("tool_start", name, {"call_id": call_id, "display": display}),
        Record("tool_result", name, result),
        Record("turn_end", name, {"status": status}),
    ]


def lines_of(records: list[Record]) -> list[bytes]:
    """The bytes that the store writes for the records."""
    time_text = format_timestamp(GoldenClock().read()[0])
    return [
        encode(StoredRecord(n, time_text, r.kind, r.turn_id, r.data))
        for n, r in enumerate(records, 1)
    ]


@contextmanager
def store_writer(folder: Path, records: list[Record]) -> Iterator[Writer]:
    with SessionStore.create(folder, "bench") as store:
        yield lambda number: store.append(records[number])


@contextmanager
def raw_writer(folder: Path, records: list[Record]) -> Iterator[Writer]:
    lines = lines_of(records)
    fd = os.open(folder / "raw", os.O_RDWR | os.O_APPEND | os.O_CREAT)

    def write(number: int) -> None:
        os.write(fd, lines[number])
        os.fdatasync(fd)

    yield write
    os.close(fd)


@contextmanager
def sqlite_writer(folder: Path, records: list[Record]) -> Iterator[Writer]:
    lines = [line.decode() for line in lines_of(records)]
    base = sqlite3.connect(folder / "base.sqlite", isolation_level=None)
    base.execute("pragma journal_mode=wal")
    base.execute("pragma synchronous=full")
    base.execute("create table records (position integer primary key, line text)")
    yield lambda number: base.execute("insert into records (line) values (?)", (lines[number],))
    base.close()


WAYS = {"write+fdatasync": raw_writer, "session store": store_writer, "sqlite": sqlite_writer}


def measure_appends(count: int, folder: Path) -> Taken:
    """Seconds a record of each way, for each block of records."""
    records = [record for n in range(count // 5) for record in turn(n, "completed")]
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder)))

        def block_of(write: Writer) -> Callable[[], object]:
            numbers = iter(range(len(records)))
            return lambda: [write(number) for number in itertools.islice(numbers, BLOCK)]

        ways = {
            way: block_of(stack.enter_context(make(place, records))) for way, make in WAYS.items()
        }
        taken = in_turns(ways, len(records) // BLOCK)
    return {way: [seconds / BLOCK for seconds in blocks] for way, blocks in taken.items()}


def write_session(home: Path, session_id: str, count: int, status: str) -> int:
    """A session of about so many records, written without syncs; returns its bytes."""
    records = [StoredRecord(0, "", "session", "", {"session_id": session_id})]
    time_text = format_timestamp(GoldenClock().read()[0])
    path = home / "sessions" / f"{session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(encode(StoredRecord(0, time_text, "session", "", records[0].data)))
        position = 1
        for number in range(count // 5):
            for record in turn(number, status):
                stored = StoredRecord(position, time_text, record.kind, record.turn_id, record.data)
                file.write(encode(stored))
                position += 1
    return path.stat().st_size


def measure_opening(rounds: int, folder: Path) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for status in ("failed", "completed"):
            for count in LENGTHS:
                name = f"{status}-{count}"
                size = write_session(Path(place), name, count, status)
                seen = [open_once(place, name) for _ in range(rounds)]
                taken = statistics.median(one[0] for one in seen)
                rows.append(
                    {
                        "records": count,
                        "turns": status,
                        "bytes": size,
                        "seconds": taken,
                        "us_per_record": taken / count * 1e6,
                        "peak_mb": statistics.median(one[1] for one in seen),
                        "messages": seen[0][2],
                    }
                )
    return rows


def open_once(home: str, session_id: str) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", OPEN, home, session_id],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    answer: list[float] = json.loads(done.stdout)
    return answer


def main() -> int:
    """Print both tables; the exit code is always 0, as a benchmark is no test."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="openings of each session")
    parser.add_argument("--records", type=int, default=3000, help="appended by each way")
    parser.add_argument("--folder", type=Path, default=ROOT, help="on the disk to be measured")
    parser.add_argument("--json", action="store_true", help="one JSON object in place of tables")
    options = parser.parse_args()
    appends = measure_appends(options.records, options.folder)
    opening = measure_opening(options.rounds, options.folder)
    note = "its log is written over once it is long enough: then no size has to be synced"
    ratios = [
        compare("journal: a record", "session store", "write+fdatasync", appends, 1 / AIM),
        compare("journal: a record", "session store", "sqlite", appends, note=note, is_peer=True),
    ]
    if options.json:
        rows = {"rows": rows_of(appends), "opening": opening, "ratios": ratios}
        print(json.dumps({"benchmark": "sessions", **rows}))
        return 0
    print(f"appending {options.records} records, each durable before the next")
    tell("sessions", rows_of(appends), ratios, is_json=False)
    print("opening a session: check every record, then replay")
    for row in opening:
        print(
            f"  {row['records']:7} records of {row['turns']:9} turns {row['seconds']:7.3f} s"
            f" {row['us_per_record']:6.1f} µs a record, {row['peak_mb']:6.1f} MB more at the peak"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
