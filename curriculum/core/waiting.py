"""Waiting, as a part to plug in: for real, or in a time that passes only when it is told to.

Whoever waits for long does it through a `Waiter`, which looks at the cancel token all the while.
Nothing sleeps anywhere else, so a test or a demo of an hour takes no time at all.
"""

from __future__ import annotations

import time

from curriculum.core.seams import CancelToken
from curriculum.core.values import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from curriculum.core.trace import Clock

SLICE_US = 50_000  # how long a cancelled wait may still take


# region: waiter
class Waiter(Protocol):
    """How time is let pass."""

    def wait(self, wait_us: int, cancel: CancelToken) -> None:
        """Return after `wait_us` microseconds, or soon after the token was raised."""


# endregion


class SystemWaiter:
    """Sleeps, in short slices: a signal handler can raise a token, but not end a sleep."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def wait(self, wait_us: int, cancel: CancelToken) -> None:
        end = self._clock.read()[1] + wait_us
        while not cancel.cancelled and (left := end - self._clock.read()[1]) > 0:
            time.sleep(min(left, SLICE_US) / 1_000_000)


# region: virtual
class VirtualTime:
    """A clock and a waiter whose time passes only by `pass_us` and by waiting.

    It starts where golden traces start. Reading it changes nothing; see `EachEvent`.
    """

    def __init__(self, start_us: int = 1_767_225_600_000_000) -> None:
        self._now_us = start_us

    def read(self) -> tuple[int, int]:
        return self._now_us, self._now_us

    def pass_us(self, passed_us: int) -> None:
        """Let so many microseconds pass."""
        self._now_us += passed_us

    def wait(self, wait_us: int, cancel: CancelToken) -> None:
        """Wait in the slices of a real waiter, so that a deadline ends it as early as there.

        A plain token has no time of its own: then there is nothing to look for on the way.
        """
        end = self._now_us + wait_us
        slice_us = wait_us if type(cancel) is CancelToken else SLICE_US
        while not cancel.cancelled and self._now_us < end:
            self.pass_us(min(end - self._now_us, slice_us))


class EachEvent:
    """The recorder's clock over a VirtualTime: each event after the first takes 1,000 µs."""

    def __init__(self, time: VirtualTime, step_us: int = 1000) -> None:
        self._time, self._step_us = time, step_us
        self._started = False

    def read(self) -> tuple[int, int]:
        self._time.pass_us(self._step_us if self._started else 0)
        self._started = True
        return self._time.read()


# endregion
