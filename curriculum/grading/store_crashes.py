"""Grader of s06 D: a store of one's own in the crash-test kit."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from curriculum.grading.crash_conformance import check_store
from curriculum.grading.mistakes import raise_findings
from curriculum.grading.store_under_test import Recoverable

__unittest = True


class OwnStore:
    """The harness for the crash conformance kit around a class that takes a folder."""

    lacks: Mapping[str, str] = {}

    def __init__(self, make: Callable[[str], Recoverable]) -> None:
        self._make = make

    def open(self, folder: str) -> Recoverable:
        return self._make(folder)


def grade_store(make: Callable[[str], Recoverable]) -> None:
    """D. Every check of the kit."""
    raise_findings("Store", check_store(OwnStore(make)))
