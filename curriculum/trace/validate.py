"""Validates one trace: bytes in, a report out, in memory that does not grow with the file.

Every line is read, parsed strictly, held against the schema of its type and then judged by the
rules. A line that cannot be taken is one finding; reading goes on after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from curriculum.trace.canaries import Canaries, Seams
from curriculum.trace.codes import Verdict
from curriculum.trace.engines import Engine
from curriculum.trace.findings import Finding, Findings, quote
from curriculum.trace.now import Now
from curriculum.trace.read import LineReader, Read
from curriculum.trace.rules import Rules
from curriculum.trace.schema import OTHER
from curriculum.trace.strict import (
    BOM,
    LineError,
    check_depth,
    check_size,
    parse_strict,
)

VENDOR_TYPE = re.compile(r"x(\.[a-z0-9][a-z0-9_-]*){2,}")
DEFAULT_LIMIT = 1000


@dataclass(frozen=True)
class Options:
    """`is_strict`: an unknown type is an error. `limit`: how many findings of a kind are kept."""

    is_strict: bool = False
    secrets: tuple[str, ...] = ()
    limit: int = DEFAULT_LIMIT


@dataclass(frozen=True)
class Report:
    """What a file is, and everything that is wrong with it."""

    verdict: Verdict
    events: int
    bytes_read: int
    findings: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    error_count: int
    warning_count: int
    codes: dict[str, int]


class Validation:
    """One file on its way through."""

    def __init__(self, engine: Engine, options: Options) -> None:
        self._findings = Findings(options.limit)
        self._now = Now(self._findings)
        self._parse, self._judges = engine.parse, engine.judges
        self._is_valid = {
            kind: judge.is_valid for kind, judge in engine.judges.items() if kind != OTHER
        }
        self._is_strict = options.is_strict
        self._canaries = Canaries(options.secrets, self._now) if options.secrets else None
        self._seams = Seams(self._canaries, self._now) if self._canaries else None
        self._rules = Rules(self._now, self._seams)
        if self._canaries:
            self._findings.mask = self._canaries.mask
        self._lost_lines = 0
        self._has_returns = False

    def run(self, read: Read, progress: Callable[[int], None] | None = None) -> Report:
        """Read to the end. `progress` is told the bytes read, once a block."""
        reader = LineReader(read, self._canaries.seen if self._canaries else None)
        try:
            for lines in reader.batches():
                self._take(lines)
                if progress:
                    progress(reader.bytes_read)
            if reader.tail:
                self._tear(reader.tail)
            if self._seams:
                self._seams.finish()
        finally:
            self._rules.close()
        return self._report(reader.bytes_read)

    def _take(self, lines: Iterable[bytes]) -> None:
        now, parse, shapes, judge = self._now, self._parse, self._is_valid, self._rules.event
        for line in lines:
            now.line += 1
            try:
                event = parse(line)
            except LineError as error:
                self._refuse(line, error)
                continue
            try:
                fits = shapes[event["type"]](event) and "ext" not in event
            except (KeyError, TypeError):
                fits = False
            if fits:
                judge(event, line)
            else:
                self._look_closer(event, line)

    # region: doubts
    def _refuse(self, line: bytes, error: LineError) -> None:
        """A line that is not an event, unless a BOM or a CR is all that is wrong with it."""
        bare = line
        if self._now.line == 1 and bare.startswith(BOM):
            self._now.error("F01", "", "the file begins with a byte order mark")
            bare = bare.removeprefix(BOM)
        if bare.endswith(b"\r"):
            self._report_return()
            bare = bare.removesuffix(b"\r")
        if bare is not line:
            try:
                self._look_closer(parse_strict(bare), bare)
                return
            except LineError as worse:
                error = worse
        self._lose(error)

    def _lose(self, error: LineError) -> None:
        self._now.error(error.code, error.pointer, error.message)
        self._rules.lost()
        self._lost_lines += 1

    def _report_return(self) -> None:
        """A converted file has a CR on every line: told once."""
        if not self._has_returns:
            self._now.error("F02", "", "the line ends with CR LF; later ones are not told again")
        self._has_returns = True

    def _look_closer(self, event: dict[str, Any], line: bytes) -> None:
        """An event that is of no known type, has notes of vendors, or has the wrong shape."""
        try:
            check_size(line)
            check_depth(line)
        except LineError as error:
            self._lose(error)
            return
        named = event.get("type")
        kind = named if isinstance(named, str) else OTHER
        if kind is named and not (kind in self._is_valid or VENDOR_TYPE.fullmatch(kind)):
            self._report_unknown(kind)
        judge = self._judges.get(kind) or self._judges[OTHER]
        if judge.is_valid(event):
            self._rules.event(event, line)
            return
        bad = {name for name in judge.required if name not in event}
        for pointer, message in judge.problems(event):
            field = pointer.partition("/")[2].partition("/")[0]
            bad.add(field)
            if field == "trace_version" and isinstance(event["trace_version"], str):
                self._rules.order.check_version(event["trace_version"])
            else:
                self._now.error("E01", pointer, message)
        if bad & {"payload", "type"}:
            self._rules.go_blind(kind)
            bad.add("type")
        self._rules.event(self._rules.order.patch(event, bad), line, "event_id" not in bad)

    def _report_unknown(self, kind: str) -> None:
        report = self._findings.error if self._is_strict else self._findings.warn
        report(self._now.line, "E02", "/type", f"{quote(kind)} is no type of Trace 0.1")

    def _tear(self, tail: bytes) -> None:
        """What follows the last LF is no event yet, or the file is no trace at all."""
        self._now.line += 1
        self._lost_lines += 1
        if self._now.line == self._lost_lines and not tail.startswith(b"{"):
            try:
                parse_strict(tail)
            except LineError as error:
                self._now.error(error.code, error.pointer, error.message)
                return
        self._findings.tear(self._now.line, f"the last {len(tail)} bytes do not end with LF")

    # endregion

    def _report(self, bytes_read: int) -> Report:
        found = self._findings
        if found.error_count:
            verdict = Verdict.INVALID
        elif found.torn:
            verdict = Verdict.TORN
        else:
            verdict = Verdict.COMPLETE if self._rules.has_stopped else Verdict.OPEN
        return Report(
            verdict,
            self._now.line - self._lost_lines,
            bytes_read,
            tuple(found.in_order()),
            tuple(found.warnings),
            found.error_count,
            found.warning_count,
            dict(sorted(found.counts.items())),
        )


def validate(
    read: Read,
    engine: Engine,
    options: Options | None = None,
    progress: Callable[[int], None] | None = None,
) -> Report:
    """Validate what `read` gives, block by block, until it gives no bytes."""
    return Validation(engine, options or Options()).run(read, progress)
