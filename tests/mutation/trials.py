"""Whether the tests notice a mutant: a first trial by mutmut, then one more for who is left.

A mutant is killed when a test fails or the suite is torn down. In the first trial all mutants of a
file stand in it side by side, and the process chooses one; so it is quick, and blind for code that
a test starts as `python -m`. In the second trial the file has the one change and no other. What has
hung in the first, or ended mutmut, is tried anew with all tests: on a busy machine mutmut's limits
of time are too short.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from mutmut.stats import status_by_exit_code

from tests.mutation.mutants import Mutant
from tests.mutation.workshop import copy_checkout, run_python

PYTEST = ("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider")
LEAST_SECONDS = 60.0  # of the second trial, whatever the unchanged code took
TIMES_AS_LONG = 5


class TrialError(Exception):
    """The tests cannot tell anything, for they fail on unchanged code. One line and a log."""


def first_trial(
    copy: Path, mutants: Sequence[Mutant], names: Sequence[str], jobs: int
) -> dict[str, str]:
    """What mutmut says of each mutant, by its name: killed, survived, timeout, no tests, ...

    `names` are those to try, or patterns of them. That some are given has mutmut ask pytest for
    each test by its id first: one that is not found ends the campaign, and kills nobody. Where a
    mutant ends mutmut, all that had begun are "suspicious", and the rest is tried without them.
    """
    log = copy.parent / "mutmut.log"
    print(f"first trial: {len(mutants)} mutants; mutmut writes to {log}", file=sys.stderr)
    suspects: set[str] = set()
    while names:
        command = ("-m", "mutmut", "run", "--max-children", str(jobs), *names)
        ended = run_python(copy, *command, log=log)
        codes = exit_codes(copy)
        if ended == 0:
            break
        left = [mutant.name for mutant in mutants if codes.get(mutant.name) is None]
        record = copy / "mutants" / "begun"
        begun = record.read_text("utf-8").splitlines() if record.exists() else []
        new = {name for name in begun if name in left} - suspects
        if not new:
            raise TrialError(f"mutmut gave up:\n{tail_of(log)}")
        suspects |= new
        names = [name for name in left if name not in suspects]
    # pytest says 2 when a KeyboardInterrupt gets out of a test: the suite is torn down.
    verdicts = {name: "killed" if c == 2 else status_by_exit_code[c] for name, c in codes.items()}
    return {m.name: "suspicious" if m.name in suspects else verdicts[m.name] for m in mutants}


def exit_codes(copy: Path) -> dict[str, int | None]:
    """Those of the tests of each mutant so far, by its name."""
    codes: dict[str, int | None] = {}
    for meta in (copy / "mutants").rglob("*.py.meta"):
        codes |= json.loads(meta.read_text("utf-8"))["exit_code_by_key"]
    return codes


def second_trial(
    folder: Path, root: Path, left: Sequence[Mutant], tests: Sequence[str], jobs: int
) -> dict[str, str]:
    """Try who is left against `tests`, in copies of `root` in a new folder; verdicts by name."""
    if not left:
        return {}
    folder.mkdir()
    copies: Queue[Path] = Queue()
    for number in range(jobs):
        copy = folder / str(number)
        copy_checkout(root, copy)
        copies.put(copy)
    clean, began = folder / "clean.log", time.monotonic()
    if run_python(copy, *PYTEST, *tests, log=clean) != 0:
        raise TrialError(f"the slow and wider tests fail on unchanged code:\n{tail_of(clean)}")
    seconds = max(LEAST_SECONDS, TIMES_AS_LONG * (time.monotonic() - began))
    print(f"second trial: {len(left)} mutants, at most {seconds:.0f} s each", file=sys.stderr)

    def verdict(mutant: Mutant) -> str:
        copy = copies.get()
        changed = copy / mutant.path
        source = changed.read_text("utf-8")
        try:
            changed.write_text(mutant.applied_to(source), "utf-8")
            code = run_python(copy, *PYTEST, *tests, log=folder / mutant.name, seconds=seconds)
            return "timeout" if code is None else "killed" if code else "survived"
        finally:
            changed.write_text(source, "utf-8")
            copies.put(copy)

    with ThreadPoolExecutor(jobs) as pool:
        return dict(zip((m.name for m in left), pool.map(verdict, left), strict=True))


def tail_of(log: Path, lines: int = 30) -> str:
    """The end of a log; what a terminal would have written over is left out."""
    text = log.read_text("utf-8", errors="replace").splitlines()
    return "\n".join(line.rpartition("\r")[2] for line in text[-lines:])
