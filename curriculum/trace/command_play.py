"""`python -m curriculum.trace play FILE`: a run again, event by event, on the terminal."""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from typing import TYPE_CHECKING, TypeVar

from curriculum.trace.describe import describe
from curriculum.trace.events import open_events
from curriculum.trace.inputs import EXIT_CODES, USAGE, RefusedError, get_engine
from curriculum.trace.machine import state_after

if TYPE_CHECKING:
    from curriculum.trace.player import Player
    from curriculum.trace.stage import Stage

SPEEDS = {
    "1/8": -3,
    "1/4": -2,
    "1/2": -1,
    "1": 0,
    "2": 1,
    "4": 2,
    "8": 3,
    "16": 4,
    "32": 5,
    "64": 6,
}

Parser = TypeVar("Parser", bound=argparse.ArgumentParser)


def add_parser(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add the `play` subcommand."""
    parser = commands.add_parser(
        "play",
        help="watch a run again on the terminal, event by event",
        description="Play a trace: messages on the left, events on the right, the state below; ? "
        "lists the keys. Where the output is no terminal: one line an event.",
        epilog="Exit code: 0 played; " + EXIT_CODES,
    )
    parser.add_argument("file", metavar="FILE", help="a trace; - is standard input")
    parser.add_argument("--plain", action="store_true", help="one line an event, no player")
    parser.add_argument("--speed", choices=tuple(SPEEDS), default="1", help="default: %(default)s")
    parser.add_argument(
        "--idle-limit",
        type=_seconds,
        default=1.0,
        metavar="SECONDS",
        help="no pause between two events is longer (default: %(default)s)",
    )
    parser.add_argument("--at", type=_line, default=1, metavar="LINE", help="begin at this line")
    parser.add_argument("--start", action="store_true", help="play at once")
    parser.set_defaults(run=run)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!a} is no number of seconds")
    return seconds


def _line(text: str) -> int:
    if not (text.isdecimal() and len(text) < 10 and int(text)):
        raise argparse.ArgumentTypeError(f"{text!a} is not a line, counted from 1")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Play; returns the exit code. Raises RefusedError."""
    is_screen = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    if arguments.plain or not is_screen:
        return _print_lines(arguments.file, arguments.at)
    from curriculum.trace.film import open_film
    from curriculum.trace.player import Player
    from curriculum.trace.stage import Stage

    with open_film(arguments.file, get_engine()) as film:
        if arguments.at > len(film):
            raise RefusedError(f"{film.said}: it has {len(film)} lines, not {arguments.at}", USAGE)
        player = Player(film, arguments.idle_limit, SPEEDS[arguments.speed], arguments.at - 1)
        if arguments.start:
            player.press("space", time.monotonic())
        _play(player, Stage("NO_COLOR" not in os.environ))
    return 0


def _play(player: Player, stage: Stage) -> None:
    from curriculum.trace.terminal import open_terminal

    with open_terminal() as terminal:
        while not player.has_quit:
            terminal.show(stage.draw(player, *terminal.size))
            is_same = True
            while is_same and not player.has_quit:
                try:
                    key = terminal.read_key(player.wait(time.monotonic()))
                except EOFError:
                    return
                if key is not None:
                    player.press(key, time.monotonic())
                has_moved = player.tick(time.monotonic()) or key is not None
                is_same = not (terminal.take_change() or has_moved)


def _print_lines(name: str, at: int) -> int:
    state, turn = "idle", 0
    with open_events(name, get_engine()) as events:
        for event in events:
            state = state_after(state, event)
            turn += event["type"] == "user.message"
            if events.line >= at:
                seconds = event["elapsed_us"] / 1e6
                actor = event["actor"]["kind"]
                where = f"{events.line:>5} {seconds:>10.6f} turn {turn} {state:<9} {actor:<7}"
                print(f"{where} {describe(event)}")
        if events.torn_bytes:
            print(f"{events.line + 1:>5} torn: {events.torn_bytes} bytes without LF")
    return 0
