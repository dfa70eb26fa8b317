"""What MkDocs asks while it builds one language: which files, in which order, with which text."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from lessons.book import players
from lessons.book.places import LANGUAGES, PICTURES, Places
from lessons.book.text import code_page, finish, folder_page, prepare

# The parts of the navigation: (English, Chinese).
HOME, LESSONS, CHAPTERS, REFERENCE = (
    ("Start", "开始"),
    ("Lessons", "课程"),
    ("Chapters", "章节"),
    ("Reference", "参考"),
)
NAMES = ("English", "中文")
# Pages that exist in English only; a menu in another language says so.
ENGLISH = {
    "changelog.md": "更新日志（英文）",
    "contributing.md": "参与贡献（英文）",
    "traces.md": "Trace 文件（英文）",
}


@cache
def files_of(language: str) -> tuple[Places, dict[str, Path]]:
    """Where everything stands in the site of one language, and the files that it holds."""
    places = Places(language)
    return places, places.all()


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The navigation: the start, the lessons in order, the chapters, and all other text."""
    logging.getLogger("jieba").setLevel(logging.WARNING)
    places, held = files_of(config.theme["language"])
    if places.language == "zh":  # the theme would mark every 会 for 会话
        config.theme["features"].remove("search.highlight")
    start, first, second, third = (
        pair[LANGUAGES.index(places.language)] for pair in (HOME, LESSONS, CHAPTERS, REFERENCE)
    )
    learned = [places.uri(path) for path in places.lessons]
    chapters = [places.uri(path) for path in places.chapters]
    known = {"index.md", *learned, *chapters}
    others: list[str | dict[str, str]] = [
        {ENGLISH[uri]: uri} if places.language == "zh" and uri in ENGLISH else uri
        for uri, path in held.items()
        if path.suffix == ".md" and uri not in known
    ]
    config.nav = [{start: "index.md"}, {first: learned}, {second: chapters}, {third: others}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds what stands outside the folder of the language: start, code, pictures, players."""
    places, held = files_of(config.theme["language"])
    for uri, path in held.items():
        if files.get_file_from_path(uri):
            continue
        if path.is_dir():
            made = File.generated(config, uri, content=folder_page(path, places.root))
        elif path.suffix == ".md" or path.suffix in PICTURES:
            made = File.generated(config, uri, abs_src_path=str(path))
        else:
            made = File.generated(config, uri, content=code_page(path, places.root))
        files.append(made)
    for uri, content in players.pages(places).items():
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    places, held = files_of(config.theme["language"])
    path = held[page.file.src_uri]
    if path not in (places.home, *places.lessons, *places.chapters):
        page.meta.setdefault("search", {"boost": 0.1})  # looked up, not learned from
    return prepare(markdown, path, places) if path.suffix == ".md" else markdown


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    return finish(html)


def on_page_context(context: dict[str, Any], page: Page, config: MkDocsConfig, nav: object) -> None:
    """The switch of the language leads to the same page; chosen colours hold in both languages."""
    config.extra["scope"] = f"{context['base_url']}/.."
    context["languages"] = [
        {
            "name": name,
            "lang": language,
            "link": f"../{language}/{page.url}",
            "is_here": language == config.theme["language"],
        }
        for name, language in zip(NAMES, LANGUAGES, strict=True)
    ]
