"""Settings of the suite: random inputs are the same in every run, and few enough to be quick.

And the one browser of all tests that need one.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

settings.register_profile(
    "ci", derandomize=True, max_examples=100, deadline=None, database=None, print_blob=True
)
# For a longer hunt by hand: python -m pytest --hypothesis-profile=long
settings.register_profile("long", max_examples=10_000, deadline=None)
settings.load_profile("ci")

# What a script starts in the background ignores these, and so would all that the suite starts.
for _number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        _is_ctrl_c = _number == signal.SIGINT
        signal.signal(_number, signal.default_int_handler if _is_ctrl_c else signal.SIG_DFL)

NO_CHROMIUM = "no Chromium; install it (Debian: apt-get install chromium)"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium. One for the session: Playwright runs once in a thread."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    if path is None:
        if os.environ.get("CI"):
            pytest.fail(NO_CHROMIUM)
        pytest.skip(NO_CHROMIUM)
    with sync_playwright() as playwright:
        # Root, as in many containers, has no sandbox; the pages are our own.
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        yield browser
        browser.close()
