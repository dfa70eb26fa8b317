"""What the text of a page becomes on its way into the site; the pages themselves stay as they are.

Links get the places of the site, and the path above quoted code leads to its first line there. The
marks of quotes, which are for our checks, and the line of links under a title, which the site has
around every page, are left out. What is folded away is read as Markdown.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path

from lessons.book.places import Places
from lessons.book.players import figure
from tests.prose.checks import definition
from tests.prose.page import FENCE, QUOTE, SOURCE
from tests.prose.pages import SECTIONS

LEXERS = {".py": "python", ".toml": "toml", ".json": "json", ".jsonl": "json"}
# What follows `](`; inline code is matched first, so that nothing in it is taken for a link.
_LINK = re.compile(r"(`+)[^`]+\1|(?<=\]\()([^()\s]+)(?=\))")
_LANGUAGE = re.compile(r"^\[(?:English|中文)\]\(\S+\)(?: · |$)")
_CONSOLE = re.compile(r'<div class="language-console highlight">(.*?)</div>', re.DOTALL)
_CODE_LINE = re.compile(r'data-line="(\d+)" href="([^"]+)"')
_BLOCK = re.compile(r"<pre.*?</pre>", re.DOTALL)
# A tag, or a run of characters that are twice as wide as a letter in a terminal.
_WIDE = re.compile(r"<[^>]*>|([\u3000-\u303f\u3400-\u9fff\uff00-\uff60]+)")
_RUN = SECTIONS[6]  # Run it and observe it


def prepare(text: str, page: Path, places: Places) -> str:
    """The Markdown of a page of the repository, as the site takes it."""
    done: list[str] = []
    fence, quote = "", ""
    for line in text.split("\n"):
        if fence:
            fence = "" if line.strip() == fence else fence
        elif opening := FENCE.match(line):
            fence = opening[2]
        elif mark := QUOTE.match(line):
            quote = mark[1]
            continue
        elif _LANGUAGE.match(line):
            continue
        elif quote and SOURCE.match(line):
            first = f'{{ data-line="{first_line(places.root, quote)}" .quoted }}'
            line, quote = f"{_linked(line, page, places)}{first}\n", ""
        else:
            line = _linked(line, page, places).replace("<details>", '<details markdown="1">')
        done.append(line)
        if line[3:] in _RUN and line.startswith("## ") and page in places.lessons:
            done.append(figure(page.stem, places.language))
    return "\n".join(done)


def _linked(line: str, page: Path, places: Places) -> str:
    here = os.path.dirname(places.uri(page))

    def place(match: re.Match[str]) -> str:
        target = match[2] and places.target(page, match[2])
        if not target:
            return match[0]
        anchor = places.anchor(target, match[2].partition("#")[2])
        return os.path.relpath(places.uri(target), here or ".") + (anchor and f"#{anchor}")

    return _LINK.sub(place, line)


def first_line(root: Path, reference: str) -> int:
    """The line (from 1) on which what `PATH#NAME` quotes begins; 1 if it is not there.

    A stale quote is for the checks of the pages to tell.
    """
    name, _, region = reference.partition("#")
    lines = (root / name).read_text("utf-8").splitlines()
    marks = [line.strip() for line in lines]
    mark = f"# region: {region}"
    return marks.index(mark) + 2 if mark in marks else min(definition(lines, region), default=1)


def code_page(path: Path, root: Path) -> str:
    """A file of the repository, whole, as a page that the search passes over."""
    text = path.read_text("utf-8").rstrip("\n")
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    lexer = LEXERS.get(path.suffix, "text")
    block = f'{fence} {{ .{lexer} linenums="1" }}\n{text}\n{fence}'
    return f"{_head(path, root)}{block}\n"


def folder_page(folder: Path, root: Path) -> str:
    """A folder of the repository, as a list of its files."""
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    return _head(folder, root) + "".join(f"- [`{name}`]({name}.md)\n" for name in names)


def _head(path: Path, root: Path) -> str:
    name = path.relative_to(root).as_posix()
    return f"---\ntitle: {name}\nsearch: {{exclude: true}}\nhide: [toc]\n---\n\n# `{name}`\n\n"


def finish(content: str) -> str:
    """The HTML of a page: links to lines of code, copy buttons that take only the commands.

    In blocks, Chinese characters are marked, so that drawings with them keep their columns.
    """
    content = _CODE_LINE.sub(r'href="\2#line-0-\1"', content)
    content = _BLOCK.sub(lambda block: _WIDE.sub(_marked, block[0]), content)
    return _CONSOLE.sub(_copied, content)


def _marked(found: re.Match[str]) -> str:
    return f'<span class="wide">{found[1]}</span>' if found[1] else found[0]


def _copied(block: re.Match[str]) -> str:
    lines = html.unescape(re.sub(r"<[^>]*>", "", block[1])).splitlines()
    commands = "\n".join(line[2:] for line in lines if line.startswith("$ "))
    return block[0].replace("<div ", f'<div data-copy="{html.escape(commands)}" ', 1)
