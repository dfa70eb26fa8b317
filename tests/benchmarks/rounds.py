"""Ways of doing the same thing, measured in turns, and how two of them compare.

A busy machine slows all ways alike if they take turns. So what counts is the ratio of two ways in
the same round: of all rounds the median, and the middle half as its spread. Every benchmark here
gives its comparisons in one form, `ratios`, which `python -m tests.benchmarks` puts together.
"""

from __future__ import annotations

import json
import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Way = Callable[[], object]
Taken = dict[str, list[float]]


def in_turns(
    ways: Mapping[str, Way],
    rounds: int,
    warm_up: int = 0,
    clock: Callable[[], float] = time.perf_counter,
) -> Taken:
    """Seconds of each way in each round; another way begins each time. Warm-ups do not count."""
    taken: Taken = {name: [] for name in ways}
    names = list(ways)
    for number in range(warm_up + rounds):
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            began = clock()
            ways[name]()
            if number >= warm_up:
                taken[name].append(clock() - began)
    return taken


def middle(values: Sequence[float]) -> tuple[float, float, float]:
    """(lower quartile, median, upper quartile) of at least one value."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, median, high


def compare(
    measure: str,
    ours: str,
    against: str,
    taken: Mapping[str, Sequence[float]],
    aim: float | None = None,
    note: str = "",
    is_peer: bool = False,
) -> dict[str, object]:
    """Ours takes `ratio` times as long (or as much) as the other. `aim`: at most that.

    `is_peer`: the other does the same job, so it can win; else it is a limit, or ours elsewhere.
    """
    pairs = zip(taken[ours], taken[against], strict=True)
    low, ratio, high = middle([own / other for own, other in pairs])
    return {
        "measure": measure,
        "against": against,
        "ratio": ratio,
        "low": low,
        "high": high,
        "aim": aim,
        "note": note,
        "is_peer": is_peer,
    }


def rows_of(taken: Taken) -> list[dict[str, object]]:
    """One row for each way: quartiles in ms, and the ratio to the first way."""
    first, rows = next(iter(taken)), list[dict[str, object]]()
    for name, seconds in taken.items():
        low, median, high = (1000 * cut for cut in middle(seconds))
        ratio = compare("", name, first, taken)["ratio"]
        rows.append(
            {"way": name, "median_ms": median, "low_ms": low, "high_ms": high, "ratio": ratio}
        )
    return rows


def cpu_seconds() -> float:
    """Processor time of this process and of its children that have ended: load counts little."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def tell(
    benchmark: str,
    rows: Sequence[Mapping[str, object]],
    ratios: Sequence[Mapping[str, object]],
    is_json: bool,
    **more: object,
) -> None:
    """Print rows of ways: as a table and the aims, or all of it as one JSON object."""
    if is_json:
        print(json.dumps({"benchmark": benchmark, "rows": rows, "ratios": ratios, **more}))
        return
    print(f"{'':30}{'median ms':>10}{'middle half':>18}{'ratio':>8}")
    for row in rows:
        spread = f"{row['low_ms']:.2f} to {row['high_ms']:.2f}"
        print(f"{row['way']:30}{row['median_ms']:10.2f}{spread:>18}{row['ratio']:8.2f}")
    for found in ratios:
        print(line_of(found))


def line_of(found: Mapping[str, object]) -> str:
    """One comparison as a line."""
    aim = f", aim {found['aim']:.2f}" if found["aim"] else ""
    spread = f"{short(found['low'])} to {short(found['high'])}{aim}"
    note = f"; {found['note']}" if found["note"] else ""
    return f"{found['measure']}: {short(found['ratio'])} of {found['against']} ({spread}){note}"


def short(ratio: Any) -> str:
    """A ratio with two digits that say something."""
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"
