"""What is written to the screen: mino's own lines, and foreign text that cannot pass for them.

Only mino writes at the left edge. Every row of foreign text after its label begins with a gutter,
also where a long line is broken, so no text of a model, a tool or a file can look like a line of
ours. Foreign text is escaped by core/visible, character by character, so pieces may be cut
anywhere. A screen that is gone loses the text and says so once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.cells import get_character_cell_size

from curriculum.core.visible import escape

if TYPE_CHECKING:
    from rich.console import Console

GUTTER = "| "
TAB = 8
NARROWEST = 12  # columns; below that rows are broken as if there were so many
WIDENS = "\ufe0f"  # makes the character before it an emoji, two columns wide on some terminals


class Screen:
    """Rows on a terminal. `lost` is called once, when it can no longer be written to."""

    def __init__(self, console: Console, lost: Callable[[], object] = lambda: None) -> None:
        self._console = console
        self._lost = lost
        self._column = 0
        self._is_gone = False

    # region: own
    def say(self, text: str, style: str = "") -> None:
        """A line of mino's own. What it quotes of others is escaped; a long one is broken."""
        self.label(text, style)
        self.end()

    def label(self, text: str, style: str = "") -> None:
        """The beginning of a line of mino's own, at the left edge."""
        self.end()
        self._put(escape(text), style, own=True)

    def broken(self, text: str) -> list[str]:
        """The rows that a line of mino's own takes on this screen."""
        return self._layout(escape(text), 0, own=True)[0].split("\n")

    def show_rows(self, rows: list[str]) -> None:
        """Rows from `broken`."""
        self.end()
        self._write("".join(f"{row}\n" for row in rows))

    # endregion

    def blank(self) -> None:
        """An empty row."""
        self.end()
        self._write("\n")

    # region: foreign
    def text(self, piece: str) -> None:
        """Foreign text, behind what is on the row or behind a gutter."""
        self._put(escape(piece))

    # endregion

    def end(self) -> None:
        """The end of a row that holds something."""
        if self._column:
            self._write("\n")
            self._column = 0

    def typed(self) -> None:
        """A person has ended the row with Enter."""
        self._column = 0

    @property
    def height(self) -> int:
        """Rows on the screen."""
        return max(4, self._console.size.height)

    @property
    def width(self) -> int:
        """Columns that are used: never the last one, where terminals differ."""
        return max(NARROWEST, self._console.size.width - 1)

    def _put(self, text: str, style: str = "", own: bool = False) -> None:
        out, self._column = self._layout(text, self._column, own)
        self._write(out, style)

    # region: layout
    def _layout(self, text: str, column: int, own: bool) -> tuple[str, int]:
        """(the text broken into rows behind gutters, the column it ends in)."""
        width, out = self.width, []
        for char in text:
            if char == "\n":
                if not column:
                    out.append(GUTTER.rstrip())
                out.append("\n")
                column = 0
                continue
            size = TAB - column % TAB if char == "\t" else cell_size(char)
            if column and column + size > width:
                out.append("\n")
                column = 0
            if not column and not own:
                out.append(GUTTER)
                column = len(GUTTER)
            own = False
            out.append(" " * size if char == "\t" else char)
            column += size
        return "".join(out), column

    # endregion

    def _write(self, text: str, style: str = "") -> None:
        if self._is_gone or not text:
            return
        try:
            if style:
                self._console.print(text, style=style, end="", soft_wrap=True)
            else:
                self._console.file.write(text)
            self._console.file.flush()
        except (OSError, ValueError):
            self._is_gone = True
            self._lost()


def cell_size(char: str) -> int:
    """Columns that a character takes; a character that may take one more counts as more."""
    if char == WIDENS:
        return 1
    return 1 if char.isascii() else get_character_cell_size(char)


def make_console(stderr: bool = False) -> Console:
    """A console that knows NO_COLOR, dumb terminals and pipes."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, emoji=False, markup=False)
