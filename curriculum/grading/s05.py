"""Grader of s05 A: session files of real runs, whole and cut off at every byte."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence

from curriculum.core.journal import Record
from curriculum.core.trace import GoldenClock
from curriculum.grading.mistakes import attempt, mistake, quote
from curriculum.grading.scratch import scratch
from curriculum.sessions.store import SessionStore

__unittest = True

OBSERVE = 's05, "Run it and observe it"'  # shows a line of a file
TORN = 's05, "Invariants" (the third), and the text of the exercise'

SavePoints = Callable[[str], Sequence[tuple[str, str]]]


def grade_save_points(save_points: SavePoints) -> None:
    """A. One small turn first; then every beginning of files at which some readers break."""
    with scratch() as folder:
        records = _small()
        path, _ = _session_file(os.path.join(folder, "small"), records)
        with open(path, "rb") as file:
            _check(save_points, path, file.read(), records)
        for seed in range(3):
            records = _records(random.Random(seed))
            path, ends = _session_file(os.path.join(folder, str(seed)), records)
            with open(path, "rb") as file:
                content = file.read()
            for size in range(ends[0], len(content) + 1):
                with open(path, "wb") as file:
                    file.write(content[:size])
                whole = sum(end <= size for end in ends[1:])
                _check(save_points, path, content[:size], records[:whole])
        records = [Record("user_input", "turn-1", {"content": "x" * 300_000}), *records[1:]]
        path, _ = _session_file(os.path.join(folder, "large"), records)
        with open(path, "rb") as file:
            _check(save_points, path, file.read(), records)


def _small() -> list[Record]:
    """A turn with one call, whole: what a first try should get right."""
    call = {"call_id": "call-1", "name": "bash", "arguments": "{}"}
    about = {"call_id": "call-1"}
    return [
        Record("user_input", "turn-1", {"content": "count"}),
        Record("model_response", "turn-1", {"content": "", "tool_calls": [call]}),
        Record("tool_start", "turn-1", {**about, "display": {"text": "wc -w"}}),
        Record("tool_result", "turn-1", {**about, "status": "completed", "output": "6"}),
        Record("model_response", "turn-1", {"content": "Six.", "tool_calls": []}),
        Record("turn_end", "turn-1", {"status": "completed"}),
    ]


def _records(rng: random.Random) -> list[Record]:
    """Two turns with calls, answered in their order or not; the last one may still be open."""
    records: list[Record] = []
    for turn in ("turn-1", "turn-2"):
        ids = [f"id-{number}" for number in rng.sample(range(10**6), rng.choice([1, 2]))]
        calls = [{"call_id": call_id, "name": "echo", "arguments": "{}"} for call_id in ids]
        records.append(
            Record("user_input", turn, {"content": '\u2028\u0085 "kind":"tool_start"\n'})
        )
        records.append(Record("model_response", turn, {"content": "", "tool_calls": calls}))
        rng.shuffle(ids)
        for call_id in ids:
            status = rng.choice(["completed", "denied"])
            about = {"call_id": call_id}
            if status == "completed":
                records.append(Record("tool_start", turn, {**about, "display": {"n": 1}}))
            output = "a\nb\u2028c\u0085d"
            records.append(
                Record("tool_result", turn, {**about, "status": status, "output": output})
            )
        if turn == "turn-1" or rng.random() < 0.5:
            records.append(Record("model_response", turn, {"content": "so", "tool_calls": []}))
            records.append(Record("turn_end", turn, {"status": "completed"}))
    return records


def _session_file(home: str, records: Sequence[Record]) -> tuple[str, list[int]]:
    """A real session with these records, and where each line of it ends, the header's first."""
    with SessionStore.create(home, "session-1", clock=GoldenClock()) as store:
        for record in records:
            store.append(record)
    with open(store.path, "rb") as file:
        lines = file.read().splitlines(keepends=True)
    # Another writer may leave these characters as they are: JSON allows that.
    lines = [
        line.replace(b"\\u2028", "\u2028".encode()).replace(b"\\u0085", "\u0085".encode())
        for line in lines
    ]
    with open(store.path, "wb") as file:
        file.writelines(lines)
    return store.path, [sum(map(len, lines[: number + 1])) for number in range(len(lines))]


def _check(save_points: SavePoints, path: str, content: bytes, records: Sequence[Record]) -> None:
    wanted = [(record.kind, str(record.data.get("call_id", ""))) for record in records]
    tail = len(content) - (content.rfind(b"\n") + 1)
    look, what = OBSERVE, f"{len(records)} whole records"
    if tail:
        unit = "byte" if tail == 1 else "bytes"
        look, what = TORN, f"{what} and {tail} {unit} of a record whose write was cut off"
    with attempt(f"save_points, for a file with {what},", look):
        got = save_points(path)
    if not isinstance(got, (list, tuple)):
        raise mistake("a list of (kind, call_id)", quote(got), look)
    mine = [tuple(pair) if isinstance(pair, (list, tuple)) else pair for pair in got]
    if mine != wanted:
        at = next((n for n, pair in enumerate(wanted) if mine[n : n + 1] != [pair]), len(wanted))
        saw = f"number {at} is {quote(mine[at])}" if at < len(mine) else f"you have {len(mine)}"
        expected = f"number {at} to be {wanted[at]}" if at < len(wanted) else f"{at} of them"
        raise mistake(f"{expected} ({what})", saw, look)
    with open(path, "rb") as file:
        if file.read() != content:
            raise mistake("the file to stay as it is", "it was changed", OBSERVE)
    if os.listdir(os.path.dirname(path)) != [os.path.basename(path)]:
        raise mistake("nothing new beside the file", "there is", OBSERVE)
