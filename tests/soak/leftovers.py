"""What a process holds and leaves behind: descriptors, threads, children, commands, memory."""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path

PATIENCE_SECONDS = 60.0  # how long the kernel may take to remove a process that was killed


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def resident_kib() -> int:
    """Resident memory, after a collection: what is only garbage is not held."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


def marked(mark: str) -> list[int]:
    """Processes whose environment holds the mark: commands that were run, or their children."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                environment = Path(f"/proc/{entry}/environ").read_bytes()
            except OSError:
                continue
            if mark.encode() in environment:
                found.append(int(entry))
    return found


def children() -> list[str]:
    """Children of this process, zombies included."""
    return Path("/proc/self/task", str(os.getpid()), "children").read_text().split()


def wait_for_none(mark: str) -> list[int]:
    """Commands that still run when the kernel has had its time: none, if nothing leaks."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (left := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return left


def slope(points: list[tuple[int, int]]) -> float:
    """Least squares: how much the second grows for each one of the first."""
    count = len(points)
    mean_x = sum(x for x, _ in points) / count
    mean_y = sum(y for _, y in points) / count
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0
