"""Where a file of the repository stands in the site, and which files the site has to hold.

Pages of the lessons' folder keep their name, other Markdown is a page of its own, a file that is
quoted or linked is shown whole, a folder as a list. Each language has all of it: what exists in
both languages is taken in the site's own, so no link leaves it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tests.golden import ROOT
from tests.prose.page import Page
from tests.prose.pages import CHAPTERS, lessons, other_language

LANGUAGES = ("en", "zh")
PICTURES = (".svg", ".png")


class Places:
    """The files of one language's site. Paths are of the repository, URIs of the site's sources."""

    def __init__(self, language: str, root: Path = ROOT) -> None:
        self.root = root
        self.language = language
        self.home = root / ("README.md" if language == "en" else "README.zh.md")
        self.lessons = lessons(language, root)
        self.chapters = [root / "lessons" / language / f"{name}.md" for name in CHAPTERS]
        self.glossary = root / "lessons" / "glossary.md"
        place = LANGUAGES.index(language)
        english = (root / "README.md", *sorted((root / "lessons" / "en").glob("*.md")))
        pairs = [(path, other_language(path)) for path in english]
        self._own = {path: pair[place] for pair in pairs for path in pair}

    def own(self, path: Path) -> Path:
        """The same page in the language of this site, if it has two."""
        return self._own.get(path, path)

    def uri(self, path: Path) -> str:
        """Where a file or a folder of the repository stands among the site's sources."""
        path = self.own(path)
        if path == self.home:
            return "index.md"
        if path.parent == self.root / "lessons" / self.language or path == self.glossary:
            return path.name
        name = path.relative_to(self.root).as_posix()
        if path.suffix in PICTURES:
            return f"pictures/{path.name}"
        if path.suffix == ".md":
            return name.replace("/README", "").replace("/", "-").lower()
        return f"code/{name}/index.md" if path.is_dir() else f"code/{name}.md"

    def all(self) -> dict[str, Path]:
        """Every file that the site holds, by its URI: the pages, and all that their links reach.

        What is not there is left out; MkDocs tells of the link, or the place in the navigation.
        """
        found: dict[str, Path] = {}
        waiting = [self.home, *self.lessons, *self.chapters, self.glossary]
        while waiting:
            path = self.own(waiting.pop())
            if path.exists() and self.uri(path) not in found:
                found[self.uri(path)] = path
                waiting += self._reached(path)
        return dict(sorted(found.items()))

    def _reached(self, path: Path) -> Iterator[Path]:
        if path.is_dir():
            yield from (inside for inside in path.iterdir() if inside.is_file())
        elif path.suffix == ".md":
            for link in Page.read(path).links:
                if target := self.target(path, link.text):
                    yield target

    def target(self, page: Path, link: str) -> Path | None:
        """The file or folder that a link of a page means; None for a page elsewhere, or itself."""
        name = link.partition("#")[0]
        if not name or "://" in name or name.startswith("mailto:"):
            return None
        return Path(os.path.normpath(page.parent / name))

    def anchor(self, target: Path, anchor: str) -> str:
        """An anchor of a page, in the page that stands for it in this language."""
        own = self.own(target)
        if own == target or not anchor:
            return anchor
        anchors = Page.read(target).anchors
        return Page.read(own).anchors[anchors.index(anchor)] if anchor in anchors else anchor
