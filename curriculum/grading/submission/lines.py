"""The lines from the judge to its parent, each signed with the word of this very run.

The word itself is in no object that Python code can read: a keyed hash in C can sign with it, and
cannot be asked for it or be patched. A line counts once, for its place and for its test.
"""

from __future__ import annotations

import itertools
import os
from _blake2 import blake2b
from collections.abc import Callable

SAID = 20_000  # characters of what there is to tell


class Teller:
    """Writes signed lines to a pipe."""

    def __init__(self, fd: int, word: bytes) -> None:
        self._fd, self._signer, self._counter = fd, blake2b(key=word, digest_size=16), counter()

    def __call__(
        self, test: str, outcome: str, said: str = "", write: Callable[[int, bytes], int] = os.write
    ) -> None:
        data = signed(self._signer, next(self._counter), test, outcome, said[:SAID])
        while data:  # by a function that nobody has put in between
            data = data[write(self._fd, data) :]


def counter() -> itertools.count[int]:
    """The places of lines."""
    return itertools.count()


def signed(signer: blake2b, place: int, *parts: str) -> bytes:
    """A whole line; made with what is written in C, so that no patch comes between."""
    texts = [f"{place}", *parts]
    data = " ".join([text.encode("utf-8", "backslashreplace").hex() or "-" for text in texts])
    mac = signer.copy()
    mac.update(data.encode())
    return f"{mac.hexdigest()} {data}\n".encode()


def understood(signer: blake2b, line: bytes) -> tuple[int, str, str, str] | None:
    """(place, test, outcome, said), or None for a line that is not signed; place -1 for a line
    that is, and yet is none of the judge's."""
    mac = signer.copy()
    given, _, data = line.partition(b" ")
    mac.update(data)
    if mac.hexdigest().encode() != given:
        return None
    try:
        texts = [bytes.fromhex(part.decode().strip("-")).decode() for part in data.split(b" ")]
        place, test, outcome, said = texts
        return int(place), test, outcome, said
    except ValueError:
        return -1, "", "", ""
