"""A soak, its bounds, and what is said of it."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.soak import leftovers
from tests.soak.work import HOUR_US, Work

WARM_UP = 0.2  # of all turns: what is allocated once is allocated then
MOST_GROWTH_KIB = 4096  # of memory, over the rest, along the slope
SAMPLES = 100


@dataclass
class Outcome:
    """What a soak came to. `broken` names each bound that did not hold."""

    counts: dict[str, int]
    seconds: float
    simulated_seconds: float
    growth_kib: float
    slope_kib: float
    resident_kib: int
    broken: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The summary."""
        told = [f"{name}: {count}" for name, count in sorted(self.counts.items())]
        speed = self.simulated_seconds / max(self.seconds, 0.001)
        return [
            *told,
            f"time: {self.seconds:.0f} s for {self.simulated_seconds:.0f} s ({speed:.1f} times)",
            f"memory: {self.resident_kib} KiB, {self.slope_kib:+.1f} KiB per 1,000 turns after "
            f"warm-up ({self.growth_kib:+.0f} KiB in all, at most {MOST_GROWTH_KIB})",
            *(f"BROKEN: {what}" for what in self.broken),
            "soak: nothing is left over" if not self.broken else "soak: a bound does not hold",
        ]


def soak(
    turns: int, calls: int, seed: int, progress: Callable[[str], None] = lambda line: None
) -> Outcome:
    """At least so many turns and Bash calls; everything they made is gone at the end."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    before = tempfile.tempdir
    try:
        with tempfile.TemporaryDirectory() as folder:
            return _soak(Path(folder), turns, calls, seed, progress)
    finally:
        tempfile.tempdir = before


def _soak(
    folder: Path, turns: int, calls: int, seed: int, progress: Callable[[str], None]
) -> Outcome:
    mark = f"soak-{os.getpid()}-{time.monotonic_ns()}"
    held = leftovers.open_descriptors(), leftovers.threads(), leftovers.children()
    work = Work(folder, seed, mark)
    counts, started = work.counts, time.monotonic()
    samples: list[tuple[int, int]] = []
    every = max(1, turns // SAMPLES)
    while counts["turns"] < turns or counts["results"] < calls:
        work.step()
        work.clock.now_us = max(work.clock.now_us, HOUR_US * counts["turns"] // turns)
        if counts["turns"] >= every * (len(samples) + 1):
            samples.append((counts["turns"], leftovers.resident_kib()))
            progress(f"{counts['turns']} turns, {counts['results']} calls, {samples[-1][1]} KiB")
    work.finish_all()
    seconds = time.monotonic() - started
    warm = [sample for sample in samples if sample[0] > turns * WARM_UP] or samples
    slope = leftovers.slope(warm)
    growth = slope * (warm[-1][0] - warm[0][0])
    outcome = Outcome(
        dict(counts),
        seconds,
        work.clock.now_us / 1_000_000,
        growth,
        slope * 1000,
        leftovers.resident_kib(),
    )
    if left := leftovers.wait_for_none(mark):
        outcome.broken.append(f"commands still run: {left}")
    now = leftovers.open_descriptors(), leftovers.threads(), leftovers.children()
    for name, was, found in zip(("descriptors", "threads", "children"), held, now, strict=True):
        if found != was:
            outcome.broken.append(f"{name}: {found}, before {was}")
    for what, place in (("temporary files", work.scratch), ("session files", work.home)):
        if files := sorted(str(path) for path in place.rglob("*") if path.is_file()):
            outcome.broken.append(f"{what}: {files[:5]}")
    if growth > MOST_GROWTH_KIB:
        outcome.broken.append(f"memory grows by {growth:.0f} KiB")
    return outcome
