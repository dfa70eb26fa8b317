"""What a build writes: whole, true to its links, self-contained, and the same bytes each time."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

from lessons.book.places import LANGUAGES
from tests.golden import ROOT, lessons_with_demo
from tests.prose.pages import lessons

FETCHING = {"src", "srcset", "poster", "data"}
# Quick, and enough for what MkDocs writes: values in double quotes, no bare < in text.
TAG = re.compile(r'<(\w+)((?:\s+[\w:-]+(?:=(?:"[^"]*"|[^\s">]+))?)+)\s*/?>')
ATTRIBUTE = re.compile(r'([\w:-]+)="([^"]*)"')
AWAY = re.compile(r"^(?:https?:)?//")


class Markup:
    """The links, the anchors and all that a browser would fetch, of one page."""

    def __init__(self, text: str) -> None:
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.classes: set[str] = set()
        for tag, attributes in TAG.findall(text):
            for name, value in ATTRIBUTE.findall(attributes):
                if name == "id" or (name, tag) == ("name", "a"):
                    self.anchors.add(value)
                elif name == "class":
                    self.classes.update(value.split())
                elif (name, tag) == ("href", "a"):
                    self.links.append(html.unescape(value))
                elif name in FETCHING or (name, tag) in [("href", "link"), ("href", "use")]:
                    self.fetched.append(html.unescape(value))


@cache
def markup(page: Path) -> Markup:
    return Markup(page.read_text("utf-8"))


def pages(book: Path) -> list[Path]:
    return sorted(book.rglob("*.html"))


def test_every_link_leads_to_a_page_and_a_place_of_the_book(book: Path) -> None:
    dead = []
    for page in pages(book):
        for link in markup(page).links + markup(page).fetched:
            name, _, anchor = unquote(link).partition("#")
            target = (page.parent / name).resolve() if name else page
            where = f"{page.relative_to(book)}: {link}"
            if AWAY.match(link) or link.startswith("data:"):
                continue
            if not target.is_file() or not target.is_relative_to(book.resolve()):
                dead.append(where)
            elif (
                anchor and not name.startswith("players/") and anchor not in markup(target).anchors
            ):
                dead.append(f"{where} (no such place)")
    assert dead == []


def test_no_page_style_or_script_fetches_from_elsewhere(book: Path) -> None:
    for page in pages(book):
        assert [link for link in markup(page).fetched if AWAY.match(link)] == []
        # The theme's script would fetch what draws these.
        assert markup(page).classes.isdisjoint({"mermaid", "arithmatex"})
    styles = sorted(book.rglob("*.css"))
    assert styles
    for style in styles:
        assert (
            re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", style.read_text("utf-8")) == []
        )


def test_no_mark_for_our_checks_is_in_the_book(book: Path) -> None:
    told = [page for page in pages(book) if "<!-- quote:" in page.read_text("utf-8")]
    assert told == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_lesson_has_its_player_where_the_run_is_observed(book: Path, language: str) -> None:
    demos = lessons_with_demo()
    assert [page.stem for page in lessons(language)] == demos
    for name in demos:
        text = (book / language / f"{name}.html").read_text("utf-8")
        after = text.partition(
            'id="run-it-and-observe-it"' if language == "en" else 'id="运行并观察"'
        )[2]
        assert re.search(rf'<iframe src="players/{name}\.html#lang={language}"', after), name
        assert (book / language / "players" / f"{name}.html").is_file()


@pytest.mark.parametrize("language", LANGUAGES)
def test_next_leads_through_all_lessons_in_order(book: Path, language: str) -> None:
    seen, name = [], "index.html"
    while name and len(seen) < 99:
        seen.append(name.removesuffix(".html"))
        text = (book / language / name).read_text("utf-8")
        found = re.search(r'<link rel="next" href="([^"]+)"', text)
        name = found[1] if found else ""
    demos = lessons_with_demo()
    assert seen[: len(demos) + 1] == ["index", *demos]
    assert {"reading_a_trace", "experiments", "glossary"} <= set(seen)


def test_quoted_code_leads_to_its_first_line(book: Path) -> None:
    text = (book / "en" / "s01_agent_loop.html").read_text("utf-8")
    lines = (ROOT / "curriculum/core/messages.py").read_text("utf-8").splitlines()
    first = lines.index("# region: message") + 2
    assert f'href="code/curriculum/core/messages.py.html#line-0-{first}"' in text
    text = (book / "en" / "s08_when_to_give_up.html").read_text("utf-8")  # quotes a function
    lines = (ROOT / "curriculum/core/retry.py").read_text("utf-8").splitlines()
    first = next(n for n, line in enumerate(lines, 1) if line.startswith("    def wait_us("))
    assert f'href="code/curriculum/core/retry.py.html#line-0-{first}"' in text


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project elsewhere, in a folder with a space in its name."""
    root = tmp_path_factory.mktemp("elsewhere") / "a check out"
    left = shutil.ignore_patterns(".*", "dist", "__pycache__")
    shutil.copytree(ROOT, root, ignore=left, symlinks=True)
    return root


def run(root: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=root,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_the_same_sources_give_the_same_bytes_anywhere(book: Path, copied: Path) -> None:
    done = run(copied, "lessons.book", PYTHONHASHSEED="7", TZ="Asia/Shanghai")
    assert (done.returncode, done.stderr) == (0, "")
    again = copied / "dist" / "book"
    assert done.stdout == f"wrote dist/book; open {again / 'index.html'} in a browser\n"
    names = [path.relative_to(book) for path in sorted(book.rglob("*")) if path.is_file()]
    assert names == [path.relative_to(again) for path in sorted(again.rglob("*")) if path.is_file()]
    assert [n for n in names if (book / n).read_bytes() != (again / n).read_bytes()] == []


def test_a_broken_link_fails_the_build_with_a_line_that_names_it(copied: Path) -> None:
    for page in copied.glob("lessons/*/s[01][02-9]_*.md"):
        page.unlink()
    done = run(copied, "lessons.book")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert any("zh: WARNING" in line and "s02_streaming.md" in line for line in lines), lines
    assert "Traceback" not in done.stderr
    assert lines[-1] == "book: mend the above, then run `make book` again"
