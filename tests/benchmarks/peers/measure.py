"""Runs in a peer's own Python: times scripted runs of one harness and prints JSON.

    python measure.py NAME import              nothing but the import of the peer
    python measure.py NAME time TURNS RUNS     seconds of each run, after a short one
    python measure.py NAME memory TURNS        peak resident memory of one run, in KiB

The task is the same everywhere: TURNS answers, each but the last with one call of the tool `echo`.
`NAME.py` beside this file says how the peer does it: `make(turns)` gives a function that runs once
and returns how many times the tool ran, and `work` may need no network and no key.
"""

from __future__ import annotations

import gc
import importlib
import json
import resource
import sys
import time
from pathlib import Path


def main() -> None:
    name, what, *numbers = sys.argv[1:]
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    peer = importlib.import_module(f"run_{name}")
    imported = time.perf_counter() - began
    told: dict[str, object] = {"version": peer.VERSION, "import_s": imported, "bare_kb": before}
    if what == "time":
        turns, runs = map(int, numbers)
        seconds = []
        peer.make(10)()  # loads what is loaded late
        for _ in range(runs):
            run = peer.make(turns)
            gc.collect()
            began = time.perf_counter()
            calls = run()
            taken = time.perf_counter() - began
            if calls != turns - 1:
                raise SystemExit(f"{name}: the tool ran {calls} times, not {turns - 1}")
            seconds.append(taken)
        told["seconds"] = seconds
    elif what == "memory":
        calls = peer.make(int(numbers[0]))()
        told["calls"] = calls
        told["peak_kb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps(told))


if __name__ == "__main__":
    main()
