"""Every id of sections D to K of the cases for terminal agents has a test named after it.

Most are in this folder. What one layer decides alone is tested there, through its own interface:

    id    where             why not here
    F17   tests/sessions    memory of a long file: the store reads it as a stream
    F22   tests/sessions    which syncs happen: the store's own disk is watched
    G5    tests/providers   items of a response: the adapter collects them
    G7    tests/providers   optional fields: the adapter reads them
    G8    tests/providers   pairing by call_id: the adapter writes the items
    G11   tests/providers   line ends: the event reader
    G13   tests/providers   separators in data: the event reader
    G14   tests/providers   one byte at a time: the event reader
    G16   tests/providers   rules of fields: the event reader
    G18   tests/providers   unknown events: the adapter passes over them
    G19   tests/providers   [DONE]: the adapter
    G20   tests/providers   a socket left open: the adapter hangs up
    G23   tests/providers   a drop after text: the fault says so, nothing is repeated
    G30   tests/providers   kinds of content: the adapter
    H1    tests/core        the wait: the retry policy (Ctrl+C in it: test_signals.py)
    H2    tests/providers   a wait in words: the adapter reads it
    H11   tests/providers   certificates: the adapter's connection
    I3    tests/providers   stale reasoning: the adapter's one further try
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.mino.person import ROOT

IDS = {
    "d": (1, 2, 4, 6, 7, 8, 9, 10, 12),
    "e": (1, 2, 3, 4, 6, 8, 9, 10),
    "f": (1, 2, 3, 5, 7, 8, 10, 12, 13, 14, 15, 16, 17, 19, 20, 22, 23),
    "g": (1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 13, 14, 16, 18, 19, 20, 23, 24, 25, 26, 27, 28, 30),
    "h": (1, 2, 3, 4, 6, 8, 9, 11, 13),
    "i": (1, 2, 3, 6, 7, 8),
    "j": (1, 2, 4, 5),
    "k": (1,),
}
CASES = [f"{section}{number}" for section, numbers in IDS.items() for number in numbers]


def named_in(folder: Path) -> set[str]:
    """The ids that tests of a folder are named after: `test_d1_...`, `test_f1_f2_...`."""
    found: set[str] = set()
    for path in folder.rglob("test_*.py"):
        for name in re.findall(r"^def test_((?:[a-k]\d+_)+)", path.read_text(), re.MULTILINE):
            found |= set(name.strip("_").split("_"))
    return found


def told_elsewhere() -> dict[str, str]:
    """id -> folder, as the table above says."""
    return {
        case.lower(): folder
        for case, folder in re.findall(r"^    ([D-K]\d+) +(\S+)", __doc__ or "", re.MULTILINE)
    }


@pytest.mark.parametrize("case", CASES)
def test_a_case_has_a_test_here_or_a_reason_why_not(case: str) -> None:
    here, elsewhere = named_in(ROOT / "tests" / "mino"), told_elsewhere()
    assert (case in here) != (case in elsewhere), "exactly one: a test here, or a row above"


@pytest.mark.parametrize("case", sorted(told_elsewhere()))
def test_what_the_table_names_is_there(case: str) -> None:
    assert case in named_in(ROOT / told_elsewhere()[case])
