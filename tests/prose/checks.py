"""What can be wrong with a page. Each check returns one line a problem: where, what, what to do."""

from __future__ import annotations

import ast
import os
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tests.prose.page import CODE, SOURCE, Page
from tests.prose.shell import Command, commands_of, matches

FREE = ("", "text")  # diagrams and forms: nothing in them claims to be code or output
COMMANDS = ("console", "sh", "output")
QUOTED = ("python", "toml")  # the same, word for word, as the region that they quote
CHECKED = (*COMMANDS, *QUOTED)
OURS = re.compile(r"(curriculum|lessons|traces|schemas|tests|\.ci)/[\w./-]*")
MODULE = re.compile(r"python3? -m ((?:curriculum|tests)[\w.]*)")
NO_PYTHON = re.compile(r"(?<![\w/.])python -m")  # many systems have no `python`
UPDATE = ".venv/bin/python -m tests.prose --update"
TARGET = re.compile(r"\bmake ([a-z]+)\b")


class QuoteError(Exception):
    """A quote names no region of any file."""


def region(root: Path, reference: str) -> tuple[str, ...]:
    """The lines between `# region: NAME` and its `# endregion`, dedented; regions may nest.

    Without such a region, those of the function or class of that name, such as `Box.second`.
    """
    name, _, wanted = reference.partition("#")
    if not (root / name).is_file():
        raise QuoteError(f"there is no file {name}")
    lines = (root / name).read_text("utf-8").splitlines()
    taken: list[str] = []
    depth = 0  # of regions open since the wanted one; 0 outside it
    for line in lines:
        mark = line.strip()
        if mark.startswith("# region: "):
            if depth or mark == f"# region: {wanted}":
                depth += 1
        elif mark == "# endregion":
            depth = max(0, depth - 1)
            if taken and not depth:
                break
        elif depth:
            taken.append(line)
    marks = ("# region: ", "# endregion")
    named = [lines[number - 1] for number in definition(lines, wanted)]
    taken = taken or [line for line in named if not line.strip().startswith(marks)]
    if not taken:
        raise QuoteError(f"{name} has no region, function or class {wanted!r}")
    # Where the marks of an inner region stood, two blank lines may meet.
    text = re.sub(r"\n{3,}(?= )", "\n\n", "\n".join(taken))
    return tuple(textwrap.dedent(text).strip("\n").split("\n"))


def definition(lines: Sequence[str], wanted: str) -> range:
    """The line numbers (from 1) of a function or class, named by its dotted path; empty if none."""
    body, found = ast.parse("\n".join(lines)).body, range(0)
    for part in wanted.split("."):
        kinds = (ast.FunctionDef, ast.ClassDef)
        node = next((node for node in body if isinstance(node, kinds) and node.name == part), None)
        if node is None or node.end_lineno is None:
            return range(0)
        first = min(each.lineno for each in (node, *node.decorator_list))
        body, found = node.body, range(first, node.end_lineno + 1)
    return found


def stale_quotes(page: Page, root: Path) -> Iterator[str]:
    """Code that is not, word for word, the region it quotes; and code that quotes nothing."""
    for fence in page.fences:
        where = f"{page.path.name}:{fence.line}"
        if fence.language not in (*FREE, *CHECKED):
            known = ", ".join(CHECKED)
            yield f"{where}: a {fence.language!r} block is not checked; use {known} or text"
        elif fence.language in QUOTED and not fence.quote:
            yield f"{where}: code that quotes no file; put <!-- quote: PATH#REGION --> before it"
        elif fence.quote:
            try:
                if fence.lines != region(root, fence.quote):
                    yield f"{where}: not what {fence.quote} says; {UPDATE}"
                elif fence.above != source_line(page, root, fence.quote):
                    yield f"{where}: shows no path of its code; {UPDATE}"
            except QuoteError as error:
                yield f"{where}: {error}"


def update_quotes(page: Page, root: Path) -> Page:
    """The page with every quote written anew from its file."""
    lines = page.text.split("\n")
    for fence in reversed(page.fences):
        if fence.quote:
            lines[fence.line : fence.line + len(fence.lines)] = region(root, fence.quote)
            mark = fence.line - 2 if SOURCE.match(fence.above) else fence.line - 1
            lines[mark : fence.line - 1] = [source_line(page, root, fence.quote)]
    return replace(page, text="\n".join(lines))


def source_line(page: Page, root: Path, reference: str) -> str:
    """What stands right above quoted code, for readers: the path of its file, as a link to it."""
    name, _, _ = reference.partition("#")
    return f"[`{name}`]({os.path.relpath(root / name, page.path.parent)})"


def commands(page: Page) -> list[Command]:
    """Every command that the page tells its reader to run, in order."""
    return commands_of(page.fences)


def wrong_outputs(page: Page, printed: Sequence[tuple[str, int]]) -> Iterator[str]:
    """Commands that fail, or print something else than the page shows.

    `printed` is what came of each of `commands(page)`: output and exit code.
    """
    for command, (real, code) in zip(commands(page), printed, strict=True):
        where = f"{page.path.name}:{command.line}: $ {command.text.splitlines()[0]}"
        if code:
            yield f"{where}\nended with exit code {code}:\n{real}"
        elif not matches(command.output, real):
            shown = "\n".join(command.output)
            yield f"{where}\n--- the page shows\n{shown}\n--- it prints\n{real}"


def update_outputs(page: Page, printed: Sequence[tuple[str, int]]) -> Page:
    """The page with every wrong output that leaves nothing out written anew."""
    lines = page.text.split("\n")
    for command, (real, code) in reversed(list(zip(commands(page), printed, strict=True))):
        elided = any(line == "..." or "…" in line for line in command.output)
        if command.under and not (code or elided or matches(command.output, real)):
            lines[command.under : command.under + len(command.output)] = real.splitlines()
    return replace(page, text="\n".join(lines))


def dead_links(page: Page, root: Path) -> Iterator[str]:
    """Links to a file or an anchor that is not there, or to a place outside the project."""
    for link in page.links:
        where = f"{page.path.name}:{link.line}"
        if re.match(r"https://", link.text):
            continue
        name, _, anchor = link.text.partition("#")
        target = (page.path.parent / name).resolve() if name else page.path
        if not target.is_relative_to(root.resolve()) or not (
            target.exists() or target == page.path
        ):
            yield f"{where}: the link {link.text} leads nowhere"
        elif anchor and target.suffix != ".md":
            yield f"{where}: {link.text} points into a file that is not a page; link the file"
        elif anchor and anchor not in Page.read(target).anchors:
            yield f"{where}: {name or 'this page'} has no heading or anchor #{anchor}"


def unknown_names(page: Page, root: Path) -> Iterator[str]:
    """Inline code that names a file, a module or a make target that is not there."""
    targets = re.findall(r"^([a-z]+):", (root / "Makefile").read_text("utf-8"), re.MULTILINE)
    for code in page.codes:
        where = f"{page.path.name}:{code.line}: `{code.text}`"
        if OURS.fullmatch(code.text) and not (root / code.text).exists():
            yield f"{where} is not there"
        for module in MODULE.findall(code.text):
            path = root / module.replace(".", "/")
            if not (path.is_dir() or path.with_suffix(".py").is_file()):
                yield f"{where}: there is no module {module}"
        for target in TARGET.findall(code.text):
            if target not in targets:
                yield f"{where}: the Makefile has no target {target}"


def missing_pythons(page: Page) -> Iterator[str]:
    """Text or a block that asks for `python`, which many systems do not have under this name."""
    quoted = {f.line + n for f in page.fences if f.quote for n in range(len(f.lines) + 2)}
    for number, line in enumerate(page.text.split("\n"), 1):
        if number not in quoted and NO_PYTHON.search(line):
            yield f"{page.path.name}:{number}: say python3 or .venv/bin/python, not python"


def broken_emphasis(page: Page) -> Iterator[str]:
    """Stars that Markdown leaves standing: punctuation on their inside, a letter on the outside.

    Easily written in Chinese, where no space stands between words (CommonMark, flanking runs).
    """
    for number, line in page.prose:
        text = CODE.sub("code", line)
        if found := re.search(r"\w\*+[\[(（“「]|[\])）”」。，：]\*+\w", text):
            yield f"{page.path.name}:{number}: {found[0]!r} is no emphasis; put a space outside it"


def exercise_names(page: Page, stubs: str) -> Iterator[str]:
    """Exercises named in a heading that the stubs do not define."""
    for heading in page.headings:
        for name in re.findall(r"`(\w+)`", heading.text):
            if not re.search(rf"^(def |class )?{name}\b", stubs, re.MULTILINE):
                yield f"{page.path.name}:{heading.line}: exercises.py defines no {name}"


def missing_sections(page: Page, sections: tuple[str, ...]) -> Iterator[str]:
    """Sections (headings of level 2) that are absent, out of order, or not in the list."""
    found = [heading.text for heading in page.headings if heading.level == 2]
    if sum(heading.level == 1 for heading in page.headings) != 1:
        yield f"{page.path.name}: a page has one title"
    for section in sections:
        if section not in found:
            yield f"{page.path.name}: the section '{section}' is missing"
    for section in found:
        if section not in sections:
            yield f"{page.path.name}: the section '{section}' is not one of a lesson"
    if sorted(found) == sorted(sections) and found != list(sections):
        yield f"{page.path.name}: the sections are not in order"


def differences(one: Page, other: Page) -> Iterator[str]:
    """Where two languages of one page differ in what is the same in any language."""
    parts: dict[str, Callable[[Page], list[str]]] = {
        "headings": lambda page: [f"level {heading.level}" for heading in page.headings],
        "links": lambda page: sorted(_neutral(page, link.text) for link in page.links),
        "blocks": lambda page: [fence.language + fence.quote for fence in page.fences],
        "commands and outputs": lambda page: [
            line for fence in page.fences if fence.language in COMMANDS for line in fence.lines
        ],
    }
    for part, of in parts.items():
        here, there = of(one), of(other)
        if here != there:
            pairs = zip([*here, ""], [*there, ""], strict=False)
            first = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
            yield f"{one.path} and {other.path} differ in their {part}: {first[0]!r}, {first[1]!r}"


def _neutral(page: Page, target: str) -> str:
    """A link target without what depends on the language: folder, suffix, words of a heading."""
    name, _, anchor = target.partition("#")
    if anchor and not name and anchor in page.anchors[: len(page.headings)]:
        anchor = f"heading {page.anchors.index(anchor)}"
    name = re.sub(r"\b(en|zh)/", "LANGUAGE/", name).replace(".zh.md", ".md")
    return f"{name}#{anchor}"
