"""Assertions in the shared parts explain themselves like those of the tests."""

import pytest

pytest.register_assert_rewrite("tests.core.parts")
