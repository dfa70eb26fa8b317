"""The pages in a real browser: each renders, on a desk and on a phone, for keys and readers too."""

from __future__ import annotations

import re
from urllib.parse import quote
from zlib import crc32

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from lessons.book.places import LANGUAGES, Places
from tests.book.conftest import PHONE, Opened
from tests.golden import ROOT

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}


def addresses(language: str) -> list[str]:
    """Every page of one language that is read; of the code pages two stand for all."""
    found = [f"{language}/{uri[:-3]}.html" for uri in Places(language).all() if uri.endswith(".md")]
    code = [address for address in found if "/code/" in address]
    return [address for address in found if address not in code[1:-1]]


def drawn(language: str) -> str:
    """One lesson of a language. The text draws it, so that another one is looked at in time."""
    lessons = Places(language).lessons
    text = b"".join(path.read_bytes() for path in lessons)
    return f"{language}/{lessons[crc32(text) % len(lessons)].stem}.html"


def width(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_renders_and_fits_a_phone(open_page: Opened, site: str, language: str) -> None:
    page = open_page(f"{language}/index.html", **PHONE)
    for address in addresses(language):
        answer = page.goto(f"{site}/{address}")
        assert answer is not None
        assert answer.status == 200, address
        assert page.title(), address
        assert page.locator("html").get_attribute("lang") == language
        assert page.locator("h1").count() == 1, address
        assert width(page) <= 390, address


def test_the_first_page_chooses_the_language_of_the_browser(open_page: Opened) -> None:
    page = open_page("index.html", locale="zh-CN")
    page.wait_for_url("**/zh/index.html")
    page = open_page("index.html", locale="de-DE")
    page.wait_for_url("**/en/index.html")


@pytest.mark.parametrize("from_disk", [False, True])
def test_the_switch_of_the_language_stays_on_the_page(open_page: Opened, from_disk: bool) -> None:
    page = open_page("en/s04_approvals.html", from_disk)
    page.get_by_role("link", name="中文").click()
    page.wait_for_url("**/zh/s04_approvals.html")
    page.get_by_role("link", name="English").click()
    page.wait_for_url("**/en/s04_approvals.html")
    page = open_page("en/code/curriculum/core/loop.py.html", from_disk)
    page.get_by_role("link", name="中文").click()
    page.wait_for_url("**/zh/code/curriculum/core/loop.py.html")


def test_the_menu_of_the_chinese_book_is_chinese(open_page: Opened) -> None:
    page = open_page("zh/index.html")
    menu = page.locator(".md-sidebar--primary .md-nav__item .md-ellipsis").all_inner_texts()
    assert len(menu) > 15
    assert [words for words in menu if not re.search("[\u3400-\u9fff]", words)] == []


@pytest.mark.parametrize("from_disk", [False, True])
def test_the_switch_of_the_language_keeps_the_section(open_page: Opened, from_disk: bool) -> None:
    page = open_page("en/s04_approvals.html#what-to-notice", from_disk)
    page.get_by_role("link", name="中文").click()
    page.wait_for_url("**/zh/s04_approvals.html#*")
    heading = page.get_by_role("heading", name="值得注意的地方")
    expect(heading).to_be_in_viewport()
    assert page.url.endswith(f"#{quote(str(heading.get_attribute('id')))}")
    page.get_by_role("link", name="English").click()
    page.wait_for_url("**/en/s04_approvals.html#what-to-notice")
    page.go_back()
    expect(page.locator("html")).to_have_attribute("lang", "zh")


@pytest.mark.parametrize("from_disk", [False, True])
@pytest.mark.parametrize(
    ("language", "words", "found"),
    [
        ("en", "resume", "s06 · Recovery"),
        ("zh", "恢复", "s06 · 恢复"),
        ("zh", "循环", "s01 · Agent 循环"),
    ],
)
def test_the_search_finds_a_page_by_a_word(
    open_page: Opened, from_disk: bool, language: str, words: str, found: str
) -> None:
    page = open_page(f"{language}/index.html", from_disk)
    page.get_by_role("textbox").click()
    page.keyboard.insert_text(words)  # as pasted with the mouse: no key is pressed
    expect(page.locator(".md-search-result__link").first).to_be_visible()
    links = page.locator(".md-search-result__link").evaluate_all("all => all.map(e => e.href)")
    assert not [link for link in links if link.endswith("?h=")]
    result = page.locator(".md-search-result__article h1", has_text=found)
    result.click()
    expect(page.locator("article h1")).to_contain_text(found)
    assert ("?h=" in page.url) is (language == "en")  # in Chinese it would mark every 恢 and 复


def test_each_language_has_its_fonts_and_fetches_none(open_page: Opened) -> None:
    family = "getComputedStyle(document.body).fontFamily"
    assert open_page("en/index.html").evaluate(family).startswith("system-ui")
    page = open_page("zh/index.html")
    assert page.evaluate(family).startswith("Han, system-ui")
    faces = "[...document.styleSheets].flatMap(s => [...s.cssRules]).filter(r => r.type === 5)"
    sources = page.evaluate(f"{faces}.map(r => r.style.getPropertyValue('src'))")
    assert len(sources) == 2
    assert not [source for source in sources if "url(" in source]


def test_a_chinese_drawing_has_two_columns_for_a_character(open_page: Opened) -> None:
    page = open_page("zh/s01_agent_loop.html")
    wide = page.locator("pre .wide")
    assert wide.count() > 10
    spacing = wide.first.evaluate("e => parseFloat(getComputedStyle(e).letterSpacing)")
    size = wide.first.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
    letter = wide.first.evaluate(
        "e => { e.textContent = '0'; e.style.letterSpacing = 0;"
        " return e.getBoundingClientRect().width }"
    )
    assert abs(size + spacing - 2 * letter) < 0.1


def test_a_table_of_a_phone_scrolls_in_its_box_and_breaks_no_name(open_page: Opened) -> None:
    page = open_page("en/index.html", **PHONE)
    box = page.locator(".md-typeset__scrollwrap").first
    assert box.evaluate("e => e.scrollWidth > e.clientWidth")
    assert "gradient" in box.evaluate("e => getComputedStyle(e).backgroundImage")
    assert box.locator("table").evaluate("e => getComputedStyle(e).backgroundColor").endswith(" 0)")
    names = box.locator("td code").evaluate_all("all => all.map(e => e.getClientRects().length)")
    assert set(names) == {1}
    assert width(page) <= 390


def test_a_file_keeps_its_blanks_and_stands_level_with_the_numbers_of_its_lines(
    open_page: Opened,
) -> None:
    page = open_page("en/code/curriculum/core/budget.py.html")
    lines = (ROOT / "curriculum/core/budget.py").read_text("utf-8").splitlines()
    shown = page.locator("td.code code").inner_text().split("\n")
    assert [line for line in shown if line] == [line for line in lines if line]
    space = "e => getComputedStyle(e).whiteSpace"
    assert page.locator("td.code code").evaluate(space) == "pre"
    top = "all => all.map(e => e.getBoundingClientRect().top)"
    numbers = page.locator("td.linenos .normal").evaluate_all(top)
    tops = page.locator("td.code [id^=line-]").evaluate_all(top)
    assert len(numbers) == len(tops) == len(lines)
    assert max(abs(a - b) for a, b in zip(numbers, tops, strict=True)) < 4


def test_a_block_of_a_phone_scrolls_and_a_shadow_says_so(open_page: Opened) -> None:
    page = open_page("zh/s06_recovery.html", **PHONE)
    block = page.locator("pre > code", has=page.locator(".wide")).first
    assert block.evaluate("e => e.scrollWidth > e.clientWidth")
    assert "gradient" in block.evaluate("e => getComputedStyle(e).backgroundImage")
    block.evaluate("e => e.scrollTo(9999, 0)")
    assert block.evaluate("e => e.scrollLeft + e.clientWidth + 1 >= e.scrollWidth")
    assert width(page) <= 390


def test_quoted_settings_have_colours(open_page: Opened) -> None:
    block = open_page("en/experiments.html").locator(".language-toml")
    colours = "all => new Set(all.map(e => getComputedStyle(e).color)).size"
    assert block.locator("code span").evaluate_all(colours) > 2


def test_the_sign_of_a_link_to_a_heading_takes_no_line(open_page: Opened) -> None:
    page = open_page("en/s05_sessions.html", **PHONE)
    height = "() => document.querySelector('article h1').offsetHeight"
    with_sign = page.evaluate(height)
    page.evaluate("document.querySelector('article h1 .headerlink').remove()")
    assert page.evaluate(height) == with_sign


def test_a_copy_button_takes_the_commands_and_leaves_what_they_print(open_page: Opened) -> None:
    page = open_page("en/s01_agent_loop.html", permissions=["clipboard-read", "clipboard-write"])
    block = page.locator(".language-console").first
    block.hover()
    block.locator("button").first.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "python3 -m curriculum.lessons.s01_agent_loop.demo | head -1"


def test_an_answer_is_folded_away_and_is_markdown(open_page: Opened) -> None:
    page = open_page("en/s01_agent_loop.html#checkpoint")
    answer = page.locator("details", has_text="RunResult")
    expect(answer.locator("code").first).to_be_hidden()
    answer.locator("summary").click()
    expect(answer.locator("code").first).to_be_visible()


def test_the_colours_can_be_chosen_and_are_kept(open_page: Opened, site: str) -> None:
    page = open_page("en/index.html", color_scheme="light")
    body = page.locator("body")
    expect(body).to_have_attribute("data-md-color-scheme", "default")
    page.get_by_title("switch to light").click()
    page.get_by_title("switch to dark").click()
    expect(body).to_have_attribute("data-md-color-scheme", "slate")
    page.goto(f"{site}/zh/s01_agent_loop.html")
    expect(body).to_have_attribute("data-md-color-scheme", "slate")


@pytest.mark.parametrize(
    ("address", "look"),
    [
        ("en/index.html", {"color_scheme": "light"}),
        (drawn("en"), {"color_scheme": "dark"}),
        (drawn("zh"), {"color_scheme": "light"}),
        ("zh/reading_a_trace.html", {"color_scheme": "light", **PHONE}),
        ("zh/glossary.html", {"color_scheme": "dark", **PHONE}),
        ("en/code/curriculum/core/approval.py.html", {"color_scheme": "dark"}),
    ],
)
def test_axe_finds_nothing_serious(
    open_page: Opened, address: str, look: dict[str, object]
) -> None:
    page = open_page(address, reduced_motion="reduce", **look)
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    found = Axe().run(page, options=RULES)
    assert found.response["passes"], "axe has looked at nothing"
    bad = [v for v in found.response["violations"] if v["impact"] in ("serious", "critical")]
    assert bad == [], found.generate_report()


def test_a_page_is_reached_by_keys_alone(open_page: Opened) -> None:
    page = open_page("en/index.html")
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim()"))
        if reached[-1] == "s02 · Streaming":
            break
    assert "中文" in reached
    page.keyboard.press("Enter")
    page.wait_for_url("**/en/s02_streaming.html")


def test_the_menu_of_a_phone_opens_by_keys(open_page: Opened) -> None:
    page = open_page("en/s01_agent_loop.html", **PHONE)
    link = page.locator(".md-sidebar--primary").get_by_role("link", name="s03 · Bash as a tool")
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('for')") == "__drawer":
            break
    page.keyboard.press("Enter")
    expect(link).to_be_in_viewport()


def test_nothing_moves_for_those_who_asked_for_less_motion(open_page: Opened) -> None:
    for motion, moves in [("no-preference", True), ("reduce", False)]:
        page = open_page("en/index.html", reduced_motion=motion)
        moving = page.evaluate(
            "[...document.querySelectorAll('*')].filter(e => parseFloat("
            "getComputedStyle(e).transitionDuration) > 0).length"
        )
        assert (moving > 0) is moves
