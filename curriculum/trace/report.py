"""A report as text for people, or as one JSON object for programs.

Nothing from the file reaches the terminal raw: values are quoted where messages are made, and the
file's own name is escaped here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from curriculum.trace.codes import Verdict
from curriculum.trace.findings import Finding
from curriculum.trace.validate import Report

VERDICT_NOTES = {
    Verdict.COMPLETE: "",
    Verdict.INVALID: "",
    Verdict.OPEN: ": no session.stop yet",
    Verdict.TORN: ": the last line is not whole",
}
UNREADABLE = frozenset({"F01", "F02", "F03"})


def written_name(name: str) -> str:
    """A file's name as UTF-8 can have it, whatever bytes are in it."""
    return name.encode(errors="backslashreplace").decode()


def shown_name(name: str) -> str:
    """A file's name on one line, whatever is in it."""
    plain = written_name(name)
    return plain if plain.isprintable() else ascii(plain)


def as_text(name: str, report: Report) -> Iterator[str]:
    """The verdict, then each finding with its fix on the line below."""
    counts = [_count(report.events, "event")]
    if report.error_count:
        counts.append(_count(report.error_count, "error"))
    if report.warning_count:
        counts.append(_count(report.warning_count, "warning"))
    verdict = report.verdict
    note = VERDICT_NOTES[verdict]
    yield f"{shown_name(name)}: {verdict.name.lower()}{note} ({', '.join(counts)})"
    for run in _runs(report.findings):
        yield from _finding_as_text("", run[0])
        if len(run) > 1:
            yield f"  to line {run[-1].line}: {run[0].code} on each of {len(run)} lines"
    kept = sum(finding.code != "F04" for finding in report.findings)
    if report.error_count > kept:
        codes = ", ".join(f"{code} {count}" for code, count in report.codes.items())
        yield f"  {report.error_count - kept} more errors are not shown; by code: {codes}"
    for warning in report.warnings:
        yield from _finding_as_text("warning ", warning)
    if report.warning_count > len(report.warnings):
        yield f"  {report.warning_count - len(report.warnings)} more warnings are not shown"


def _runs(findings: Iterable[Finding]) -> Iterator[list[Finding]]:
    """The findings in order; lines in a row that cannot be read (a binary file's) together."""
    run: list[Finding] = []
    for finding in findings:
        follows = run and finding.line == run[-1].line + 1 and finding.code == run[-1].code
        if run and not (follows and finding.code in UNREADABLE):
            yield run
            run = []
        run.append(finding)
    if run:
        yield run


def _finding_as_text(kind: str, finding: Finding) -> Iterator[str]:
    pointer = f"{json.dumps(finding.pointer)[1:-1]}: " if finding.pointer else ""
    yield f"  line {finding.line}: {kind}{finding.code} {pointer}{finding.message}"
    yield f"    fix: {finding.fix}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def as_json(name: str, report: Report) -> dict[str, object]:
    """The report as plain data: everything that the text says."""
    return {
        "file": written_name(name),
        "verdict": report.verdict.name.lower(),
        "exit_code": int(report.verdict),
        "events": report.events,
        "bytes": report.bytes_read,
        "error_count": report.error_count,
        "codes": report.codes,
        "errors": [finding.as_json() for finding in report.findings],
        "warning_count": report.warning_count,
        "warnings": [warning.as_json() for warning in report.warnings],
    }
