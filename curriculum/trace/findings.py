"""What a validation found: every finding is counted, a bounded number is kept.

A finding never shows a planted secret. Values are quoted whole or not at all, so that no part of
a secret is left over where a value was cut.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from curriculum.trace.codes import CODES

LONGEST_QUOTE = 60


@dataclass(frozen=True)
class Finding:
    """One broken rule: `line` counts from 1, `pointer` is a JSON Pointer into that line."""

    line: int
    code: str
    pointer: str
    message: str

    @property
    def fix(self) -> str:
        """What to do about it, in one line."""
        return CODES[self.code].fix

    def as_json(self) -> dict[str, object]:
        """The finding as plain data."""
        return {
            "line": self.line,
            "code": self.code,
            "pointer": self.pointer,
            "message": self.message,
            "fix": self.fix,
        }


class Findings:
    """Collects findings. `limit` bounds what is kept, `mask` is applied to what is shown."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.mask: Callable[[str], str] = str
        self.errors: list[Finding] = []
        self.warnings: list[Finding] = []
        self.counts: Counter[str] = Counter()
        self.error_count = self.warning_count = 0
        self.torn: Finding | None = None

    def _make(self, line: int, code: str, pointer: str, message: str) -> Finding:
        return Finding(line, code, self.mask(pointer), self.mask(message))

    def error(self, line: int, code: str, pointer: str, message: str) -> None:
        """A rule is broken."""
        self.error_count += 1
        self.counts[code] += 1
        if self.error_count <= self._limit:
            self.errors.append(self._make(line, code, pointer, message))

    def warn(self, line: int, code: str, pointer: str, message: str) -> None:
        """Something that a strict reading would refuse."""
        self.warning_count += 1
        if self.warning_count <= self._limit:
            self.warnings.append(self._make(line, code, pointer, message))

    def tear(self, line: int, message: str) -> None:
        """The bytes after the last LF are not an event yet. No error: the lines before stand."""
        self.torn = self._make(line, "F04", "", message)

    def in_order(self) -> list[Finding]:
        """The errors that were kept, by line; a torn tail comes last."""
        found = sorted(self.errors, key=lambda finding: finding.line)
        return [*found, self.torn] if self.torn else found


def quote(value: object) -> str:
    """A value from the file for a message: escaped, on one line, and never a part of it."""
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object of {len(value)}"
    if isinstance(value, str) and len(value) > LONGEST_QUOTE:
        return f"a text of {len(value)} characters"
    return json.dumps(value)


def pointer_of(path: object) -> str:
    """The JSON Pointer (RFC 6901) of a path of keys and indexes."""
    assert isinstance(path, (list, tuple))
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
