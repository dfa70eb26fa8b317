"""What a grader says: what was expected of the harness, what was seen, where to read about it.

A mistake is a plain AssertionError, so any test runner reports it as a failure and not as a crash.
Whatever a solution raises by itself becomes a mistake too, with the file and the line.
"""

from __future__ import annotations

import contextlib
import os
import traceback
import unittest
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

__unittest = True  # unittest leaves the frames of this module out of what it shows

GRADING = Path(__file__).parent
CURRICULUM = GRADING.parent
GRADERS = (GRADING, CURRICULUM / "tests")
OURS = (*GRADERS, CURRICULUM / "core", Path(os.__file__).parent)
LEARNERS = "exercises.py"


def mistake(expected: str, saw: str, look: str) -> AssertionError:
    """The failure to raise. `look` names lesson and section, for example `s01, "Mental model"`."""
    but = f"  but:      {saw}" if saw[:1] != "\n" else f"  but:{saw}"
    return AssertionError(f"\n  expected: {expected}\n{but}\n  look at:  lesson {look}")


@contextlib.contextmanager
def attempt(what: str, look: str) -> Iterator[None]:
    """Run code of a solution; an exception that it lets out is a mistake in `what`."""
    try:
        yield
    except (AssertionError, KeyboardInterrupt, unittest.SkipTest) as fault:
        if isinstance(fault, AssertionError) and not str(fault):
            raise mistake(
                f"{what} to come to an end", f"it failed an assert{place(fault)}", look
            ) from fault
        raise
    except BaseException as fault:
        name = type(fault).__name__
        saw = f"it raised {name}: {fault}{place(fault)}".replace(f"{name}: (", f"{name} (")
        if isinstance(fault, NotImplementedError):
            saw = f"it is half done: NotImplementedError{place(fault)}"
        raise mistake(f"{what} to come to an end", saw, look) from fault


def place(fault: BaseException) -> str:
    """Where the fault arose, as ` (file, line N)`: the last line of exercises.py that was running.

    If none was, the last line of code that is neither ours nor Python's; "" without such a line.
    """
    frames = traceback.extract_tb(fault.__traceback__)
    return _told(
        [frame for frame in frames if Path(frame.filename).name == LEARNERS]
        or [f for f in frames if Path(f.filename).is_absolute() and not _is_of(f, OURS)]
    )


def graders_own(fault: BaseException) -> str:
    """What to tell of a fault in a grader, while none of the learner's code ran; else ""."""
    frames = traceback.extract_tb(fault.__traceback__)
    graders = [frame for frame in frames if _is_of(frame, GRADERS)]
    # What takes all memory fails wherever the next piece is asked for.
    if isinstance(fault, AssertionError | MemoryError) or not graders or place(fault):
        return ""
    said = f"{type(fault).__name__}: {fault}".rstrip(": ")
    return f"the grader itself has failed, on what it was given: {said}{_told(graders)}"


def _is_of(frame: traceback.FrameSummary, folders: Sequence[Path]) -> bool:
    """Whether it runs code of one of these folders."""
    return any(Path(frame.filename).is_relative_to(folder) for folder in folders)


def _told(frames: Sequence[traceback.FrameSummary]) -> str:
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


def collect(checks: dict[str, Callable[[], None]], look: str) -> list[str]:
    """Run every check; what each found wrong, as text that starts with the check's name."""
    findings = []
    for name, check in checks.items():
        try:
            with attempt(f"the check {name!r}", look):
                check()
        except AssertionError as fault:
            findings.append(f"{name}:{fault}")
    return findings


def raise_findings(what: str, findings: list[str]) -> None:
    """Raise one mistake that lists all findings, or return when there are none."""
    if findings:
        count = f"{len(findings)} check{'s' if len(findings) > 1 else ''}"
        raise AssertionError(f"\n{what} fails {count}\n" + "\n".join(findings))


def quote(thing: object, most: int = 200) -> str:
    """`thing` as Python writes it, cut to `most` characters."""
    text = repr(thing)
    return text if len(text) <= most else text[:most] + " ..."
