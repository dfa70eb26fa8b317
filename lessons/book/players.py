"""The browser player in the book: one page for each golden trace, and the frame that shows it."""

from __future__ import annotations

import html
import io
import os
from pathlib import Path

from curriculum.trace.engines import make_engine
from curriculum.trace.viewer.build import write_page
from lessons.book.places import Places
from tests.golden import GOLDEN
from tests.prose.page import Page

# What the book says around the player: (English, Chinese).
TITLE = ("The trace of this lesson's demo, event by event", "本课示例的 trace，逐个事件")
CAPTION = (
    "The trace of this lesson's demo. ▶ plays it, ‹ and › step, a click on an event opens it.",
    "本课示例的 trace。▶ 播放，‹ 和 › 逐步查看；点击事件可以看到它的全部内容。",
)
ALONE = ("Open the player alone", "单独打开播放器")


def pages(places: Places) -> dict[str, str]:
    """The page of each lesson's golden trace, by its URI in the site; it links to the lesson."""
    return {
        f"players/{lesson.stem}.html": _with_way_back(page(GOLDEN / f"{lesson.stem}.jsonl"), lesson)
        for lesson in places.lessons
    }


def page(trace: Path) -> str:
    """A trace as one HTML page. It names the file as seen from the working directory."""
    sink = io.StringIO()
    write_page([os.path.relpath(trace)], make_engine(), sink)
    return sink.getvalue()


def figure(lesson: str, language: str) -> str:
    """The player of a lesson's golden trace, for its page. The browser loads it when it is near."""
    title, caption, alone = (pair[language == "zh"] for pair in (TITLE, CAPTION, ALONE))
    address = f"players/{lesson}.html#lang={language}"
    return f"""
<figure class="player">
<figcaption>{caption} <a href="{address}" target="_blank">{alone}</a></figcaption>
<iframe src="{address}" title="{html.escape(title)}" loading="lazy"></iframe>
</figure>
"""


def _with_way_back(player: str, lesson: Path) -> str:
    """The same page with a link to the lesson in its header, which a frame does not show."""
    before, header, after = player.partition("<header>\n")
    if not header:
        raise ValueError("the player's page has no header for the link to the lesson")
    title = html.escape(Page.read(lesson).headings[0].text)
    return f'{before}{header}  <a href="../{lesson.stem}.html">← {title}</a>\n{after}'
