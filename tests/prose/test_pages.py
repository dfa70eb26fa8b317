"""Every page is true: its commands print what it shows, its code is ours, its links lead somewhere.

Both languages of a page have the same headings, commands, quotes and links.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.golden import ROOT
from tests.prose import checks
from tests.prose.page import Page
from tests.prose.pages import SECTIONS, all_pages, lessons, pairs
from tests.prose.reading import minutes
from tests.prose.shell import Shell

Run = Callable[[Page], list[tuple[str, int]]]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


PAGES = pytest.mark.parametrize("path", all_pages(), ids=named)
LESSONS = pytest.mark.parametrize("path", [*lessons("en"), *lessons("zh")], ids=named)


def test_there_are_pages_in_two_languages() -> None:
    assert ROOT / "README.md" in all_pages()
    assert [path.name for path in lessons("en")] == [path.name for path in lessons("zh")]
    assert lessons("en")


@pytest.fixture(scope="session")
def run_all(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs the commands of a page; two languages have the same, which need to run only once."""
    kept: dict[tuple[str, ...], list[tuple[str, int]]] = {}

    def run(page: Page) -> list[tuple[str, int]]:
        texts = tuple(command.text for command in checks.commands(page))
        if texts and texts not in kept:
            shell = Shell(ROOT, tmp_path_factory.mktemp("page"))
            kept[texts] = [shell.run(text) for text in texts]
        return kept.get(texts, [])

    return run


@PAGES
def test_commands_print_what_the_page_shows(path: Path, run_all: Run) -> None:
    page = Page.read(path)
    assert "\n".join(checks.wrong_outputs(page, run_all(page))) == ""


@PAGES
def test_code_is_quoted_from_real_files(path: Path) -> None:
    assert list(checks.stale_quotes(Page.read(path), ROOT)) == []


@PAGES
def test_links_lead_somewhere(path: Path) -> None:
    assert list(checks.dead_links(Page.read(path), ROOT)) == []


@PAGES
def test_names_in_the_text_exist(path: Path) -> None:
    assert list(checks.unknown_names(Page.read(path), ROOT)) == []


@PAGES
def test_no_page_asks_for_a_python_that_may_not_be_there(path: Path) -> None:
    assert list(checks.missing_pythons(Page.read(path))) == []


@PAGES
def test_emphasis_is_seen_as_such(path: Path) -> None:
    assert list(checks.broken_emphasis(Page.read(path))) == []


@LESSONS
def test_a_lesson_has_every_section(path: Path) -> None:
    language = ("en", "zh").index(path.parent.name)
    sections = tuple(names[language] for names in SECTIONS)
    assert list(checks.missing_sections(Page.read(path), sections)) == []


@LESSONS
def test_exercises_of_a_lesson_are_those_of_its_stubs(path: Path) -> None:
    stubs = ROOT / "curriculum" / "lessons" / path.stem / "exercises.py"
    text = stubs.read_text("utf-8") if stubs.is_file() else ""
    assert list(checks.exercise_names(Page.read(path), text)) == []


@LESSONS
def test_a_lesson_has_four_exercises_each_with_its_name(path: Path) -> None:
    named = [re.match(r"([A-D]) · .*`\w+`", heading.text) for heading in Page.read(path).headings]
    assert [match[1] for match in named if match] == ["A", "B", "C", "D"]


@LESSONS
def test_a_lesson_shows_its_demo_and_asks_five_questions(path: Path) -> None:
    page = Page.read(path)
    commands = [line for f in page.fences if f.language == "console" for line in f.lines]
    demo = f"$ python3 -m curriculum.lessons.{path.stem}.demo"
    assert any(line.startswith(demo) for line in commands)
    assert page.text.count("<details>") == page.text.count("</details>") == 5


@LESSONS
def test_a_lesson_is_read_in_the_twenty_minutes_that_it_says(path: Path) -> None:
    page = Page.read(path)
    said = re.findall(
        r"Reading takes about (\d+) minutes; the deep dive, which you can skip, (\d+) more\."
        r"|读完约需 (\d+) 分钟；“深入”一节可以跳过，要读再加 (\d+) 分钟。",
        page.text,
    )
    [[whole, deep]] = [[int(number) for number in match if number] for match in said]
    takes, takes_deep = minutes(page)
    assert whole <= 20
    assert whole - 5 < takes <= whole
    assert deep - 2 < takes_deep <= deep


@PAGES
def test_a_link_that_names_a_lesson_has_its_title(path: Path) -> None:
    text = "\n".join(line for _, line in Page.read(path).prose)
    for words, target in re.findall(r"\[(s\d\d · [^\]]+)\]\(([^)#]+)\)", text):
        assert words == Page.read(path.parent / target).headings[0].text


@LESSONS
def test_a_lesson_leads_to_its_neighbours(path: Path) -> None:
    every = lessons(path.parent.name)
    place = every.index(path)
    row = Page.read(path).text.split("\n")[2]
    targets = [target for _, target in re.findall(r"\[(s\d\d · [^\]]+)\]\(([^)]+)\)", row)]
    wanted = [
        other.name for other in (*every[max(0, place - 1) : place], *every[place + 1 : place + 2])
    ]
    assert targets == wanted


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_readme_names_every_lesson_and_chapter(language: str) -> None:
    readme = Page.read(ROOT / ("README.md" if language == "en" else "README.zh.md"))
    pages = {path.name for path in (ROOT / "lessons" / language).glob("*.md")}
    prefix = f"lessons/{language}/"
    linked = {link.text.removeprefix(prefix) for link in readme.links if prefix in link.text}
    assert linked == pages


def test_sections_that_a_grader_points_to_exist() -> None:
    known = {english for english, _ in SECTIONS}
    graders = sorted((ROOT / "curriculum" / "grading").glob("*.py"))
    pointed_to = [
        (lesson, section)
        for path in graders
        for lesson, section in re.findall(r"\b(s\d\d), \"([^\"]+)\"", path.read_text("utf-8"))
    ]
    assert pointed_to
    assert [pair for pair in pointed_to if pair[1] not in known] == []


@pytest.mark.parametrize(("english", "chinese"), pairs(), ids=lambda path: path.name)
def test_both_languages_say_the_same(english: Path, chinese: Path) -> None:
    assert list(checks.differences(Page.read(english), Page.read(chinese))) == []
