"""What the redaction marks claim, and planted secrets that must be nowhere: R01, R02, R05.

R05 is a matter of bytes: secrets are looked for in everything that is read, also in lines that
cannot be parsed, in the form they have in a text and in the forms that JSON may give them.
One that is cut in two by the deltas is in no line's bytes; the model's rules look for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from curriculum.core.trace import to_json
from curriculum.trace.findings import quote
from curriculum.trace.now import MASK, Now

_MASK = re.compile(r"\[REDACTED:[A-Za-z0-9_-]+:[0-9]+\]")
_INDEX = re.compile("0|[1-9][0-9]*")


def check_marks(now: Now, event: dict[str, Any], line: bytes) -> None:
    """R01 and R02 for an event whose status is anything but unchecked."""
    redaction = event["redaction"]
    if redaction["status"] == "clean" and MASK.encode() in line:
        now.error("R02", "/redaction/status", "the event is marked clean, yet it holds a mask")
    for index, pointer in enumerate(redaction.get("items", ())):
        target = _resolve(event, pointer)
        if not isinstance(target, str) or not _MASK.search(target):
            found = "nothing" if target is None else "no text with a mask"
            said = f"{quote(pointer)} leads to {found}"
            now.error("R01", f"/redaction/items/{index}", said)


def _resolve(node: object, pointer: str) -> object:
    """What an RFC 6901 pointer leads to, or None."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and key in node:
            node = node[key]
        elif isinstance(node, list) and _INDEX.fullmatch(key) and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node


class Canaries:
    """Planted secrets, looked for in the bytes as they are read."""

    def __init__(self, secrets: Iterable[str], now: Now) -> None:
        self._now = now
        self._secrets = tuple(secrets)
        self._forms = [_forms(secret) for secret in self._secrets]
        self._overlap = max((len(form) for forms in self._forms for form in forms), default=1) - 1
        self._before = b""
        self._line = 1
        self._found: set[tuple[int, int]] = set()

    def seen(self, block: bytes) -> None:
        """Look through the next bytes of the file, and across the seam to those before."""
        window = self._before + block
        found = {
            (self._line + window.count(b"\n", 0, at), number)
            for number, forms in enumerate(self._forms, 1)
            for form in forms
            for at in _places(window, form)
        }
        for line, number in sorted(found - self._found):
            said = f"planted secret {number} stands in this line"
            self._now.error("R05", "", said, line)
        start = max(len(window) - self._overlap, 0)
        self._line += window.count(b"\n", 0, start)
        self._before = window[start:]
        self._found = {place for place in found if place[0] >= self._line}

    def find(self, text: str) -> int:
        """The number of the first secret that stands in the text, or 0."""
        numbered = enumerate(self._secrets, 1)
        return next((number for number, secret in numbered if secret in text), 0)

    def mask(self, text: str) -> str:
        """A message without the secrets, whatever form they have in it."""
        for number, forms in enumerate(self._forms, 1):
            for form in forms:
                text = text.replace(form.decode(), f"[REDACTED:canary:{number}]")
        return text


def _forms(secret: str) -> list[bytes]:
    """A text as bytes, plain and as JSON writes it: escaped as little or as much as it may."""
    escaped = json.dumps(secret)[1:-1]
    pointer = secret.replace("~", "~0").replace("/", "~1")
    slashes = escaped.replace("/", "\\/")
    forms = [secret, to_json(secret)[1:-1], escaped, slashes, pointer]
    forms.append(json.dumps(secret, ensure_ascii=False)[1:-1])
    return sorted({form.encode() for form in forms}, key=len, reverse=True)


def _places(window: bytes, form: bytes) -> list[int]:
    places, at = [], window.find(form)
    while at >= 0:
        places.append(at)
        at = window.find(form, at + 1)
    return places
