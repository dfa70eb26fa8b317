r"""The question about one prepared call: all of what would run, on the screen before the answer.

A person approves what these rows say, so they are exact and complete: texts are quoted such that
only this very text is shown this way, a row is broken only where `\n` stands or the screen ends,
and the size stands beside the question. What does not fit on the screen is shown part by part,
each after a key, so that no end of a command can hide below or above what was seen. When the screen
shrinks, or another program has had it, all is shown again. A screen on which not one row fits
beside the question is told, and nothing is approved there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from curriculum.core.approval import ApprovalRequest
from curriculum.core.errors import CancelledError
from curriculum.core.visible import escape, quote
from curriculum.mino.screen import NARROWEST, Screen
from curriculum.mino.signals import Signals, TerminatedError
from curriculum.mino.terminal import ChangedError, Terminal

QUESTION = "Approve this operation? [y/N]"
MORE = "More of it follows: Enter shows it, n refuses."
LABELS = {
    "command": "Command",
    "path": "File",
    "diff": "Change",
    "directory": "Directory",
    "environment": "Environment",
    "timeout_seconds": "Timeout",
    "output_limit_bytes": "Output limit",
    "limit_bytes": "At most",
    "notice": "Permissions",
}
UNITS = {"timeout_seconds": " s", "output_limit_bytes": " bytes", "limit_bytes": " bytes"}
WHAT = ("command", "path", "diff")  # of these, what would happen; the rest is how
ORDINARY = '\n\t\\"'  # quoted too, but nothing is hidden in them
TOO_SMALL = "[This terminal is too small to show what would run. It was refused.]"
LONGEST_NAME = 64  # characters of a tool's name; ours are shorter


class Asker:
    """Asks a person about a call, for the core's HumanApprover."""

    def __init__(self, screen: Screen, terminal: Terminal, signals: Signals) -> None:
        self._screen = screen
        self._terminal = terminal
        self._signals = signals
        self._shown = self._state()  # when what is on the screen was begun

    # region: ask
    def ask(self, request: ApprovalRequest) -> str | None:
        """The line typed after the question had appeared; None at the end of input, or if the
        screen is too small for it.

        Raises KeyboardInterrupt for Ctrl+C, CancelledError if the program is being ended or the
        turn's time is up.
        """
        lines = [*field_lines(request.display), size_line(request.display)]
        try:
            while True:
                try:
                    return self._ask_in_parts(tool_line(request.tool), lines)
                except ChangedError:
                    self._screen.typed()
                    self._screen.blank()
        except CancelledError:
            self._screen.typed()
            self._screen.blank()
            raise
        except TerminatedError:
            raise CancelledError("the program was ended at the question", by="harness") from None

    def _ask_in_parts(self, title: str, lines: list[str]) -> str | None:
        """Show as much as fits beside the question, again and again; the answer to the last one."""
        screen, self._shown = self._screen, self._state()
        columns, height = screen.size
        heading, rows = screen.broken(title), [row for line in lines for row in screen.broken(line)]
        most = height - max(screen.rows_of(f"{question} y") for question in (QUESTION, MORE))
        if columns <= NARROWEST or most < 1:
            screen.say(title, "bold")
            screen.say(TOO_SMALL)
            return None
        rows = heading + rows
        for start in range(0, len(rows), most):
            if start:
                answer = self._answer(MORE)
                if answer is None or answer.strip():
                    return None if answer is None else "n"
            bold = max(0, len(heading) - start)
            screen.show_rows(rows[start : start + most][:bold], "bold")
            screen.show_rows(rows[start : start + most][bold:])
        return self._answer(QUESTION)

    # endregion

    def confirm(self, question: str) -> bool:
        """Whether the answer to another question of ours is yes."""
        while True:
            self._shown = self._state()
            try:
                answer = self._answer(question)
            except ChangedError:
                self._screen.typed()
                continue
            return answer is not None and answer.strip().lower() in ("y", "yes")

    def _answer(self, question: str) -> str | None:
        self._screen.label(question, "bold")
        answer = self._terminal.read_answer(lambda: self._screen.text(" "), self._has_changed)
        if answer is None:
            self._screen.end()
        self._screen.typed()
        return answer

    def _state(self) -> tuple[int, int, int]:
        return (*self._screen.size, self._signals.continued)

    def _has_changed(self) -> bool:
        """Whether rows may have left the screen since they were shown."""
        columns, rows, continued = self._shown
        now = self._state()
        return now[0] < columns or now[1] < rows or now[2] != continued


# region: fields
def field_lines(display: Mapping[str, object]) -> list[str]:
    """What would run, a line for each field, in the order in which it was prepared."""
    return [
        f"{LABELS.get(name, one_line(name))}: {_field(name, display[name])}" for name in display
    ]


def brief(display: Mapping[str, object]) -> dict[str, object]:
    """Only what would happen."""
    return {name: display[name] for name in WHAT if name in display}


def _field(name: str, field: object) -> str:
    if isinstance(field, Mapping):
        return " ".join(f"{one_line(str(key))}={quote(_plain(one))}" for key, one in field.items())
    if name == "notice":
        return one_line(str(field))
    if isinstance(field, (int, float)) and not isinstance(field, bool):
        return f"{field}{UNITS.get(name, '')}"
    return break_lines(quote(_plain(field)))


def _plain(field: object) -> str:
    """A text as it is, anything else as JSON."""
    return field if isinstance(field, str) else json.dumps(field, ensure_ascii=False)


# endregion


def size_line(display: Mapping[str, object]) -> str:
    """How much the person should have seen."""
    text = next((display[name] for name in ("command", "diff", "path") if name in display), None)
    if not isinstance(text, str):
        return f"Size: {len(display)} fields"
    lines, size = text.count("\n") + 1, len(text.encode("utf-8", "replace"))
    unusual = sum(quote(char) != f'"{char}"' for char in text if char not in ORDINARY)
    escaped = f", {unusual} character{'s' * (unusual > 1)} shown as escapes" if unusual else ""
    return f"Size: {size} bytes in {lines} line{'s' * (lines > 1)}{escaped}"


def tool_line(name: str, label: str = "Tool") -> str:
    """`[Tool: bash]`; a name that a model has made up may be of any length."""
    shown = one_line(name[:LONGEST_NAME])
    more = f"... ({len(name)} characters)" if len(name) > LONGEST_NAME else ""
    return f"[{label}: {shown}{more}]"


def one_line(text: str) -> str:
    """Foreign text inside a line of ours: what is unusual in it is escaped."""
    return escape(text).replace("\n", "\\n").replace("\t", "\\t")


# region: break
def break_lines(quoted: str) -> str:
    r"""Quoted text, broken behind each `\n` that more text follows: the rows of a command."""

    def broken(found: re.Match[str]) -> str:
        is_last = quoted[found.end() :] in ("", '"')
        return found[0] if not found[1] or is_last else f"{found[0]}\n"

    return re.sub(r"\\\\|((?:\\n)+)", broken, quoted)


# endregion
