"""`python -m tests.fuzz TARGET --inputs N`: make inputs up, and hold the target's invariants.

`--engine hypothesis` makes bytes up by itself; `--engine atheris` watches which branches an input
reaches and goes on from there (in an environment of its own, made once in `.cache/fuzz`); `auto` is
atheris where it can be installed. The saved inputs of the target come first. What breaks an
invariant is told and kept in `.cache/fuzz/TARGET`. With `--save`, atheris' smallest set of inputs
that reaches as much becomes the saved corpus. Exit code: 0 nothing found, 1 an invariant broke, 69
no atheris.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz.targets import CORPUS, MOST_BYTES, TARGETS, saved

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "fuzz"
ATHERIS = "atheris==3.0.0"
NEEDED = ("jsonschema", "jsonschema-rs", "orjson")  # by what the targets load
UNAVAILABLE = 69


def keep(target: str, data: bytes) -> Path:
    """Write an input that broke something where it can be found."""
    folder = CACHE / target
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / sha256(data).hexdigest()[:16]
    path.write_bytes(data)
    return path


def run_hypothesis(target: str, inputs: int, start: int) -> int:
    """Bytes from Hypothesis. Prints how many inputs came to what."""
    check, counts = TARGETS[target], Counter[str]()
    for path in saved(target):
        counts[check(path.read_bytes())] += 1

    @seed(start)
    @settings(
        max_examples=inputs,
        deadline=None,
        database=None,
        derandomize=False,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.binary(max_size=MOST_BYTES))
    def hold(data: bytes) -> None:
        try:
            counts[check(data)] += 1
        except BaseException:
            keep(target, data)
            raise

    return told(target, counts, hold)


def told(target: str, counts: Counter[str], work: Callable[[], None]) -> int:
    """Do the work and say what it came to."""
    started = time.monotonic()
    try:
        work()
    except Exception as fault:
        print(f"{target}: {type(fault).__name__}: {str(fault)[:2000]}")
        print(f"{target}: the inputs that broke it are in {CACHE / target}")
        return 1
    seconds = time.monotonic() - started
    words = ", ".join(f"{count} {word}" for word, count in counts.most_common())
    print(f"{target}: {counts.total()} inputs in {seconds:.0f} s, nothing broke: {words}")
    return 0


def prepare_atheris() -> str:
    """The Python of the environment with atheris, or "" if there can be none."""
    python = CACHE / "env" / "bin" / "python"
    pins = [ATHERIS, *(f"{name}=={importlib.metadata.version(name)}" for name in NEEDED)]
    stamp = CACHE / "env" / "installed"
    if stamp.exists() and stamp.read_text() == "\n".join(pins):
        return str(python)
    print(f"installing {ATHERIS} (once)", file=sys.stderr)
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(CACHE / "env")],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pins],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print((done.stderr.strip().splitlines() or ["no reason given"])[-1], file=sys.stderr)
            return ""
    stamp.write_text("\n".join(pins))
    return str(python)


def write_launcher(python: str, target: str) -> Path:
    """A program of its own for the target: to minimise, libFuzzer starts itself again by name."""
    path = CACHE / target / "run"
    path.parent.mkdir(parents=True, exist_ok=True)
    words = f'{shlex.quote(python)} -m tests.fuzz.guided {target} "$0" "$@"'
    path.write_text(f"#!/bin/sh\ncd {shlex.quote(str(ROOT))} && exec {words}\n")
    path.chmod(0o755)
    return path


def run_atheris(python: str, target: str, inputs: int, start: int, save: bool) -> int:
    """Guided by coverage, from the saved corpus on."""
    found = CACHE / target
    live, small = found / "live", found / "small"
    for folder in (live, small):
        folder.mkdir(parents=True, exist_ok=True)
    command = [str(write_launcher(python, target))]
    options = [f"-max_len={MOST_BYTES}", f"-artifact_prefix={found}/", "-verbosity=0"]
    limits = [f"-runs={inputs}", f"-seed={start}", "-timeout=60", "-rss_limit_mb=1024"]
    done = subprocess.run(
        [*command, *options, *limits, str(live), str(CORPUS / target)], cwd=ROOT, check=False
    )
    if done.returncode:
        print(f"{target}: an invariant broke; the input is in {found}")
        return 1
    if save:
        for path in small.iterdir():
            path.unlink()
        places = [str(small), str(live), str(CORPUS / target)]
        subprocess.run([*command, *options, "-merge=1", *places], cwd=ROOT, check=True)
        for path in saved(target):
            path.unlink()
        for path in small.iterdir():
            data = path.read_bytes()
            (CORPUS / target / sha256(data).hexdigest()[:16]).write_bytes(data)
        print(f"{target}: {len(saved(target))} inputs are saved")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("target", choices=[*TARGETS, "all"])
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--engine", choices=("auto", "hypothesis", "atheris"), default="auto")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", action="store_true", help="renew the saved corpus (atheris)")
    given_ = parser.parse_args()
    if given_.inputs < 1:
        parser.error("--inputs is at least 1")
    python = "" if given_.engine == "hypothesis" else prepare_atheris()
    if not python and given_.engine == "atheris":
        print("atheris cannot be installed here; --engine hypothesis needs none", file=sys.stderr)
        return UNAVAILABLE
    worst = 0
    for target in TARGETS if given_.target == "all" else [given_.target]:
        (CORPUS / target).mkdir(parents=True, exist_ok=True)
        if python:
            code = run_atheris(python, target, given_.inputs, given_.seed, given_.save)
        else:
            code = run_hypothesis(target, given_.inputs, given_.seed)
        worst = max(worst, code)
    return worst


if __name__ == "__main__":
    sys.exit(main())
