"""The page as a person uses it: keys, scrubber, search, messages, calls, two traces, languages."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.golden import GOLDEN
from tests.trace.story import calls, error, numbered, place, result, stop, to_bytes, user

GOLD = GOLDEN / "s04_approvals.jsonl"
EVENTS = [json.loads(line) for line in GOLD.read_text("utf-8").splitlines()]
Opened = Callable[..., Page]
Write = Callable[..., Path]


def index_of(kind: str, after: int = -1) -> int:
    return next(i for i, e in enumerate(EVENTS) if i > after and e["type"] == kind)


def chosen(page: Page) -> Locator:
    return page.locator('.row[aria-selected="true"]')


def at(page: Page, line: int) -> None:
    """The page shows this line everywhere."""
    expect(chosen(page).first.locator(".line")).to_have_text(str(line))
    expect(page.locator("#where")).to_contain_text(f"event {line} of")
    expect(page.locator("#scrubber")).to_have_value(str(line - 1))


@pytest.fixture
def story(tmp_path: Path) -> Path:
    """Two turns; in the second a call fails, and the run ends with an error."""
    first, second = calls()[:-1], calls()[1:-3]
    for one in second:
        one["payload"] = json.loads(json.dumps(one["payload"]).replace("call-1", "call-2"))
    second[0] = user("And now?")
    second[place(second, "tool.result")] = result("failed", "call-2")
    path = tmp_path / "story.jsonl"
    path.write_bytes(to_bytes(numbered([*first, *second, error(), stop("failed")])))
    return path


# region: moving
def test_keys_move_through_events_turns_and_errors(
    open_page: Opened, write: Write, story: Path
) -> None:
    page = open_page(write(story))
    events = [json.loads(line) for line in story.read_bytes().splitlines()]
    turns = [i + 1 for i, one in enumerate(events) if one["type"] == "user.message"]
    troubles = [
        i + 1
        for i, one in enumerate(events)
        if one["type"] == "error" or one["payload"].get("status") == "failed"
    ]
    assert len(turns) == len(troubles) == 2
    at(page, 1)
    steps = [("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2), ("End", len(events))]
    steps += [("ArrowRight", len(events)), ("Home", 1), ("ArrowLeft", 1)]
    steps += [("n", turns[0]), ("n", turns[1]), ("p", turns[0])]
    steps += [("e", troubles[0]), ("e", troubles[1]), ("Shift+E", troubles[0])]
    for key, line in steps:
        page.keyboard.press(key)
        at(page, line)
    page.keyboard.press("End")
    page.keyboard.press("e")
    expect(page.locator("#where")).to_have_text("there is no further one that way")
    page.keyboard.press("ArrowLeft")
    at(page, len(events) - 1)


def test_space_plays_to_the_end_and_again_from_the_start(open_page: Opened, write: Write) -> None:
    page = open_page(write(GOLD))
    page.locator("#speed").select_option("64")
    page.locator("body").click(position={"x": 2, "y": 2})
    page.keyboard.press("Space")
    at(page, len(EVENTS))
    expect(page.locator("#play")).to_have_attribute("aria-label", "Play")
    page.locator("#speed").select_option("0.25")
    page.locator("body").click(position={"x": 2, "y": 2})
    page.keyboard.press("Space")
    expect(page.locator("#play")).to_have_attribute("aria-label", "Pause")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#play")).to_have_attribute("aria-label", "Play")


def test_the_scrubber_and_the_timeline_seek(open_page: Opened, write: Write) -> None:
    page = open_page(write(GOLD))
    page.locator("#scrubber").fill("9")
    at(page, 10)
    page.locator("#scrubber").focus()
    page.keyboard.press("ArrowRight")
    at(page, 11)
    box = page.locator(".strip").bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] - 2, box["y"] + 5)
    at(page, len(EVENTS))


def test_a_link_opens_at_its_event_and_is_noted(open_page: Opened, write: Write) -> None:
    page = open_page(write(GOLD), "#event=5")
    at(page, 5)
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("#event=6$"))
    page.evaluate("location.hash = '#event=9'")
    at(page, 9)


@pytest.mark.parametrize(
    "fragment",
    ["#event=999999", "#event=2.5", "#event=Infinity", "#event=-3", "#event=x", "#theme=x&lang=y"],
)
def test_a_link_that_makes_no_sense_does_no_harm(
    open_page: Opened, write: Write, fragment: str
) -> None:
    page = open_page(write(GOLD), fragment)
    expect(chosen(page)).to_have_count(1)


# endregion


# region: panes
def test_messages_grow_beside_the_events(open_page: Opened, write: Write) -> None:
    page = open_page(write(GOLD))
    expect(page.locator(".message")).to_have_count(0)
    expect(page.locator(".messages")).to_contain_text("No message yet.")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".message")).to_have_count(1)
    expect(page.locator(".message .prose")).to_have_text(EVENTS[1]["payload"]["content"])
    page.keyboard.press("End")
    expect(page.locator(".message").last).to_contain_text(EVENTS[-2]["payload"]["content"])
    roles = EVENTS[index_of("model.request")]["payload"]["roles"]
    assert roles == ["user"]
    page.keyboard.press("Home")
    page.locator("#scrubber").fill(str(index_of("model.request")))
    expect(page.locator(".messages .note")).to_have_text(
        "In the latest request the model sees 1: user"
    )


def test_the_machine_lights_the_current_state(open_page: Opened, write: Write) -> None:
    page = open_page(write(GOLD))
    for kind, state in (
        ("session.start", "idle"),
        ("model.request", "asking"),
        ("approval.request", "approving"),
        ("tool.start", "acting"),
        ("session.stop", "stopped"),
    ):
        page.locator("#scrubber").fill(str(index_of(kind)))
        expect(page.locator(".state.a")).to_have_count(1)
        expect(page.locator(".state.a")).to_have_attribute("data-state", state)
        expect(page.locator("#machine-says")).to_have_text(f"The run is {state}")


def test_a_call_is_followed_from_request_to_result(open_page: Opened, write: Write) -> None:
    page = open_page(write(GOLD))
    start = index_of("tool.start")
    page.locator("#scrubber").fill(str(start))
    steps = page.locator(".call button b")
    expect(steps).to_have_text(["request", "call", "approval asked", "decision", "start", "result"])
    expect(page.locator('.call [aria-current="step"]')).to_contain_text("start")
    page.locator(".call button").last.click()
    done = index_of("tool.result", start)
    at(page, done + 1)
    expect(page.locator(".detail .who strong")).to_have_text("tool.result")
    expect(page.locator(".payload")).to_contain_text(EVENTS[done]["payload"]["call_id"])


def test_a_cause_is_a_step_away(open_page: Opened, write: Write) -> None:
    page = open_page(write(GOLD), "#event=2")
    page.get_by_role("button", name="because of line 1").focus()
    page.keyboard.press("Enter")
    at(page, 1)
    expect(page.locator(".list")).to_be_focused()
    page.keyboard.press("ArrowDown")
    at(page, 2)


def test_the_whole_event_is_there_when_asked_for(open_page: Opened, write: Write) -> None:
    page = open_page(write(GOLD), "#event=2")
    page.locator(".detail summary").click()
    shown = json.loads(page.locator(".detail details pre").inner_text())
    assert shown == EVENTS[1]


# endregion


# region: finding
def test_search_narrows_the_list_and_steps_through_it(open_page: Opened, write: Write) -> None:
    page = open_page(write(GOLD))
    page.keyboard.press("/")
    page.keyboard.type("THE NETWORK")
    hits = [
        i + 1 for i, e in enumerate(EVENTS) if "the network" in json.dumps(e["payload"]).lower()
    ]
    assert len(hits) > 1
    expect(page.locator("#found")).to_have_text(f"{len(hits)} of {len(EVENTS)} events")
    expect(page.locator(".row .line")).to_have_text([str(line) for line in hits])
    page.keyboard.press("Enter")
    at(page, hits[0])
    page.keyboard.press("Enter")
    at(page, hits[1])
    page.keyboard.press("Escape")
    expect(page.locator("#query")).to_have_value("")
    expect(page.locator("#found")).to_have_text("")
    page.keyboard.press("Home")
    at(page, 1)


def test_search_looks_at_values_and_not_at_keys(open_page: Opened, write: Write) -> None:
    page = open_page(write(GOLD))
    page.locator("#query").fill("payload")
    expect(page.locator("#found")).to_have_text(f"0 of {len(EVENTS)} events")
    page.locator("#query").fill('"command":"echo')
    expect(page.locator("#found")).not_to_contain_text(" 0 of")
    expect(page.locator(".row").first).to_contain_text("model.response")


def test_filters_by_type_and_by_actor_hold_together(open_page: Opened, write: Write) -> None:
    page = open_page(write(GOLD))
    page.locator("#filters").evaluate("filters => { filters.open = true }")
    page.get_by_label("approval.decision").check()
    page.get_by_label("tool.result").check()
    both = [e for e in EVENTS if e["type"] in ("approval.decision", "tool.result")]
    expect(page.locator("#found")).to_have_text(f"{len(both)} of {len(EVENTS)} events")
    page.get_by_label("policy", exact=True).check()
    some = [e for e in both if e["actor"]["kind"] == "policy"]
    assert 0 < len(some) < len(both)
    expect(page.locator("#found")).to_have_text(f"{len(some)} of {len(EVENTS)} events")
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("#found")).to_have_text("")


# endregion


# region: two traces
def test_two_traces_stand_side_by_side_with_the_divergence_marked(
    open_page: Opened, write: Write, tmp_path: Path
) -> None:
    changed = calls()
    changed[place(changed, "tool.result")] = result("failed")
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    one.write_bytes(to_bytes(numbered(calls())))
    other.write_bytes(to_bytes(numbered(changed)))
    page = open_page(write(one, other))
    line = place(changed, "tool.result") + 1
    expect(page.locator("#comparison .verdict strong")).to_have_text("Same outcome")
    expect(page.locator(".side")).to_have_count(2)
    page.keyboard.press("d")
    expect(page.locator(".row.parted .line")).to_have_text([str(line), str(line)])
    expect(chosen(page).locator(".line")).to_have_text([str(line), str(line)])
    expect(page.locator(".side").nth(1).locator(".row.parted")).to_contain_text("failed")
    page.keyboard.press("ArrowRight")
    expect(chosen(page).locator(".line")).to_have_text([str(line + 1), str(line + 1)])
    page.get_by_role("button", name="Go to the first divergence").click()
    expect(chosen(page).locator(".line")).to_have_text([str(line), str(line)])


def test_traces_that_part_at_different_lines_are_shown_next_to_each_other(
    open_page: Opened, write: Write, tmp_path: Path
) -> None:
    changed = calls()
    changed[place(changed, "tool.result")] = result("failed")
    changed.insert(place(changed, "model.delta"), copy.deepcopy(changed[4]))
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    one.write_bytes(to_bytes(numbered(calls())))
    other.write_bytes(to_bytes(numbered(changed)))
    page = open_page(write(one, other))
    lines = chosen(page).locator(".line")
    here, there = place(calls(), "tool.result") + 1, place(changed, "tool.result") + 1
    assert there == here + 1
    page.keyboard.press("d")
    expect(lines).to_have_text([str(here), str(there)])
    page.keyboard.press("ArrowRight")
    expect(lines).to_have_text([str(here + 1), str(there + 1)])
    page.keyboard.press("End")
    expect(lines).to_have_text([str(len(calls())), str(len(changed))])
    page.locator(".side").nth(1).locator(".row", has_text="tool.result").click()
    expect(lines).to_have_text([str(here), str(there)])
    page.keyboard.press("Home")
    expect(lines).to_have_text(["1", "1"])


def test_a_value_that_is_cut_says_so(open_page: Opened, write: Write, tmp_path: Path) -> None:
    path = tmp_path / "much.jsonl"
    path.write_bytes(to_bytes(numbered([calls()[0], user("word " * 10_000)])))
    page = open_page(write(path), "#event=2")
    expect(page.locator(".payload .quiet")).to_have_text("… and 30,000 more characters")
    expect(page.locator(".message .quiet")).to_have_text("… and 46,000 more characters")
    page.locator(".detail summary").click()
    assert len(page.locator(".detail details pre").inner_text()) > 50_000


def test_a_trace_that_ends_early_waits_at_its_end(
    open_page: Opened, write: Write, tmp_path: Path
) -> None:
    short = tmp_path / "short.jsonl"
    short.write_bytes(to_bytes(numbered(calls()[:4])))
    long = tmp_path / "long.jsonl"
    long.write_bytes(to_bytes(numbered(calls())))
    page = open_page(write(short, long))
    expect(page.locator("#comparison")).to_contain_text("says nothing more")
    page.keyboard.press("End")
    lines = chosen(page).locator(".line")
    expect(lines).to_have_text(["4", str(len(calls()))])


def test_the_same_trace_twice_has_no_divergence(open_page: Opened, write: Write) -> None:
    page = open_page(write(GOLD, GOLD))
    expect(page.locator("#comparison")).to_have_text("Same bytes")
    expect(page.locator(".row.parted")).to_have_count(0)


# endregion


# region: everyone
LOOKS: dict[str, dict[str, Any]] = {
    "desktop": {},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 740}},
    "phone, dark": {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"},
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("traces", [1, 2])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_axe_finds_nothing_that_wcag_aa_forbids(
    open_page: Opened, write: Write, look: str, traces: int, language: str
) -> None:
    files = [GOLD, GOLDEN / "s03_bash_tool.jsonl"][:traces]
    page = open_page(write(*files), f"#event=13&lang={language}", **LOOKS[look])
    page.locator("#filters").evaluate("filters => { filters.open = true }")
    expect(chosen(page).first).to_be_visible()
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
    found = Axe().run(page, options=rules)
    assert found.response["passes"], "axe has looked at nothing"
    assert found.violations_count == 0, found.generate_report()
    page.locator("#show-help").click()
    assert Axe().run(page, options=rules).violations_count == 0


@pytest.mark.parametrize("traces", [1, 2])
def test_nothing_is_wider_than_a_phone(open_page: Opened, write: Write, traces: int) -> None:
    page = open_page(write(*[GOLD, GOLDEN / "s03_bash_tool.jsonl"][:traces]), **LOOKS["phone"])
    page.locator("#filters").evaluate("filters => { filters.open = true }")
    for line in range(len(EVENTS)):
        page.locator("#scrubber").fill(str(line))
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    expect(page.locator("#machine text").first).to_be_visible()
    height = page.locator("#machine text").first.bounding_box()
    assert height
    assert height["height"] >= 11, "the states cannot be read"


def test_the_page_speaks_chinese_when_asked(open_page: Opened, write: Write) -> None:
    page = open_page(write(GOLD), locale="zh-CN")
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    expect(page.locator(".messages h3")).to_have_text("消息：模型看到的")
    page.locator("#language").select_option("en")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.locator(".messages h3")).to_have_text("Messages: what the model sees")
    page.locator("#language").select_option("zh")
    page.keyboard.press("Escape")
    page.locator("#show-help").click()
    expect(page.locator("#keys")).to_contain_text("播放、暂停")


def test_a_theme_that_is_chosen_wins_over_the_system(open_page: Opened, write: Write) -> None:
    page = open_page(write(GOLD), color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(colour)
    page.locator("#theme").select_option("light")
    light = page.evaluate(colour)
    assert dark != light
    page.locator("#theme").select_option("dark")
    assert page.evaluate(colour) == dark


def test_the_keys_are_listed(open_page: Opened, write: Write) -> None:
    page = open_page(write(GOLD))
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    expect(page.locator("#keys dt")).to_contain_text(["space", "→ ←", "n p", "e E", "/"])
    page.keyboard.press("n")
    page.keyboard.press("Escape")
    at(page, 1)


# endregion
