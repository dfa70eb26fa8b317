"""What is written to the screen: mino's own lines, and foreign text that cannot pass for them.

Only mino writes at the left edge. Every row of foreign text after its label begins with a gutter,
also where a long line is broken, so no text of a model, a tool or a file can look like a line of
ours. Foreign text is escaped by core/visible, character by character, so pieces may be cut
anywhere. A screen that is gone loses the text and says so once; so does one that is stopped when
the program is to end.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

from curriculum.core.visible import escape
from curriculum.mino.rows import Rows
from curriculum.mino.signals import Signals
from curriculum.mino.streams import abandon

if TYPE_CHECKING:
    from rich.console import Console

NARROWEST = 4  # columns; below that rows are broken as if there were so many
UNKNOWN = (80, 24)  # of a terminal that does not say
ENDLESS = 1_000_000  # columns of a file or pipe, where rows are not broken


class Screen:
    """Rows on a terminal. `lost` is called once, when it can no longer be written to.

    `signals` tell when the program is to end, and when somebody else has written to the terminal.
    """

    def __init__(
        self,
        console: Console,
        lost: Callable[[], object] = lambda: None,
        signals: Signals | None = None,
    ) -> None:
        self._console = console
        self._lost = lost
        self._signals = signals
        self._continued = 0
        self._rows = Rows()
        self._is_blank = False  # the last row is an empty one
        self._is_gone = False

    # region: own
    def say(self, text: str, style: str = "") -> None:
        """A line of mino's own. What it quotes of others is escaped; a long one is broken."""
        self.end()
        self._put(text, style, own=True, words=True)
        self.end()

    def label(self, text: str, style: str = "") -> None:
        """The beginning of a line of mino's own, at the left edge."""
        self.end()
        self._put(text, style, own=True, words=True)

    def rows_of(self, text: str) -> int:
        """How many rows a `label` takes."""
        return Rows().layout(escape(text), self.width, own=True, words=True).count("\n") + 1

    def broken(self, text: str) -> list[str]:
        """The rows of a line of mino's own that shows every character: broken only at the edge."""
        return Rows().layout(escape(text), self.width, own=True, exact=True).split("\n")

    def show_rows(self, rows: list[str], style: str = "") -> None:
        """Rows from `broken`."""
        self.end()
        self._write("".join(f"{row}\n" for row in rows), style)

    # endregion

    def blank(self) -> None:
        """An empty row, unless there is one."""
        self.end()
        if not self._is_blank:
            self._write("\n")
            self._is_blank = True

    # region: foreign
    def text(self, piece: str, words: bool = False) -> None:
        """Foreign text, behind what is on the row or behind a gutter; `words`: broken at blanks."""
        self._put(piece, words=words)

    # endregion

    def end(self) -> None:
        """The end of a row that holds something."""
        if self._rows.column:
            self._write("\n")
            self._rows.begin()

    def typed(self) -> None:
        """A person has ended the row with Enter."""
        self._rows.begin()
        self._is_blank = False

    @property
    def width(self) -> int:
        """Columns that are used: never the last one, where terminals differ."""
        if not self._console.file.isatty():
            return ENDLESS
        return max(NARROWEST, self.size[0] - 1)

    @property
    def size(self) -> tuple[int, int]:
        """(columns, rows) that the terminal itself says it has, whatever the environment says."""
        try:
            columns, rows = os.get_terminal_size(self._console.file.fileno())
        except (OSError, ValueError):  # it is gone, or none at all
            columns, rows = 0, 0
        return columns or UNKNOWN[0], rows or UNKNOWN[1]

    def _put(self, text: str, style: str = "", own: bool = False, words: bool = False) -> None:
        if self._signals and self._signals.continued != self._continued:
            self._continued = self._signals.continued
            self._rows.begin()  # the shell has begun a row, at whose edge nothing foreign may stand
        self._write(self._rows.layout(escape(text), self.width, own, words), style)

    def _write(self, text: str, style: str = "") -> None:
        if self._is_gone or not text:
            return
        self._is_blank = False
        try:
            with self._signals.writing() if self._signals else nullcontext():
                if style:
                    self._console.print(text, style=style, end="", soft_wrap=True)
                else:
                    self._console.file.write(text)
                self._console.file.flush()
        except (OSError, ValueError):
            self._is_gone = True
            abandon(self._console.file)
            self._lost()


def make_console(stderr: bool = False) -> Console:
    """A console that knows NO_COLOR, dumb terminals and pipes."""
    from rich.console import Console

    # COLUMNS=0 makes rich print nothing of a styled text; rows are laid out here in any case.
    columns = os.environ.get("COLUMNS", "")
    width = UNKNOWN[0] if columns and not columns.strip("0") else None
    return Console(stderr=stderr, highlight=False, emoji=False, markup=False, width=width)
