"""Golden traces: what each lesson's demo prints, byte for byte, kept in traces/golden.

`python -m tests.golden` runs every demo and compares; `--update` writes the files anew. A demo
prints its final text and then its trace, so every line that starts with `{` is the trace. A trace
that `curriculum.trace validate` does not call complete is never written: a golden is a promise.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "traces" / "golden"
DEMO_SECONDS = 60


class GoldenError(Exception):
    """A demo failed, or its trace is not fit to be kept; the message is one line."""


def lessons_with_demo(root: Path = ROOT) -> list[str]:
    """Names of the lessons that have a demo, in order: `s01_agent_loop`, ..."""
    return sorted(
        path.parent.name for path in root.glob("curriculum/lessons/s[0-9][0-9]_*/demo.py")
    )


def trace_of_demo(
    lesson: str, cwd: Path = ROOT, env: Mapping[str, str] | None = None, root: Path = ROOT
) -> bytes:
    """Run a demo in its own process and return its trace as JSONL bytes."""
    run = subprocess.run(
        [sys.executable, "-m", f"curriculum.lessons.{lesson}.demo"],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(root), **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=DEMO_SECONDS,
    )
    if run.returncode:
        last = run.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
        raise GoldenError(f"{lesson}: the demo ended with exit code {run.returncode}: {last[0]}")
    trace = b"".join(line for line in run.stdout.splitlines(True) if line.startswith(b"{"))
    if not trace:
        raise GoldenError(f"{lesson}: the demo printed no trace")
    return trace


def refuse_invalid(lesson: str, trace: bytes) -> None:
    """Raise GoldenError unless the validator calls the trace complete (exit code 0)."""
    run = subprocess.run(
        [sys.executable, "-m", "curriculum.trace", "validate", "-"],
        cwd=ROOT,
        input=trace,
        capture_output=True,
        timeout=DEMO_SECONDS,
    )
    if run.returncode:
        said = (run.stdout + run.stderr).decode(errors="replace").strip().splitlines()
        first = said[0] if said else f"exit code {run.returncode}"
        raise GoldenError(f"{lesson}: not written, its trace does not validate: {first}")


def compare(lesson: str, trace: bytes, folder: Path = GOLDEN) -> None:
    """Raise GoldenError where the trace first differs from the one that is kept."""
    path = folder / f"{lesson}.jsonl"
    if not path.is_file():
        raise GoldenError(f"{lesson}: {path.name} is missing; write it with `make traces`")
    kept, made = path.read_bytes().splitlines(True), trace.splitlines(True)
    if kept == made:
        return
    same = 0
    while same < min(len(kept), len(made)) and kept[same] == made[same]:
        same += 1
    raise GoldenError(
        f"{lesson}: line {same + 1} differs from {path.name}; if it is meant, `make traces`"
    )


def write(lesson: str, trace: bytes, folder: Path = GOLDEN) -> bool:
    """Keep the trace; was there another one, or none, before?"""
    path = folder / f"{lesson}.jsonl"
    if path.is_file() and path.read_bytes() == trace:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(trace)
    return True


def summary(written: Mapping[str, bool]) -> str:
    """What `--update` says of the traces it has written: which of them have changed."""
    changed = [lesson for lesson, has_changed in written.items() if has_changed]
    names = f": {', '.join(changed)}" if changed else ""
    traces = "1 trace" if len(written) == 1 else f"{len(written)} traces"
    return f"{traces}, {len(changed)} changed{names}"


def strays(folder: Path = GOLDEN) -> list[str]:
    """Files kept as golden that no demo makes."""
    known = {f"{lesson}.jsonl" for lesson in lessons_with_demo()}
    return sorted(path.name for path in folder.glob("*") if path.name not in known)


def main() -> int:
    """Exit code 0 when every golden is right (or was written), else 1 with a line for each."""
    parser = argparse.ArgumentParser(prog="tests.golden", description=__doc__.split("\n")[0])
    parser.add_argument("--update", action="store_true", help="write the golden traces anew")
    update = parser.parse_args().update
    validates = (ROOT / "curriculum" / "trace" / "__main__.py").is_file()
    written: dict[str, bool] = {}
    problems = [f"{name}: no demo makes this file; remove it" for name in strays()]
    for lesson in lessons_with_demo():
        try:
            trace = trace_of_demo(lesson)
            if update:
                if validates:
                    refuse_invalid(lesson, trace)
                written[lesson] = write(lesson, trace)
            else:
                compare(lesson, trace)
        except GoldenError as error:
            problems.append(str(error))
    if update and not validates:
        print("golden: not validated, curriculum.trace is not here", file=sys.stderr)
    if update:
        print(f"golden: {summary(written)}")
    for problem in problems:
        print(f"golden: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
