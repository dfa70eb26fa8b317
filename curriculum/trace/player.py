"""What the player's keys do: a position in the film, whether it runs, and how fast.

Pure: the time comes in as a number and nothing is drawn or read here, so every key can be tested
without a terminal.
"""

from __future__ import annotations

from collections.abc import Callable

from curriculum.trace.film import Film, after, before

SLOWEST, FASTEST = -3, 6  # powers of two: an eighth to 64 times
MOST_DIGITS = 9
HELP = (
    ("→ l", "next event"),
    ("← h", "back one event"),
    ("space", "play, pause"),
    ("↓ n ] j", "next turn"),
    ("↑ p [ k", "turn before"),
    ("e E", "next error, error before"),
    ("Home g, End G", "first, last event"),
    ("+ -", "faster, slower"),
    ("12 Enter", "go to line 12"),
    ("?", "this list"),
    ("q", "quit"),
)


class Player:
    """Where the viewer is. `idle_limit` bounds every pause between two events, in seconds."""

    def __init__(self, film: Film, idle_limit: float, speed: int = 0, at: int = 0) -> None:
        self.film = film
        self.position = at
        self.is_playing = False
        self.has_quit = False
        self.shows_help = False
        self.digits = ""
        self.note = ""
        self._idle_limit = idle_limit
        self._power = speed
        self._since = 0.0
        self._keys: dict[str, Callable[[], None]] = {}
        for names, act in (
            (("right", "l", "pagedown"), lambda: self._go(self.position + 1)),
            (("left", "h", "pageup"), lambda: self._go(self.position - 1)),
            (("down", "n", "]", "j"), lambda: self._jump(after(film.turns, self.position), "turn")),
            (("up", "p", "[", "k"), lambda: self._jump(before(film.turns, self.position), "turn")),
            (("e",), lambda: self._jump(after(film.troubles, self.position), "error")),
            (("E",), lambda: self._jump(before(film.troubles, self.position), "error")),
            (("home", "g"), lambda: self._go(0)),
            (("end", "G"), lambda: self._go(len(film) - 1)),
            (("+", "="), lambda: self._change_speed(1)),
            (("-",), lambda: self._change_speed(-1)),
            (("?",), self._toggle_help),
            (("q",), self._quit),
        ):
            self._keys.update(dict.fromkeys(names, act))

    @property
    def speed(self) -> str:
        """How fast, for people: `2×`, `1/4×`."""
        return f"{2**self._power}×" if self._power >= 0 else f"1/{2**-self._power}×"

    def press(self, key: str, now: float) -> None:
        """A key: a character, or a name such as `left`. `now` is in seconds, of any clock."""
        self.note = ""
        if key.isdecimal() and len(key) == 1 and key.isascii():
            self.digits = (self.digits + key)[:MOST_DIGITS]
            return
        digits, self.digits = self.digits, ""
        if key == "enter":
            self._go(int(digits) - 1 if digits else self.position + 1)
        elif key == "space":
            self._toggle_play(now)
        elif key in self._keys:
            self._keys[key]()
        else:
            return
        self._since = now

    def wait(self, now: float) -> float | None:
        """Seconds until the next event is due; None while nothing is due."""
        if not self.is_playing:
            return None
        return max(0.0, self._since + self._pause() - now)

    def tick(self, now: float) -> bool:
        """Move on if the next event is due; whether it was."""
        wait = self.wait(now)
        if wait is None or wait > 0:
            return False
        self._since = now
        self.position += 1
        if self.position == len(self.film) - 1:
            self.is_playing = False
        return True

    def _pause(self) -> float:
        here = self.film.elapsed_us(self.position)
        there = self.film.elapsed_us(self.position + 1)
        return min(max(0, there - here) / 1e6 / 2.0**self._power, self._idle_limit)

    def _toggle_play(self, now: float) -> None:
        at_end = self.position == len(self.film) - 1
        if at_end and len(self.film) > 1:
            self.position = 0
        self.is_playing = not self.is_playing and len(self.film) > 1
        self._since = now

    def _go(self, index: int) -> None:
        self.position = min(max(0, index), len(self.film) - 1)
        self.is_playing = False

    def _jump(self, index: int | None, what: str) -> None:
        if index is None:
            self.note = f"no further {what} that way"
        else:
            self._go(index)

    def _change_speed(self, step: int) -> None:
        self._power = min(max(self._power + step, SLOWEST), FASTEST)

    def _toggle_help(self) -> None:
        self.shows_help = not self.shows_help

    def _quit(self) -> None:
        self.has_quit = True
