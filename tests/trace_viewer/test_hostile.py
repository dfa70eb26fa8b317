"""Nothing that a trace or a file name holds becomes markup, script, movement or another text."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, expect

from curriculum.core.visible import escape
from curriculum.trace.viewer.page import Page as Parts
from tests.trace.commands import run
from tests.trace.story import Event, calls, numbered, place, to_bytes

Opened = Callable[..., Page]
Write = Callable[..., Path]

ATTACKS = {
    "script": "</script><script>window.pwned = 1</script>",
    "comment and script": "<!--<script>window.pwned = 1//--></script><script>window.pwned = 1",
    "image": "<img src=x onerror='window.pwned = 1'>",
    "frame": "<iframe srcdoc='<script>parent.pwned = 1</script>'></iframe>",
    "link": "javascript:window.pwned=1 <a href='https://example.invalid/'>x</a>",
    "style": "</style><style>* { display: none }</style>",
    "separators": "a\u2028b\u2029c\u0085d",
    "controls": "a\x00b\x1b[2J\x07c\x7fd\x9b31m",
    "directions": "abc\u202edcba\u202c \u2066x\u2069 \u200b\u200f",
    "right to left": "مرحبا <b>עולם</b> abc",
    "template": "{n} ${window.pwned = 1} {{count}} %s",
    "prototype": "__proto__",
    "line ends": "one\r\ntwo\rthree\n\tfour",
    "emoji": "👩‍👩‍👧 \ufe0f 𝒳 \U000e0041",
    "one long word": "x" * 5000,
}


def hostile(text: str) -> list[Event]:
    """A trace with the text wherever a trace can hold any."""
    events = copy.deepcopy(calls())
    kinds = {event["type"]: event["payload"] for event in events}
    kinds["session.start"]["model"] = text
    kinds["session.start"]["tools"] = [text]
    kinds["user.message"]["content"] = text
    shown = {text: text, "command": text}
    for event in events:
        payload = event["payload"]
        if "call_id" in payload:
            payload["call_id"] = text[:256]
        if "display" in payload:
            payload["display"] = shown
        if event["type"] == "tool.call":
            payload.update(name=text[:64], arguments=text)
        for call in payload.get("tool_calls", []):
            call.update(call_id=text[:256], name=text[:64], arguments=text)
    kinds["tool.result"]["output"] = text
    events[place(events, "model.response")]["payload"]["content"] = text
    unknown = copy.deepcopy(events[1])
    unknown.update(type="x.vendor." + "y", payload={text: [text, {text: text}]})
    return numbered([*events[:-1], unknown, events[-1]])


@pytest.mark.parametrize("name", ATTACKS)
def test_every_text_is_shown_and_none_acts(
    open_page: Opened, write: Write, tmp_path: Path, name: str
) -> None:
    text = ATTACKS[name]
    events = hostile(text)
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    one.write_bytes(to_bytes(events))
    other.write_bytes(to_bytes(hostile(text + "!")))
    page = open_page(write(one, other))
    page.evaluate("window.pwned = 0")
    side = page.locator(".side").first
    for line in range(len(events)):
        page.locator("#scrubber").fill(str(line))
        expect(side.locator('.row[aria-selected="true"] .line')).to_have_text(str(line + 1))
    page.locator("#scrubber").fill("1")
    shown = escape(text)
    message = side.locator(".message .prose").first
    assert message.evaluate("node => node.textContent") == shown[:4000]
    assert side.locator(".payload dd").first.evaluate("node => node.textContent") == shown
    page.keyboard.press("End")
    assert page.evaluate("window.pwned") == 0
    assert page.locator("img, iframe, a, style:not(head style), b b").count() == 0
    running = page.locator("script:not([type='application/json'])")
    expect(running).to_have_count(1)
    page.keyboard.press("/")
    page.keyboard.insert_text(shown.split("\n")[0])
    expect(page.locator("#found")).not_to_have_text("")
    expect(page.locator("#found")).not_to_contain_text("searching")
    expect(side.locator(".row").first).to_be_visible()


def test_a_file_name_is_only_a_name(open_page: Opened, write: Write, tmp_path: Path) -> None:
    hostile_name = tmp_path / "<img src=x onerror=window.pwned=1>\u202e&lt;\n.jsonl"
    hostile_name.write_bytes(to_bytes(numbered(calls())))
    page = open_page(write(hostile_name))
    expect(page.locator(".side h2")).to_contain_text(
        "<img src=x onerror=window.pwned=1>\\u202e&lt;"
    )
    assert "onerror" in page.title()
    assert page.locator("img").count() == 0


def test_the_policy_stops_what_would_get_through(browser: Browser, tmp_path: Path) -> None:
    """The last line of defence, tried for real: the page with markup in it that wants to act."""
    parts = Parts()
    about = {"traces": [], "comparison": None, "live": ""}
    added = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"
    broken = tmp_path / "broken.html"
    broken.write_text(parts.begin() + added + parts.end(about), "utf-8")
    page = browser.new_page()
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(broken.as_uri())
    assert page.evaluate("window.pwned") is None
    assert sum("Content Security Policy" in text for text in refused) >= 2
    page.evaluate("fetch('https://example.invalid/').catch(() => { window.blocked = true })")
    assert page.evaluate("window.blocked") is True
    with pytest.raises(Error, match="TrustedHTML"):
        page.evaluate("document.body.innerHTML = '<b>x</b>'")
    page.close()


@pytest.mark.parametrize("line", [b"not json\n", b'{"type":"session.start"}\n', b"\xff\n"])
def test_a_line_that_is_no_event_is_refused_and_nothing_is_written(
    tmp_path: Path, line: bytes
) -> None:
    bad, page = tmp_path / "bad.jsonl", tmp_path / "page.html"
    bad.write_bytes(line)
    done = run("view", bad, "--output", page, "--no-open")
    assert done.returncode == 65
    assert done.stderr.count("\n") == 1
    assert not page.exists()


def test_right_to_left_text_does_not_push_our_words_aside(
    open_page: Opened, write: Write, tmp_path: Path
) -> None:
    path = tmp_path / "right.jsonl"
    path.write_bytes(to_bytes(hostile("مرحبا " * 40)))
    page = open_page(write(path), "#event=2")
    box = page.locator(".row").nth(1).locator(".words").bounding_box()
    quote = page.locator(".row").nth(1).locator(".words bdi")
    assert box
    first = quote.evaluate(
        """node => {
          const range = document.createRange();
          range.setStart(node.firstChild, 0);
          range.setEnd(node.firstChild, 2);
          return range.getBoundingClientRect().left;
        }"""
    )
    kind = page.locator(".row").nth(1).locator("b").bounding_box()
    assert kind
    assert abs(first - (kind["x"] + kind["width"])) < 2
    assert box["x"] <= first <= box["x"] + box["width"]
