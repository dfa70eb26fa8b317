"""What the bounds of Bash cost: one call of the tool against a bare start of the same shell.

The aim is at most 1.2. The reference has the tool's own small environment, which starts faster than
one that inherits everything. Times are in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from curriculum.core.seams import CancelToken
from curriculum.core.tools import RunningCall
from curriculum.tools.bash import Bash
from tests.benchmarks.rounds import compare, cpu_seconds, in_turns, rows_of, tell

AIM = 1.2
SHELL = ["/bin/bash", "--noprofile", "--norc", "-c"]
ENVIRONMENT = {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
FULL = "head -c 60000 /dev/zero"


def ways() -> dict[str, Callable[[], object]]:
    """What is measured, by name; the first is what the others are compared with."""
    bash = Bash("/", ENVIRONMENT)

    def tool(command: str) -> None:
        call = RunningCall("call-1", CancelToken(), lambda stream, text: None)
        result = bash.execute(bash.prepare(json.dumps({"command": command})), call)
        assert result.exit_code == 0, result

    def bare(command: str, **options: bool) -> None:
        subprocess.run([*SHELL, command], check=True, env=ENVIRONMENT, cwd="/", **options)

    return {
        "bare run of true": lambda: bare("true"),
        "bare run, all inherited": lambda: subprocess.run([*SHELL, "true"], check=True),
        "run with captured output": lambda: bare("true", capture_output=True),
        "Bash: true": lambda: tool("true"),
        "run capturing 60,000 bytes": lambda: bare(FULL, capture_output=True),
        "Bash: 60,000 bytes": lambda: tool(FULL),
    }


def main() -> int:
    """Print the table; the exit code is always 0, as a benchmark is no test."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="one JSON object in place of a table")
    options = parser.parse_args()
    taken = in_turns(ways(), options.rounds, warm_up=5)
    spent = in_turns(ways(), options.rounds, clock=cpu_seconds)
    ratios = [
        compare("Bash: one call of true", "Bash: true", "bare run of true", taken, AIM),
        compare("Bash: processor time of it", "Bash: true", "bare run of true", spent),
        compare(
            "Bash: one call with 60,000 bytes",
            "Bash: 60,000 bytes",
            "run capturing 60,000 bytes",
            taken,
        ),
    ]
    tell("bash", rows_of(taken), ratios, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
