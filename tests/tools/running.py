"""Run a command with the real tool, and look at what the system says of its processes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

from curriculum.core.seams import CancelToken
from curriculum.core.tools import RunningCall, ToolResult
from curriculum.tools.bash import Bash

ENVIRONMENT = {"LC_ALL": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin"}


def arguments(command: str) -> str:
    """The call's arguments as a model would write them."""
    return json.dumps({"command": command})


def bash_in(directory: Path | str, timeout_seconds: float = 30, **options: object) -> Bash:
    """Bash in that directory with a small environment."""
    given = {"environment": ENVIRONMENT, **options}
    return Bash(str(directory), timeout_seconds=timeout_seconds, **given)  # type: ignore[arg-type]


def running_call(
    cancel: CancelToken | None = None,
    show: Callable[[str, str], None] = lambda stream, text: None,
) -> RunningCall:
    """What the loop would hand to the tool."""
    return RunningCall("call-1", cancel or CancelToken(), show)


def execute(bash: Bash, command: str, call: RunningCall | None = None) -> ToolResult:
    """Prepare the command and run it."""
    return bash.execute(bash.prepare(arguments(command)), call or running_call())


def timed(bash: Bash, command: str) -> tuple[ToolResult, float]:
    """The result, and the seconds it took."""
    start = time.monotonic()
    result = execute(bash, command)
    return result, time.monotonic() - start


def time_is_up(ready: Callable[[], bool]) -> Callable[[], float]:
    """A clock on which 30 seconds pass at once, as soon as `ready` has been true."""
    started, passed = False, 0.0

    def now() -> float:
        nonlocal started, passed
        if started and not passed and ready():
            passed = 30.0
        started = True  # the first reading is the one that the deadline is counted from
        return time.monotonic() + passed

    return now


def written(path: Path) -> Callable[[], bool]:
    """Whether something has been written there by now."""
    return lambda: path.exists() and path.stat().st_size > 0


def said(result: ToolResult) -> str:
    """All notes of a result, to look for words in."""
    return "; ".join(result.notes)


def read_pids(path: Path) -> list[int]:
    """Process ids that a command wrote, one a line."""
    return [int(line) for line in path.read_text().split()]


def state_of(pid: int) -> str:
    """The state letter of a process (proc_pid_stat(5)), or "" when there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_gone(pid: int) -> bool:
    """Whether nothing runs under that number. A zombie of another parent no longer runs."""
    return state_of(pid) in ("", "X", "Z")


def zombie_children() -> list[int]:
    """Dead children of this process that nobody has waited for."""
    zombies = []
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if entry.name.isdigit() and int(fields[1]) == os.getpid() and fields[0] == "Z":
            zombies.append(int(entry.name))
    return zombies


def open_descriptors() -> int:
    """How many descriptors this process holds."""
    return len(os.listdir("/proc/self/fd"))
