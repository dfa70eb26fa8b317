"""Runs code in a child process that may be killed at any moment, and says how it ended.

The child is forked, so it starts in no time and shares nothing with us afterwards. It tells what it
has done through a pipe, one JSON value a line; a pipe keeps what was written when its writer dies.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from curriculum.grading.mistakes import mistake, place

__unittest = True

PATIENCE_SECONDS = 60.0  # for a child that hangs; nothing that works comes near it

Tell = Callable[[object], None]


@dataclass(frozen=True)
class Ended:
    """How a child ended: whether SIGKILL ended it, and what it told before that, in order."""

    was_killed: bool
    told: tuple[object, ...]


def run_child(work: Callable[[Tell], None], what: str, look: str, until: int = 0) -> Ended:
    """Run `work` in a child process. With `until`, kill the child when it has told that often.

    Raises a mistake in `what` if the work raises, or does not come to an end.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _be_child(work, writing)
    os.close(writing)
    try:
        text = _listen(reading, child, until)
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)  # it is ours until it is waited for, so this hits no other
        _, status = os.waitpid(child, 0)
    if text is None:
        raise mistake(f"{what} to come to an end", f"it hangs ({PATIENCE_SECONDS:g} s)", look)
    told = [json.loads(line) for line in text.split(b"\n")[:-1]]
    if told and isinstance(told[-1], dict) and "raised" in told[-1]:
        raise mistake(f"{what} to come to an end", f"it raised {told[-1]['raised']}", look)
    return Ended(os.WIFSIGNALED(status), tuple(told))


def die() -> NoReturn:
    """End this process as `kill -9` does: no cleanup, no flush."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a process outlived SIGKILL")


def _be_child(work: Callable[[Tell], None], writing: int) -> NoReturn:
    def tell(thing: object) -> None:
        os.write(writing, json.dumps(thing).encode() + b"\n")

    code = 1
    try:
        quiet = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(quiet, fd)
        work(tell)
        code = 0
    except BaseException as fault:
        sys.settrace(None)
        tell({"raised": f"{type(fault).__name__}: {fault}{place(fault)}"})
    finally:
        os._exit(code)


def _listen(reading: int, child: int, until: int) -> bytes | None:
    """Everything that the child tells until it is gone; None if it takes too long."""
    text, deadline = b"", time.monotonic() + PATIENCE_SECONDS
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reading], [], [], left)[0]:
            return None
        if not (piece := os.read(reading, 65536)):
            return text
        text += piece
        if until and text.count(b"\n") >= until:
            os.kill(child, signal.SIGKILL)
            until = 0
