"""The project's own suite, for pytest. `python3 -m unittest` in the root passes it over.

It needs the locked packages; learners, who have none, would see failed imports in place of grades.
"""

from __future__ import annotations

import unittest


def load_tests(
    loader: unittest.TestLoader, tests: unittest.TestSuite, pattern: str | None
) -> unittest.TestSuite:
    """No tests for unittest, and no look into the folders below (the load_tests protocol)."""
    return unittest.TestSuite()
