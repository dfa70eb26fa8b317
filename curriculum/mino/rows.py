"""Text broken into rows behind a gutter, as it comes.

Where words are kept whole, a word that turns out too long for its row is taken back and begun
again on the next one, so a streamed piece need never wait for the rest of its word. A row is full
one column early, where terminals differ.
"""

from __future__ import annotations

from rich.cells import get_character_cell_size

GUTTER = "| "
TAB = 8
WIDENS = "\ufe0f"  # makes the character before it an emoji, two columns wide on some terminals


class Rows:
    """Where the last row ends: its column, and the word that it ends with."""

    def __init__(self) -> None:
        self.column = 0
        self._word: list[tuple[str, int]] = []  # its characters, each with its columns
        self._fresh = 0  # how many of them have not left `layout` yet
        self._has_blank = False  # before the word, on the same row

    def begin(self) -> None:
        """A new row begins at the left edge."""
        self.column, self._word, self._fresh, self._has_blank = 0, [], 0, False

    # region: layout
    def layout(
        self, text: str, width: int, own: bool = False, words: bool = False, exact: bool = False
    ) -> str:
        """What to write so that `text` goes on where the last row ends.

        `own`: at the left edge the first row needs no gutter. `words`: keep words whole. `exact`:
        where a row ends does not depend on what follows, or a blank there could not be told from
        the column that is left free before a wide character.
        """
        out: list[str] = []
        self._fresh = 0
        for char in text:
            if char == "\n":
                out.append("\n" if self.column else f"{GUTTER.rstrip()}\n")
                self.begin()
                continue
            size = TAB - self.column % TAB if char == "\t" else cell_size(char)
            hangs = words and char == " "  # a blank may stand in the column that is kept free
            if self.column and self.column + (2 if exact else size) > width + hangs:
                self._break(out, size, width, words)
            if not self.column and not own:
                out.append(GUTTER)
                self.column = len(GUTTER)
            own = False
            out.append(" " * size if char == "\t" else char)
            self.column += size
            self._note(char, size)
        return "".join(out)

    # endregion

    def _note(self, char: str, size: int) -> None:
        """Remember the word that the row ends with; scripts with wide characters break anywhere."""
        if char in " \t" or size == 2:
            self._word, self._fresh, self._has_blank = [], 0, True
        elif char == WIDENS:  # nobody knows how much would have to be taken back
            self._word, self._fresh, self._has_blank = [], 0, False
        else:
            self._word.append((char, size))
            self._fresh += 1

    # region: break
    def _break(self, out: list[str], size: int, width: int, words: bool) -> None:
        """End the row: before its last word, if that is kept whole and fits on the next one."""
        word, cells = self._word, sum(cells for _, cells in self._word)
        if not (words and self._has_blank and len(GUTTER) + cells + size <= width):
            out.append("\n")
            self.begin()
            return
        if self._fresh:
            del out[-self._fresh :]
        written = sum(cells for _, cells in word[: len(word) - self._fresh])
        out += ["\b" * written, " " * written, "\b" * written, "\n", GUTTER]
        out += [char for char, _ in word]
        self.column, self._fresh, self._has_blank = len(GUTTER) + cells, len(word), False

    # endregion


def cell_size(char: str) -> int:
    """Columns that a character takes; a character that may take one more counts as more."""
    if char == WIDENS:
        return 1
    return 1 if char.isascii() else get_character_cell_size(char)
