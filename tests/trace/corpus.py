"""Writes `traces/invalid`: `python -m tests.trace.corpus --update`, or compares without it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.golden import ROOT
from tests.trace.cases import Case, all_cases

FOLDER = ROOT / "traces" / "invalid"
EXIT_CODES = {"complete": 0, "invalid": 1, "open": 2, "torn": 3}


def entry(case: Case) -> dict[str, object]:
    """What the manifest says of one file."""
    made: dict[str, object] = {
        "says": case.says,
        "verdict": case.verdict,
        "exit_code": EXIT_CODES[case.verdict],
        "errors": [list(error) for error in case.errors],
    }
    if case.warnings:
        made["warnings"] = [list(warning) for warning in case.warnings]
    if case.is_strict:
        made["strict"] = True
    if case.secrets:
        made["secrets"] = list(case.secrets)
    return made


def contents() -> dict[str, bytes]:
    """Every file of the folder, by name."""
    cases = all_cases()
    files = {f"{case.name}.jsonl": case.data for case in cases}
    assert len(files) == len(cases), "two cases have one name"
    files["manifest.json"] = manifest(cases)
    return files


def manifest(cases: list[Case]) -> bytes:
    """One entry a line, so that a diff shows which file changed."""
    rows = [f"  {json.dumps(f'{case.name}.jsonl')}: {json.dumps(entry(case))}" for case in cases]
    return ("{\n" + ",\n".join(rows) + "\n}\n").encode()


def differences(folder: Path = FOLDER) -> list[str]:
    """Names of files that are missing, changed or strays."""
    made = contents()
    kept = {path.name: path.read_bytes() for path in folder.glob("*.json*")}
    return sorted(name for name in made.keys() | kept.keys() if made.get(name) != kept.get(name))


def update(folder: Path = FOLDER) -> None:
    """Write the folder anew."""
    made = contents()
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.json*"):
        if path.name not in made:
            path.unlink()
    for name, data in made.items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    if "--update" in sys.argv[1:]:
        update()
    names = differences()
    print("\n".join(f"corpus: {name} differs; --update writes it" for name in names), end="")
    sys.exit(1 if names else 0)
