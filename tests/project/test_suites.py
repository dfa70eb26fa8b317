"""Both suites run what they hold: neither is green because it found nothing."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.golden import ROOT


def test_learners_suite_is_green_on_a_bare_python() -> None:
    run = subprocess.run(
        [sys.executable, "-S", "-m", "unittest", "discover", "-s", "curriculum/tests"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    ran = re.search(r"^Ran (\d+) tests? in", run.stderr, re.MULTILINE)
    assert ran, run.stderr
    assert int(ran[1]) > 0


LISTED = """
import unittest
def names(suite):
    for one in suite:
        yield from names(one) if isinstance(one, unittest.TestSuite) else [one.id()]
print(*names(unittest.defaultTestLoader.discover(".")), sep="\\n")
"""


def test_unittest_in_the_root_finds_the_learners_suite_and_nothing_else() -> None:
    """What `python3 -m unittest` would run, without another run of it."""
    listed = subprocess.run(
        [sys.executable, "-S", "-c", LISTED], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert listed.returncode == 0, listed.stderr
    found = listed.stdout.split()
    assert found
    assert [name for name in found if not name.startswith("curriculum.tests.")] == []


def test_every_folder_with_tests_is_a_package() -> None:
    # Else two modules of the same name in two folders would be taken for one.
    for folder in {path.parent for path in ROOT.glob("tests/**/test_*.py")}:
        assert (folder / "__init__.py").is_file(), folder


def test_learners_tests_all_match_the_pattern_of_discovery() -> None:
    for path in ROOT.glob("curriculum/tests/**/*.py"):
        has_cases = re.search(r"^class \w+\(.*TestCase\)", path.read_text("utf-8"), re.MULTILINE)
        assert not has_cases or path.name.startswith("test"), path
