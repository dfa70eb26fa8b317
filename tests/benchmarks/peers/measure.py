"""Runs in a peer's own Python: times scripted runs of one harness and prints JSON.

    python measure.py NAME import              nothing but the import of the peer
    python measure.py NAME time TURNS RUNS     seconds of each run, after a short one

Seconds are of the processor, so that others on the machine count little; no harness waits for
anything here. The peak is of resident memory, in KiB, interpreter and imports included.

The task is the same everywhere: TURNS answers, each but the last with one call of the tool `echo`.
`run_NAME.py` beside this file says how the peer does it: `make(turns)` gives a function that runs
once and returns how many times the tool ran. It may need no network and no key.
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
    began = time.process_time()
    peer = importlib.import_module(f"run_{name}")
    imported = time.process_time() - began
    told: dict[str, object] = {"version": peer.VERSION, "import_s": imported}
    if what == "time":
        turns, runs = map(int, numbers)
        seconds = []
        peer.make(10)()  # loads what is loaded late
        for _ in range(runs):
            run = peer.make(turns)
            gc.collect()
            began = time.process_time()
            calls = run()
            taken = time.process_time() - began
            if calls != turns - 1:
                raise SystemExit(f"{name}: the tool ran {calls} times, not {turns - 1}")
            seconds.append(taken)
        told["seconds"] = seconds
        told["peak_kb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps(told))


if __name__ == "__main__":
    main()
