"""A report in the words of others: JSON, JUnit XML, Gradescope's results.json, CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from xml.etree import ElementTree

from curriculum.grading.submission.grading import Report, Result

# XML 1.0 has no way to write these.
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

UNDONE = ("not started", "not graded")


def to_json(report: Report) -> str:
    """All that is known."""
    return json.dumps(report.as_data(), indent=2) + "\n"


def to_gradescope(report: Report) -> str:
    """One point a test; the output of a hidden test is not shown to the student."""
    tests = [
        {
            "name": f"{result.name} {result.title}",
            "score": float(result.outcome == "passed"),
            "max_score": 1.0,
            "status": "passed" if result.outcome == "passed" else "failed",
            "output": result.said or result.outcome,
            "output_format": "text",
            "visibility": "hidden" if result.hidden else "visible",
        }
        for result in report.results
    ]
    grade: dict[str, object] = {"tests": tests, "visibility": "visible"}
    if report.fault:
        grade.update(score=0.0, output=report.fault)
    return json.dumps(grade, indent=2) + "\n"


def to_junit(report: Report) -> str:
    """One testcase a test; not started is skipped, a submission without exercises an error."""
    counts = {
        "tests": len(report.results) or 1,
        "failures": sum(r.outcome in ("failed", "tampered") for r in report.results),
        "skipped": sum(r.outcome in UNDONE for r in report.results),
        "errors": int(bool(report.fault)),
    }
    suite = ElementTree.Element("testsuite", name=_xml(report.submission))
    for name, count in counts.items():
        suite.set(name, str(count))
    for result in report.results:
        _testcase(suite, result)
    if report.fault:
        case = ElementTree.SubElement(suite, "testcase", classname="submission", name="collect")
        ElementTree.SubElement(case, "error", message=_xml(report.fault))
    ElementTree.indent(suite)
    text = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _testcase(suite: ElementTree.Element, result: Result) -> None:
    lesson, _, _ = result.name.partition(".")
    case = ElementTree.SubElement(suite, "testcase", classname=lesson, time=f"{result.seconds:.2f}")
    case.set("name", _xml(f"{result.name} {result.title}"))
    if result.outcome in UNDONE:
        ElementTree.SubElement(case, "skipped", message=_xml(result.said))
    elif result.outcome != "passed":
        first = next(iter(result.said.strip().splitlines()), "").strip()
        message = _xml(f"{result.outcome}: {first}")
        ElementTree.SubElement(case, "failure", message=message).text = _xml(result.said)


def _xml(text: str) -> str:
    return NOT_XML.sub("\ufffd", text)


def to_csv(report: Report) -> str:
    """A line a test."""
    rows = [[report.submission, r.name, r.title, r.outcome, r.seconds] for r in report.results]
    if report.fault:
        rows = [[report.submission, "", "", f"fault: {report.fault}", 0.0]]
    return _csv([["submission", "test", "title", "outcome", "seconds"], *rows])


def class_csv(reports: Sequence[Report]) -> str:
    """A line a submission, a column a test."""
    names = list(dict.fromkeys(result.name for report in reports for result in report.results))
    rows: list[list[object]] = [["submission", "passed", *names, "fault", "notes"]]
    for report in reports:
        outcomes = {result.name: result.outcome for result in report.results}
        told = [outcomes.get(name, "") for name in names]
        notes = "; ".join(report.notes)
        rows.append([report.submission, report.passed, *told, report.fault, notes])
    return _csv(rows)


def _csv(rows: Sequence[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([[_cell(cell) for cell in row] for row in rows])
    return out.getvalue()


def _cell(cell: object) -> object:
    """Text that a spreadsheet does not take for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in tuple("=+-@\t\r") else cell


FORMATS: dict[str, Callable[[Report], str]] = {
    "json": to_json,
    "junit": to_junit,
    "gradescope": to_gradescope,
    "csv": to_csv,
}
