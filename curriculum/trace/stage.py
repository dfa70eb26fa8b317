"""One picture of the player: messages on the left, events on the right, the machine below.

What the model sees and what observers see stand side by side, because they are two things. All
text of the trace is escaped before it becomes part of a picture.
"""

from __future__ import annotations

import io
import json

from curriculum.core.visible import escape
from curriculum.trace.describe import describe
from curriculum.trace.inputs import UNAVAILABLE, RefusedError
from curriculum.trace.machine import STATES, message_of
from curriculum.trace.player import HELP, Player

try:
    from rich.console import Console, Group, RenderableType
    from rich.layout import Layout
    from rich.panel import Panel
    from rich.text import Text
except ImportError:
    raise RefusedError(
        "rich is not installed; --plain needs no package, or run `make locked` in a checkout, "
        "then the same command with .venv/bin/python (or pip install '.[trace]' there)",
        UNAVAILABLE,
    ) from None

ONE_ROW = 84  # columns in which all states stand in one row
SMALLEST = 48, 12  # columns and rows below which there is no room for a picture
DETAIL_ROWS = 12
MOST_CHARACTERS = 4_000  # of one message or payload; more does not fit on any screen
ROLE_STYLES = {"user": "bold cyan", "assistant": "bold green", "tool": "bold magenta"}
STATE_STYLES = {"failed": "bold white on red", "stopped": "bold black on white"}


class Stage:
    """Draws a player in so many columns and rows."""

    def __init__(self, has_colour: bool = True) -> None:
        self._has_colour = has_colour

    def draw(self, player: Player, columns: int, rows: int) -> list[str]:
        """The picture as `rows` lines, with colours as ANSI sequences and no cursor movement."""
        if columns < SMALLEST[0] or rows < SMALLEST[1]:
            return ["the terminal is too small"[:columns], *[""] * (rows - 1)]
        sink = io.StringIO()
        console = Console(
            file=sink,
            width=columns,
            height=rows,
            force_terminal=True,
            color_system="standard" if self._has_colour else None,
            highlight=False,
        )
        layout = Layout()
        machine = 3 if columns >= ONE_ROW else 4
        below = Layout(name="machine", size=machine), Layout(name="keys", size=1)
        layout.split_column(Layout(name="top"), *below)
        layout["top"].split_row(Layout(name="left"), Layout(name="right"))
        inside = columns // 2 - 4, rows - machine - 3
        layout["left"].update(self._messages(console, player, *inside))
        right = columns - columns // 2 - 4, rows - machine - 1
        self._fill_right(layout["right"], player, *right)
        layout["machine"].update(self._machine(player, columns))
        layout["keys"].update(self._status(player))
        console.print(layout)
        return sink.getvalue().split("\n")[:rows]

    def _messages(self, console: Console, player: Player, width: int, height: int) -> Panel:
        """The last messages that fit, the newest at the bottom."""
        film = player.film
        indexes = film.messages_until(player.position)
        lines: list[Text] = []
        for index in reversed(indexes):
            message = message_of(film.event(index))
            if message is None or len(lines) >= height:
                break
            role, text = message
            shown = escape(text[:MOST_CHARACTERS]).expandtabs(4)
            body = Text(shown + ("…" if len(text) > MOST_CHARACTERS else ""))
            head = Text(role, style=ROLE_STYLES[role])
            lines = [head, *body.wrap(console, width), *lines]
        title = f"messages ({len(indexes)}): what the model sees"
        return Panel(Group(*lines[-height:]), title=title, title_align="left")

    def _fill_right(self, right: Layout, player: Player, width: int, height: int) -> None:
        if player.shows_help:
            right.update(self._help())
            return
        detail = min(DETAIL_ROWS, height // 2)
        right.split_column(Layout(name="events"), Layout(name="detail", size=detail))
        right["events"].update(self._events(player, width, height - detail - 2))
        right["detail"].update(self._detail(player))

    def _events(self, player: Player, width: int, height: int) -> Panel:
        film, here = player.film, player.position
        first = max(0, min(here - height // 2, len(film) - height))
        rows: list[RenderableType] = []
        for index in range(first, min(first + height, len(film))):
            event = film.event(index)
            seconds = film.elapsed_us(index) / 1e6
            mark = "▶" if index == here else " "
            label = f"{mark}{index + 1:>4} {seconds:>9.3f} {describe(event, width)}"
            style = "red" if film.is_trouble(index) else ("dim" if index > here else "")
            row = Text(label, style="reverse" if index == here else style, no_wrap=True)
            row.truncate(width, overflow="ellipsis")
            rows.append(row)
        title = f"events ({len(film)}): what observers see"
        return Panel(Group(*rows), title=title, title_align="left")

    def _detail(self, player: Player) -> Panel:
        event = player.film.event(player.position)
        shown = json.dumps(event["payload"], indent=1, ensure_ascii=False)[:MOST_CHARACTERS]
        actor = f"{event['actor']['kind']} {escape(event['actor']['id'])}"
        because = f"because of {event['parent_id']}" if event["parent_id"] else "the first"
        head = Text(f"{event['event_id']} by {actor}, {because}", style="bold", no_wrap=True)
        body = Text(escape(shown).replace("\t", " "))
        return Panel(Group(head, body), title=Text(escape(event["type"])), title_align="left")

    def _help(self) -> Panel:
        rows = [Text.assemble((f"{keys:<14}", "bold"), what) for keys, what in HELP]
        return Panel(Group(*rows), title="keys", title_align="left")

    def _machine(self, player: Player, columns: int) -> Panel:
        """Every state, the current one lit: in brackets too, for those who see no colour."""
        current = player.film.state(player.position)
        chips = Text(justify="center")
        gap = " → " if columns >= 110 else " "
        for place, state in enumerate(STATES):
            if place:
                chips.append(gap if place < 6 else "  ", style="dim")
            if state == current:
                chips.append(f"[{state}]", style=STATE_STYLES.get(state, "bold black on green"))
            else:
                chips.append(state, style="dim")
        return Panel(chips)

    def _status(self, player: Player) -> Text:
        film, here = player.film, player.position
        seconds = film.elapsed_us(here) / 1e6
        playing = "▶ playing" if player.is_playing else "❚❚ paused"
        turns = f"turn {film.turn(here)}/{len(film.turns)}"
        said = player.note or (f"line {player.digits}_" if player.digits else "? for keys")
        parts = [f"event {here + 1}/{len(film)}", turns, f"{seconds:.3f} s"]
        return Text("  ".join([*parts, f"{playing} {player.speed}", said]), no_wrap=True)
