"""What a grader says: what was expected of the harness, what was seen, where to read about it.

A mistake is a plain AssertionError, so any test runner reports it as a failure and not as a crash.
Whatever a solution raises by itself becomes a mistake too, with the file and the line.
"""

from __future__ import annotations

import contextlib
import traceback
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path

__unittest = True  # unittest leaves the frames of this module out of what it shows

GRADING = Path(__file__).parent
OURS = (GRADING, GRADING.parent / "core")


def mistake(expected: str, saw: str, look: str) -> AssertionError:
    """The failure to raise. `look` names lesson and section, for example `s01, "Mental model"`."""
    return AssertionError(f"\n  expected: {expected}\n  but:      {saw}\n  look at:  lesson {look}")


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
    """Where the fault arose, as ` (file, line N)`: the last frame outside core and grading."""
    frames = traceback.extract_tb(fault.__traceback__)
    theirs = [frame for frame in frames if Path(frame.filename).parent not in OURS]
    if not theirs:
        return ""
    return f" ({Path(theirs[-1].filename).name}, line {theirs[-1].lineno})"


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
