"""Order and identity, on every line: S01, I01, I02, C01, N01.

After a finding the rule takes what it saw as the new state, so a single shift, jump or foreign id
is told once and not on every line after it.
"""

from __future__ import annotations

from typing import Any

from curriculum.trace.findings import quote
from curriculum.trace.ids import IdSet
from curriculum.trace.now import Now

MOST_EXCUSED = 1000


class OrderRules:
    """Judges the envelope. `shift` is sequence minus line number; -1 in a right file."""

    def __init__(self, now: Now) -> None:
        self._now = now
        self._shift = self._before = -1
        self._lost_line = -1
        self._trace_id: str | None = None
        self._versions = {"0.1"}
        self._foreign: set[str] = set()
        self._ids = IdSet()
        self._last_id: str | None = None
        self._last_parent: str | None = None
        self._reported_parents: set[str] = set()
        self._lost_ids = 0
        self._elapsed = 0

    def check(self, event: dict[str, Any], has_id: bool) -> bool:
        """Judge one envelope; False if the line is an earlier one come again."""
        shift = event["sequence"] - self._now.line
        steps_back = False
        if shift != self._shift:
            steps_back = shift < self._shift
            self._check_sequence(event["sequence"])
        if event["trace_id"] != self._trace_id:
            self._check_trace_id(event["trace_id"])
        parent = event["parent_id"]
        if parent != self._last_id or parent is None:
            if parent != self._last_parent or parent is None:
                self._check_parent(parent)
            self._last_parent = parent
        elapsed = event["elapsed_us"]
        if elapsed < self._elapsed:
            message = f"elapsed_us falls from {self._elapsed} to {elapsed}"
            self._now.error("N01", "/elapsed_us", message)
        self._elapsed = elapsed
        ids, event_id = self._ids, event["event_id"]
        if event_id == ids.expected:
            ids.extend()
        elif has_id and not ids.add(event_id):
            self._now.error("I02", "/event_id", f"{quote(event_id)} was used before")
            return not steps_back
        self._last_id = event_id
        return True

    def lost(self) -> None:
        """A line could not be read: its id and its number are unknown."""
        self._lost_line = self._now.line
        self._lost_ids += 1

    def check_version(self, version: object) -> None:
        """I01 for a version other than 0.1, once for each."""
        if isinstance(version, str) and version not in self._versions:
            if len(self._versions) < MOST_EXCUSED:
                self._versions.add(version)
            message = f"trace_version is {quote(version)}; this validator knows 0.1"
            self._now.error("I01", "/trace_version", message)

    def patch(self, event: dict[str, Any], bad: set[str]) -> dict[str, Any]:
        """The event with each field that has no right shape replaced by one that says nothing."""
        neutral = {
            "trace_id": self._trace_id,
            "event_id": "",
            "sequence": self._now.line + self._shift,
            "parent_id": self._last_parent or self._last_id,
            "type": "",
            "actor": {"kind": "user", "id": ""},
            "elapsed_us": self._elapsed,
            "provenance": {"source": "synthesized"},
            "redaction": {"status": "unchecked"},
            "payload": {},
        }
        if "event_id" in bad:
            self._lost_ids += 1
        return {**event, **{name: neutral[name] for name in bad if name in neutral}}

    def _check_sequence(self, sequence: int) -> None:
        """A line out of place shifts and shifts back: the shift before is not a new finding."""
        shift = sequence - self._now.line
        expected = self._now.line + self._shift
        if shift > self._shift:
            self._lost_ids += min(shift - self._shift, MOST_EXCUSED)
            # A file that counts from 1 misses nothing: it only counts from 1.
            self._now.blind = self._now.blind or self._now.line > 1
        # A line that is lost may have been two, or none.
        if shift != self._before and self._now.line != self._lost_line + 1:
            message = f"sequence is {sequence}, expected {expected}"
            self._now.error("S01", "/sequence", message)
        self._before, self._shift = self._shift, shift

    def _check_trace_id(self, trace_id: str) -> None:
        if self._trace_id is None:
            self._trace_id = trace_id
        elif trace_id not in self._foreign:
            if len(self._foreign) < MOST_EXCUSED:
                self._foreign.add(trace_id)
            message = f"trace_id is {quote(trace_id)}, the file's is {quote(self._trace_id)}"
            self._now.error("I01", "/trace_id", message)

    def _check_parent(self, parent: str | None) -> None:
        if parent is None:
            if self._last_id is not None:
                self._now.error("C01", "/parent_id", "only the first event has no parent")
        elif parent not in self._ids and parent not in self._reported_parents:
            if len(self._reported_parents) < MOST_EXCUSED:
                self._reported_parents.add(parent)
            if self._lost_ids > 0:  # the parent may have been on a line that is missing
                self._lost_ids -= 1
                return
            self._now.error("C01", "/parent_id", f"no earlier event is {quote(parent)}")

    def close(self) -> None:
        """Give back what is on disk."""
        self._ids.close()
