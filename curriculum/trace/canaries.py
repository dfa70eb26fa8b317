"""Planted secrets that must be nowhere: R05.

They are looked for in everything that is read, also in lines that cannot be parsed: in the bytes as
they are and, where a line holds a backslash, in what its escapes say. One that is cut in two by the
pieces of an answer or of an output is in no line; it is looked for across their seams. No finding
shows a secret.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from curriculum.core.trace import to_json
from curriculum.trace.escapes import levels
from curriculum.trace.now import Now

# What is kept of a line that goes on in the next block: a secret in it may be escaped many times.
MOST_KEPT = 1 << 15
# A character of a secret in a piece of text, escaped twice over.
LONGEST_CHAR = len(r"\\ud83d\\ude00")
MOST_STREAMS = 1000


class Canaries:
    """The secrets, of which there are some, looked for in the bytes as they are read."""

    def __init__(self, secrets: Iterable[str], now: Now) -> None:
        self._now = now
        self._secrets = tuple(secrets)
        self._forms = [_forms(secret) for secret in self._secrets]
        self._plain = [{secret, _in_pointer(secret)} for secret in self._secrets]
        self._overlap = max(len(form) for forms in self._forms for form in forms) - 1
        self._before = b""
        self._line = 1
        self._found: set[tuple[int, int]] = set()
        self.longest = max(map(len, self._secrets))

    def seen(self, block: bytes) -> None:
        """Look through the next bytes of the file, and across the seam to those before."""
        window = self._before + block
        found = {
            (self._line + window.count(b"\n", 0, at), number)
            for number, forms in enumerate(self._forms, 1)
            for form in forms
            for at in _places(window, form)
        }
        if b"\\" in window:
            for line, text in enumerate(window.split(b"\n"), self._line):
                if b"\\" in text:
                    numbers = self.find(text.decode(errors="replace"))
                    found |= {(line, number) for number in numbers}
        for line, number in sorted(found - self._found):
            said = f"planted secret {number} stands in this line"
            self._now.error("R05", "", said, line)
        # The line that goes on is kept, so that no escape is cut; of a long one only the end.
        begun = max(window.rfind(b"\n") + 1, len(window) - MOST_KEPT)
        start = max(min(begun, len(window) - self._overlap), 0)
        self._line += window.count(b"\n", 0, start)
        self._before = window[start:]
        self._found = {place for place in found | self._found if place[0] >= self._line}

    def find(self, text: str) -> set[int]:
        """The numbers of the secrets in a text, or in what its escapes say."""
        numbers: set[int] = set()
        for level in levels(text):
            for number, forms in enumerate(self._plain, 1):
                if any(form in level for form in forms):
                    numbers.add(number)
        return numbers

    def mask(self, text: str) -> str:
        """A message without the secrets, whatever form they have in it."""
        for number, forms in enumerate(self._forms, 1):
            for form in forms:
                text = text.replace(form.decode(), f"[REDACTED:canary:{number}]")
        left = self.find(text)  # spelled in some other way: then nothing of it is shown
        return f"[REDACTED:canary:{min(left)}]" if left else text


@dataclass
class _Stream:
    """Pieces of one text: how they end so far, and in which line which secret became whole."""

    end: str = ""
    found: dict[int, int] = field(default_factory=dict)


class Seams:
    """R05 for secrets that only joined pieces show: deltas of an answer, outputs of a call.

    Told once where the pieces end, and not at all where the whole text shows the secret too.
    """

    def __init__(self, canaries: Canaries, now: Now) -> None:
        self._find, self._now = canaries.find, now
        self._kept = LONGEST_CHAR * canaries.longest
        self._streams: dict[tuple[str, ...], _Stream] = {}

    def event(self, event: dict[str, Any]) -> None:
        """An event of right shape, of any type."""
        kind, payload = event["type"], event["payload"]
        if kind == "model.delta":
            self._piece(("delta", payload["request_id"]), payload["text"])
        elif kind == "tool.output":
            key = ("output", payload["call_id"], payload["stream"])
            self._piece(key, payload["text"])
        elif kind == "model.response":
            self._end(("delta", payload["request_id"]), payload["content"])
        elif kind == "tool.result":
            self._end(("output", payload["call_id"]), payload["output"])

    def finish(self) -> None:
        """Tell what was found in texts that never ended."""
        for key in list(self._streams):
            self._tell(self._streams.pop(key))

    def _piece(self, key: tuple[str, ...], text: str) -> None:
        stream = self._streams.get(key)
        if stream is None:
            if len(self._streams) >= MOST_STREAMS:
                self._tell(self._streams.pop(next(iter(self._streams))))
            stream = self._streams[key] = _Stream()
        # What stands in one piece alone is told by its line.
        across = self._find(stream.end + text) - self._find(stream.end) - self._find(text)
        for number in across:
            stream.found.setdefault(number, self._now.line)
        stream.end = (stream.end + text)[-self._kept :]

    def _end(self, key: tuple[str, ...], whole: str) -> None:
        for each in [each for each in self._streams if each[: len(key)] == key]:
            stream = self._streams.pop(each)
            for number in self._find(whole) & stream.found.keys():
                del stream.found[number]
            if key[0] == "output":
                self._tell(stream)
            elif stream.found:
                said = f"planted secret {min(stream.found)} stands across the deltas"
                self._now.error("R05", "/payload/chunks", f"{said} of this response")

    def _tell(self, stream: _Stream) -> None:
        for number, line in sorted(stream.found.items()):
            said = f"planted secret {number} stands across this piece and those before"
            self._now.error("R05", "/payload/text", said, line)


def _forms(secret: str) -> list[bytes]:
    """A text as bytes, plain, as traces and messages write it, and in a pointer; longest first."""
    forms = {secret, to_json(secret)[1:-1], json.dumps(secret)[1:-1], _in_pointer(secret)}
    return sorted((form.encode() for form in forms), key=len, reverse=True)


def _in_pointer(secret: str) -> str:
    return secret.replace("~", "~0").replace("/", "~1")


def _places(window: bytes, form: bytes) -> list[int]:
    places, at = [], window.find(form)
    while at >= 0:
        places.append(at)
        at = window.find(form, at + 1)
    return places
