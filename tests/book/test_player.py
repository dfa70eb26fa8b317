"""The player in the lessons: it plays, and wears the colours and the language of the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from tests.book.conftest import PHONE, Opened
from tests.golden import GOLDEN, lessons_with_demo

# The player's policy lets no test wait in it for an expression; a function may wait by itself.
FITS = """() => new Promise((done) => {
  const since = performance.now();
  const look = () => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (height === innerHeight || performance.now() - since > 10_000) done(height === innerHeight);
    else setTimeout(look, 20);
  };
  look();
})"""


def player(page: Page) -> FrameLocator:
    page.locator(".player iframe").scroll_into_view_if_needed()
    return page.frame_locator(".player iframe")


def lines(lesson: str) -> int:
    return len((GOLDEN / f"{lesson}.jsonl").read_text("utf-8").splitlines())


def test_every_lesson_plays_its_own_trace(open_page: Opened, site: str) -> None:
    page = open_page("en/index.html")
    for lesson in lessons_with_demo():
        page.goto(f"{site}/en/{lesson}.html")
        inside, count = player(page), lines(lesson)
        expect(inside.locator("#sides h2")).to_have_text(f"traces/golden/{lesson}.jsonl")
        expect(inside.locator("#where")).to_contain_text(f"event 1 of {count}")
        inside.get_by_label("Next event").click()
        expect(inside.locator("#where")).to_contain_text(f"event 2 of {count}")
        inside.get_by_label("Speed").select_option("64")
        inside.get_by_label("Play").click()
        expect(inside.locator("#where")).to_contain_text(f"event {count} of {count}")


def test_the_player_follows_the_colours_and_keeps_its_place(open_page: Opened) -> None:
    page = open_page("en/s04_approvals.html", color_scheme="light")
    inside = player(page)
    root = inside.locator("html")
    expect(root).to_have_attribute("data-theme", "light")
    inside.get_by_label("Next event").click()
    page.get_by_title("switch to light").click()
    page.get_by_title("switch to dark").click()
    expect(root).to_have_attribute("data-theme", "dark")
    expect(inside.locator("#where")).to_contain_text("event 2 of")


@pytest.mark.parametrize("from_disk", [False, True])
def test_the_chinese_book_has_a_chinese_player(open_page: Opened, from_disk: bool) -> None:
    page = open_page("zh/s03_bash_tool.html", from_disk, color_scheme="dark")
    inside = player(page)
    expect(inside.locator("html")).to_have_attribute("data-theme", "dark")
    inside.get_by_label("下一个事件").click()
    expect(inside.locator("#where")).to_contain_text("事件 2/")


@pytest.mark.parametrize("from_disk", [False, True], ids=["server", "disk"])
@pytest.mark.parametrize(
    "look",
    [{}, {"viewport": {"width": 1680, "height": 1000}}, PHONE],
    ids=["desk", "wide", "phone"],
)
def test_the_frame_is_as_high_as_the_player(
    open_page: Opened, look: dict[str, object], from_disk: bool
) -> None:
    page = open_page("en/s12_mino.html", from_disk, **look)
    inside = player(page)
    expect(inside.locator("#where")).to_contain_text("event 1")
    frame = page.frames[1]
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert frame.evaluate(FITS)
    inside.get_by_label("Last event").click()
    expect(inside.locator(".messages .note")).not_to_be_empty()
    assert frame.evaluate(FITS)
    page.set_viewport_size({"width": 500, "height": 800})
    assert frame.evaluate(FITS)
    inside.locator("#filters summary").click()
    expect(inside.locator("#types")).to_be_visible()
    assert frame.evaluate(FITS)


@pytest.mark.parametrize("look", [{}, PHONE], ids=["desk", "phone"])
def test_the_room_kept_for_a_player_is_about_its_height(
    open_page: Opened, look: dict[str, object]
) -> None:
    page = open_page("en/s01_agent_loop.html", **look)
    kept = page.evaluate("document.querySelector('.player iframe').offsetHeight")
    expect(player(page).locator("#where")).to_contain_text("event 1")
    page.wait_for_function("document.querySelector('.player iframe').style.height")
    assert abs(page.evaluate("document.querySelector('.player iframe').offsetHeight") - kept) < 40


def test_a_player_is_explained_before_it_stands_there(open_page: Opened) -> None:
    page = open_page("en/s01_agent_loop.html")
    words = page.locator(".player figcaption").bounding_box()
    frame = page.locator(".player iframe").bounding_box()
    assert words
    assert frame
    assert words["y"] + words["height"] <= frame["y"]


def test_the_player_opens_alone_with_its_own_choices_and_a_way_back(open_page: Opened) -> None:
    page = open_page("en/s01_agent_loop.html")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Open the player alone").click()
    alone = opened.value
    expect(alone.locator("#theme")).to_be_visible()
    expect(alone.locator("#where")).to_contain_text("event 1 of 5")
    expect(alone.locator("h1")).to_have_text("Trace: s01_agent_loop.jsonl")
    alone.get_by_role("link", name="s01 · The agent loop").click()
    alone.wait_for_url("**/en/s01_agent_loop.html")
