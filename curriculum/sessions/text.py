"""Text from a session as a person may see it: on one line, and nothing in it is a command.

The escapes are the core's, so a session looks alike wherever it is shown.
"""

from __future__ import annotations

from curriculum.core.visible import escape


def shown(text: str) -> str:
    """`text` on one line: line ends, controls and whatever cannot be seen are escaped."""
    return escape(text).replace("\n", "\\n").replace("\t", "\\t")


def first_words(text: str, width: int) -> str:
    """The beginning of `text` on one line of at most `width` characters."""
    line = shown(" ".join(text[: width * 4].split()))
    return line if len(line) <= width and len(text) <= width * 4 else line[: width - 1] + "…"
