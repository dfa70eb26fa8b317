"""A real browser on real pages: every test ends by holding that nothing was fetched or logged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.trace.commands import run

PATIENCE_MS = 60_000  # what comes at all comes at once; this is for a machine that is busy
expect.set_options(timeout=PATIENCE_MS)
Opened = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Opened]:
    """Opens a page file; whatever it logs, throws or asks the network for fails the test."""
    said: list[str] = []
    asked: list[str] = []
    contexts = []

    def opened(path: Path, fragment: str = "", **context: object) -> Page:
        given = {"viewport": {"width": 1280, "height": 900}, "locale": "en-GB", **context}
        made = browser.new_context(**given)  # type: ignore[arg-type]
        made.set_default_timeout(PATIENCE_MS)
        contexts.append(made)
        page = made.new_page()
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
        page.goto(path.as_uri() + fragment)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []
    assert contexts, "no page was opened"
    assert all(url.startswith(("file://", "data:,")) for url in asked), asked
    assert sum(url.startswith("file://") for url in asked) == len(contexts), asked


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes the page for traces, as a user would."""

    def written(*traces: Path) -> Path:
        target = tmp_path / "page.html"
        done = run("view", *traces, "--output", target, "--no-open")
        assert (done.returncode, done.stderr) == (0, "")
        return target

    return written
