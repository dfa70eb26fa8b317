"""How long a page takes to read, in minutes, by rates that others have measured.

Text, tables, commands and what they print: 238 English words a minute, the mean of silent reading
of non-fiction over 190 studies (Brysbaert 2019, doi:10.1016/j.jml.2019.104047); most adults lie
between 175 and 300. Chinese: 300 characters a minute. Read aloud it is about 255 (IReST,
doi:10.1167/iovs.11-8284), silently about 1.3 times that, as in English; we take less. Words in
Latin letters among them are read as English ones.

Code: half as fast as text. No study gives a rate; those that follow the eyes (Busjahn 2015,
doi:10.1109/ICPC.2015.36) see it read back and forth. Its words are names, keywords and numbers.

Not counted: pictures, and what is folded away, since it is for after the reading. The deep dive
can be left out, so its minutes are told apart.
"""

from __future__ import annotations

import re

from tests.prose.page import LINK, Page

ENGLISH, HAN, CODE = 238, 300, 119  # words, characters, words of code; each in a minute
OPTIONAL = ("Deep dive", "深入")
UNSEEN = re.compile(r"<!--.*?-->|!\[[^\]]*\]\([^)]*\)|</?[a-z][^>]*>")
CHARACTER = re.compile(r"[\u3400-\u9fff]")
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)


def minutes(page: Page) -> tuple[float, float]:
    """(all but the deep dive, the deep dive) of a page, without what is folded away."""
    page = Page(page.path, FOLDED.sub("", page.text))
    blocks = [(fence.line, _block("\n".join(fence.lines), fence.quote)) for fence in page.fences]
    lines = [(number, _text(LINK.sub(r"\1", UNSEEN.sub("", line)))) for number, line in page.prose]
    optional: set[int] = set()
    sections = [heading for heading in page.headings if heading.level <= 2]
    ends = [*(section.line for section in sections[1:]), page.text.count("\n") + 2]
    for section, end in zip(sections, ends, strict=False):
        if section.text in OPTIONAL:
            optional.update(range(section.line, end))
    taken = [*blocks, *lines]
    deep = sum(time for number, time in taken if number in optional)
    return sum(time for _, time in taken) - deep, deep


def _text(line: str) -> float:
    """Minutes for a line of text: a word is what stands between blanks or characters."""
    rest = CHARACTER.sub(" ", line)
    words = sum(bool(re.search(r"\w", word)) for word in rest.split())
    return words / ENGLISH + len(CHARACTER.findall(line)) / HAN


def _block(text: str, quote: str) -> float:
    """Minutes for a block: code that is quoted, or a command, an output, a diagram."""
    words = len(re.findall(r"\w+", CHARACTER.sub(" ", text)))
    return words / (CODE if quote else ENGLISH) + len(CHARACTER.findall(text)) / HAN
