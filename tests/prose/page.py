"""One Markdown page, taken apart: headings, fences, links and inline code, each with its line.

Only what our pages use is understood. Text inside a fence is never read as Markdown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

FENCE = re.compile(r"^( *)(```+)([\w-]*)\s*$")
QUOTE = re.compile(r"^ *<!-- quote: (\S+) -->$")
SOURCE = re.compile(r"^\[`[^`]+`\]\([^()\s]+\)$")  # the path of quoted code, above it
HEADING = re.compile(r"^(#{1,6}) (.+?)\s*$")
CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s]+)\)")
ANCHOR = re.compile(r'<a id="([^"]+)"></a>')


@dataclass(frozen=True)
class Fence:
    """A fenced block. `line` is that of its opening (from 1); `quote` is `PATH#REGION` or empty.

    `above` is the line right above the block, on which quoted code shows its path.
    """

    line: int
    language: str
    lines: tuple[str, ...]
    quote: str = ""
    above: str = ""


@dataclass(frozen=True)
class Mark:
    """A heading (level 1-6), a link target or a piece of inline code (level 0), and its line."""

    line: int
    text: str
    level: int = 0


@dataclass(frozen=True)
class Page:
    """The parts of one page, in order. `path` is where its relative links start from."""

    path: Path
    text: str

    @classmethod
    def read(cls, path: Path) -> Page:
        return cls(path, path.read_text("utf-8"))

    @cached_property
    def fences(self) -> list[Fence]:
        """Every fenced block; one that is never closed runs to the end of the page."""
        found: list[Fence] = []
        opening: re.Match[str] | None = None
        start, quote, above, last = 0, "", "", ""
        body: list[str] = []
        for number, line in enumerate(self.text.split("\n"), 1):
            if opening is None:
                if opening := FENCE.match(line):
                    start, body, above = number, [], last
                elif mark := QUOTE.match(line):
                    quote = mark[1]
                elif line.strip() and not SOURCE.match(line):
                    quote = ""
            elif line.strip() == opening[2]:
                found.append(Fence(start, opening[3], tuple(body), quote, above))
                opening, quote = None, ""
            else:
                body.append(line)
            last = line
        if opening:
            found.append(Fence(start, opening[3], tuple(body), quote, above))
        return found

    @cached_property
    def prose(self) -> list[tuple[int, str]]:
        """The lines outside fences, numbered from 1."""
        fenced: set[int] = set()
        for fence in self.fences:
            fenced.update(range(fence.line, fence.line + len(fence.lines) + 2))
        return [
            (number, line)
            for number, line in enumerate(self.text.split("\n"), 1)
            if number not in fenced
        ]

    @cached_property
    def headings(self) -> list[Mark]:
        matches = [(number, HEADING.match(line)) for number, line in self.prose]
        return [Mark(number, m[2], len(m[1])) for number, m in matches if m]

    @cached_property
    def links(self) -> list[Mark]:
        """Targets of links; what inline code looks like is not one."""
        return [
            Mark(number, target)
            for number, line in self.prose
            for _, target in LINK.findall(CODE.sub("code", line))
        ]

    @cached_property
    def codes(self) -> list[Mark]:
        return [Mark(number, code) for number, line in self.prose for code in CODE.findall(line)]

    @cached_property
    def anchors(self) -> list[str]:
        """What a link may point at: first every heading, in order, then explicit anchors."""
        seen: dict[str, int] = {}
        slugs = []
        for heading in self.headings:
            slug = re.sub(r"[^\w\- ]", "", heading.text.lower()).replace(" ", "-")
            seen[slug] = seen.get(slug, -1) + 1
            slugs.append(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        return slugs + [name for _, line in self.prose for name in ANCHOR.findall(line)]
