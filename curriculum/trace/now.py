"""What all rules share: the line being judged, where findings go, and whether lines are missing.

A line that cannot be read, or a gap in the numbering, may have held anything. Until the next
`user.message` the rules then do not hold against a file what that line could explain, so that one
cause gives one finding.
"""

from __future__ import annotations

import re

from curriculum.trace.findings import Findings

Event = dict[str, object]
MASK = "[REDACTED:"
# A mask, or the beginning of one where a text was cut.
_WHOLE = re.compile(r"\[REDACTED:(?:[A-Za-z0-9_-]+:[0-9]+\]|[A-Za-z0-9_:-]{0,80}\Z)")


class Now:
    """The moment of a validation. `blind` says that a line of this turn is missing."""

    def __init__(self, findings: Findings) -> None:
        self.line = 0
        self.blind = False
        self.findings = findings

    def error(self, code: str, pointer: str, message: str, line: int = 0) -> None:
        """A rule is broken: on this line, or on the earlier one that is to blame."""
        self.findings.error(line or self.line, code, pointer, message)


def is_masked(*texts: str) -> bool:
    """Whether a mask stands in any of the texts: then nothing can be said of what it was."""
    return any(MASK in text for text in texts)


def may_be_same(one: str, other: str) -> bool:
    """Whether two texts can have been the same before masks replaced parts of them.

    A mask stands for any text. Where both hold masks, what stands before the first and behind the
    last of them is compared.
    """
    if one == other:
        return True
    masked, plain = _WHOLE.split(one), _WHOLE.split(other)
    if len(plain) > 1 and len(masked) > 1:
        begins, ends = (masked[0], plain[0]), (masked[-1], plain[-1])
        shorter, longer = sorted(begins, key=len)
        end, longer_end = sorted(ends, key=len)
        return longer.startswith(shorter) and longer_end.endswith(end)
    if len(masked) == 1:
        masked, plain = plain, masked
    first, *middle, last = masked if len(masked) > 1 else ("", "")
    if len(masked) == 1 or len(first) + len(last) > len(plain[0]):
        return False
    if not (plain[0].startswith(first) and plain[0].endswith(last)):
        return False
    at, end_at = len(first), len(plain[0]) - len(last)
    for part in middle:
        at = plain[0].find(part, at, end_at)
        if at < 0:
            return False
        at += len(part)
    return True
