"""A hundred thousand events: what the page holds does not grow with what the trace holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.trace.commands import run
from tests.trace_viewer.long_trace import write_long_trace

EVENTS = 100_000
Opened = Callable[..., Page]


@pytest.fixture(scope="module")
def long_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("long")
    trace, page = folder / "long.jsonl", folder / "long.html"
    write_long_trace(trace, EVENTS)
    assert run("view", trace, "--output", page, "--no-open").returncode == 0
    return page


def test_a_long_trace_is_moved_through_with_few_rows(open_page: Opened, long_page: Path) -> None:
    page = open_page(long_page)
    where, rows = page.locator("#where"), page.locator(".row")
    chosen = page.locator('.row[aria-selected="true"] .line')
    for key, line in (("End", EVENTS), ("ArrowLeft", EVENTS - 1), ("Home", 1), ("End", EVENTS)):
        page.keyboard.press(key)
        expect(where).to_contain_text(f"event {line:,} of {EVENTS:,}")
        expect(chosen).to_have_text(f"{line:,}")
        assert 10 < rows.count() < 20
    assert page.locator(".message").count() <= 30
    page.locator("#scrubber").fill(str(EVENTS // 2))
    expect(chosen).to_have_text(f"{EVENTS // 2 + 1:,}")
    page.locator(".list").evaluate("list => { list.scrollTop = 0 }")
    expect(page.locator(".row .line").first).to_have_text("1")
    page.locator(".list").evaluate("list => { list.scrollTop = list.scrollHeight }")
    expect(page.locator(".row .line").last).to_have_text(f"{EVENTS:,}")


def test_a_long_trace_is_searched_without_a_standstill(open_page: Opened, long_page: Path) -> None:
    page = open_page(long_page)
    page.keyboard.press("/")
    page.keyboard.insert_text("call-1000")
    found = page.locator("#found")
    about_a_call = ["response", "call", "request", "decision", "start", "output", "result"]
    hits = f"{len(about_a_call)} of {EVENTS:,} events"
    expect(found).to_have_text(hits)
    words = page.locator(".row .words b")
    for place, name in enumerate(about_a_call):
        expect(words.nth(place)).to_contain_text(f".{name}")
    page.locator("#query").fill("no trace holds this")
    expect(found).to_have_text(re.compile("searching|^0 of"))  # or already at its end
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#where")).to_contain_text("event 2 of")
    expect(found).to_have_text("")
    page.keyboard.press("e")
    expect(page.locator(".detail .who")).to_contain_text("tool.result")
    expect(page.locator(".payload")).to_contain_text("failed")
