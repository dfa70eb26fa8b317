"""Reading event streams: ours, httpx-sse and the decoder of the openai client, on the same bytes.

The aim is at least the speed of the openai client. The last
rows are the peak memory of a response without end, read for 1 and for 16 times as long.

    python tests/benchmarks/bench_sse.py [--rounds N] [--json]
"""

from __future__ import annotations

import argparse
import codecs
import json
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from httpx_sse._decoders import SSEDecoder, SSELineDecoder
from openai._streaming import SSEDecoder as OpenAIDecoder

from curriculum.providers.scripted_answers import answer_events
from curriculum.providers.scripted_handler import format_event
from curriculum.providers.sse import MEGABYTE, SseLimits, read_events
from tests.benchmarks.rounds import compare, in_turns, line_of, middle

CHUNKS = (64, 1460, 65536)  # bytes: a few words, one packet, all that a socket gives at once
SIZE = 4 * MEGABYTE


def ours(chunks: Iterable[bytes]) -> int:
    return sum(1 for _ in read_events(chunks, SseLimits(response=1 << 40)))


def httpx_sse(chunks: Iterable[bytes]) -> int:
    """As its EventSource does it, with the UTF-8 decoding that httpx does before."""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    lines, decoder, count = SSELineDecoder(), SSEDecoder(), 0
    for chunk in chunks:
        text = decode(chunk)
        if text:
            for line in lines.decode(text):
                count += decoder.decode(line) is not None
    return count


def openai_client(chunks: Iterable[bytes]) -> int:
    return sum(1 for _ in OpenAIDecoder().iter_bytes(iter(chunks)))


READERS: dict[str, Callable[[Iterable[bytes]], int]] = {
    "ours": ours,
    "httpx-sse": httpx_sse,
    "openai client": openai_client,
}


def stream(size: int) -> bytes:
    """A long Responses answer: mostly deltas of a few characters, in more than one script."""
    words = {"text": "The quick brown \u72d0\u72f8 jumps over the lazy \U0001f415 once more. " * 40}
    whole = b"".join(format_event(event) for event in answer_events("/v1/responses", words))
    return whole * (size // len(whole))


def measure_speed(rounds: int) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """(a row for each reader and size of chunks, the comparisons). Times are of the processor."""
    data = stream(SIZE)
    rows, ratios = list[dict[str, object]](), list[dict[str, object]]()
    for size in CHUNKS:
        chunks = [data[at : at + size] for at in range(0, len(data), size)]
        counts = {name: read(chunks) for name, read in READERS.items()}
        assert len(set(counts.values())) == 1, counts
        ways = {name: partial(read, chunks) for name, read in READERS.items()}
        taken = in_turns(ways, rounds, clock=time.process_time)
        for name, aim in (("openai client", 1.0), ("httpx-sse", None)):
            what = f"SSE: chunks of {size:,} bytes"
            ratios.append(compare(what, "ours", name, taken, aim, is_peer=True))
        for name in READERS:
            low, median, high = (seconds / counts[name] * 1e6 for seconds in middle(taken[name]))
            rows.append(
                {
                    "reader": name,
                    "chunk_bytes": size,
                    "us_per_event": median,
                    "low_us": low,
                    "high_us": high,
                    "mb_per_s": len(data) / MEGABYTE / (median * counts[name] / 1e6),
                }
            )
    return rows, ratios


def endless(data: bytes, rounds: int) -> Iterator[bytes]:
    for _ in range(rounds):
        yield from (data[at : at + 1460] for at in range(0, len(data), 1460))


def measure_memory() -> list[dict[str, object]]:
    data = stream(MEGABYTE // 2)
    rows: list[dict[str, object]] = []
    for rounds in (1, 16):
        tracemalloc.start()
        ours(endless(data, rounds))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        rows.append({"read_mb": len(data) * rounds / MEGABYTE, "peak_kb": peak / 1024})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    (speed, ratios), memory = measure_speed(given.rounds), measure_memory()
    if given.json:
        print(json.dumps({"benchmark": "sse", "rows": speed, "memory": memory, "ratios": ratios}))
        return
    print(f"{'reader':16}{'chunk':>8}{'µs/event':>10}{'middle half':>16}{'MB/s':>8}")
    for row in speed:
        spread = f"{row['low_us']:.2f} to {row['high_us']:.2f}"
        print(
            f"{row['reader']:16}{row['chunk_bytes']:8}{row['us_per_event']:10.2f}{spread:>16}"
            f"{row['mb_per_s']:8.0f}"
        )
    for found in ratios:
        print(line_of(found))
    print(f"\n{'endless response, read':26}{'peak memory':>14}")
    for row in memory:
        print(f"{row['read_mb']:23.1f} MB{row['peak_kb']:11.0f} KB")


if __name__ == "__main__":
    main()
