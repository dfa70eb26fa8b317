"""What the redaction marks claim: R01 and R02."""

from __future__ import annotations

import re
from typing import Any

from curriculum.trace.escapes import unescape
from curriculum.trace.findings import quote
from curriculum.trace.now import MASK, Now

_MASK = re.compile(r"\[REDACTED:[A-Za-z0-9_-]+:[0-9]+\]")
_INDEX = re.compile("0|[1-9][0-9]*")


def check_marks(now: Now, event: dict[str, Any], line: bytes) -> None:
    """R01 and R02 for an event whose status is anything but unchecked."""
    redaction = event["redaction"]
    if redaction["status"] == "clean" and _holds_mask(line):
        now.error("R02", "/redaction/status", "the event is marked clean, yet it holds a mask")
    for index, pointer in enumerate(redaction.get("items", ())):
        target = _resolve(event, pointer)
        if not isinstance(target, str) or not _MASK.search(target):
            found = "nothing" if target is None else "no text with a mask"
            said = f"{quote(pointer)} leads to {found}"
            now.error("R01", f"/redaction/items/{index}", said)


def _holds_mask(line: bytes) -> bool:
    if MASK.encode() in line:
        return True
    # A line has many spellings: any letter of a mask may stand escaped.
    return b"\\u" in line and MASK in unescape(line.decode("utf-8", "replace"))


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
