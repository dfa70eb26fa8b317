"""Which pages there are, and which two are one page in two languages."""

from __future__ import annotations

from pathlib import Path

from tests.golden import ROOT

# The sections of a lesson, in order, in both languages.
SECTIONS = (
    ("What you will build", "你将构建什么"),
    ("Prerequisites", "预备知识"),
    ("The problem", "问题"),
    ("Mental model", "心智模型"),
    ("Invariants", "不变量"),
    ("Step by step", "逐步实现"),
    ("Run it and observe it", "运行并观察"),
    ("What to notice", "值得注意的地方"),
    ("Common mistakes", "常见错误"),
    ("Exercises", "练习"),
    ("Deep dive", "深入"),
    ("Checkpoint", "自测"),
    ("What comes next", "下一课"),
)

# Pages beside the lessons, in both languages.
CHAPTERS = ("reading_a_trace", "experiments", "source_map")


def all_pages(root: Path = ROOT) -> list[Path]:
    """Every page that is checked."""
    places = ("*.md", "lessons/**/*.md", "traces/*.md", "schemas/**/*.md")
    return sorted(path for place in places for path in root.glob(place))


def lessons(language: str, root: Path = ROOT) -> list[Path]:
    """The lessons in `en` or `zh`, in order."""
    return sorted(root.glob(f"lessons/{language}/s[0-9][0-9]_*.md"))


def pairs(root: Path = ROOT) -> list[tuple[Path, Path]]:
    """(English, Chinese) of every page that has two languages."""
    chapters = [root / "lessons" / "en" / f"{name}.md" for name in CHAPTERS]
    english = [root / "README.md", *lessons("en", root), *chapters]
    return [(path, other_language(path)) for path in english]


def other_language(path: Path) -> Path:
    """Where the Chinese of an English page is."""
    if path.parent.name == "en":
        return path.parent.parent / "zh" / path.name
    return path.with_suffix(".zh.md")
