"""What all rules share: the line being judged, where findings go, and whether lines are missing.

A line that cannot be read, or a gap in the numbering, may have held anything. Until the next
`user.message` the rules then do not hold against a file what that line could explain, so that one
cause gives one finding.
"""

from __future__ import annotations

from curriculum.trace.findings import Findings

Event = dict[str, object]
MASK = "[REDACTED:"


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
