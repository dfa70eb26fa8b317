"""`grade --submission` and `grade-class`: what instructors type."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from curriculum.core.visible import escape
from curriculum.grading.cli.catalogue import Lesson, find, read_lessons
from curriculum.grading.cli.faults import NO_FILE, NOT_PASSED, OK, CommandError
from curriculum.grading.submission import classes
from curriculum.grading.submission.box import missing
from curriculum.grading.submission.formats import FORMATS
from curriculum.grading.submission.grading import Report, grade_submission

WORKFLOW = """\
# .github/workflows/classroom.yml: grades every push of a GitHub Classroom assignment.
# The grader comes from its own checkout, at a commit that you name; from the student's repository
# only the exercises are taken. The report is kept as an artifact; a failure is a red check.
name: grade
on: [push, workflow_dispatch]
permissions:
  contents: read
jobs:
  grade:
    runs-on: ubuntu-latest
    timeout-minutes: 20
    steps:
      - uses: actions/checkout@v4
        with:
          path: submission
          persist-credentials: false
      - uses: actions/checkout@v4
        with:
          repository: OWNER/CURRICULUM  # yours
          ref: COMMIT  # 40 hexadecimal digits
          path: grader
          persist-credentials: false
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - name: Grade
        working-directory: grader
        # sudo, because some runners allow no unprivileged namespaces; the code itself has no rights
        run: >
          sudo "$(command -v python3)" -m curriculum grade --submission ../submission
          --format junit --output ../report.xml LESSONS
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: report
          path: report.xml
"""


def add_arguments(grade: argparse.ArgumentParser) -> None:
    """What `grade` can be told about submissions."""
    group = grade.add_argument_group("submissions of others, graded in a box")
    group.add_argument("--submission", type=Path, metavar="DIR|ZIP|GIT", help="instead of yours")
    add_common(group)
    group.add_argument("--format", choices=FORMATS, help="instead of text")
    group.add_argument("--output", type=Path, metavar="FILE", help="write the report there")
    group.add_argument("--workflow", action="store_true", help="print a GitHub Classroom workflow")


def add_common(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """What holds for one submission and for a class."""
    group.add_argument("--hidden", type=Path, metavar="DIR", help="your private tests, test_*.py")
    group.add_argument(
        "--no-isolation",
        action="store_true",
        help="where the system offers no box: limits only, the code can read and write as you",
    )


def add_class(command: argparse.ArgumentParser) -> None:
    """What `grade-class` can be told."""
    command.add_argument("folder", type=Path, metavar="DIR", help="one entry a submission")
    command.add_argument("--lessons", nargs="+", default=[], metavar="NAME", help="not all of them")
    command.add_argument("--jobs", type=int, default=2, metavar="N", help="at the same time (2)")
    command.add_argument("--output", type=Path, metavar="DIR", help="reports (DIR-reports)")
    command.add_argument("--format", choices=FORMATS, default="json", help="beside the JSON")
    add_common(command)


def run_class(given: argparse.Namespace) -> int:
    """Grade all submissions in a folder; goes on where it was interrupted."""
    if given.jobs < 1:
        raise CommandError("--jobs must be at least 1")
    check(given.hidden, given.no_isolation)
    folder = given.folder.resolve()
    output = given.output or folder.with_name(f"{folder.name}-reports")
    classes.check_output(folder, output)
    lessons = tuple(chosen(read_lessons(), given.lessons))
    terms = classes.Terms(lessons, given.hidden, not given.no_isolation, given.timeout)
    show = classes.progress_shown()
    reports = classes.grade_class(folder, output, terms, given.jobs, show, given.format)
    print(f"{classes.as_words(reports)}; see {output / 'class.csv'}")
    return OK


def check(hidden: Path | None, no_isolation: bool) -> None:
    """Raises CommandError for what would spoil every submission."""
    if hidden is not None and not hidden.is_dir():
        raise CommandError(f"{hidden} is no folder of tests", NO_FILE)
    if not no_isolation and (why := missing()):
        raise CommandError(
            f"submissions cannot be isolated here: {why}; install util-linux, run as root, or say"
            " --no-isolation",
            NO_FILE,
        )


def run_grade(given: argparse.Namespace) -> int:
    """Grade one submission."""
    check(given.hidden, given.no_isolation)
    lessons = chosen(read_lessons(), given.what)
    report = grade_submission(
        given.submission, lessons, given.hidden, not given.no_isolation, given.timeout
    )
    text = FORMATS[given.format](report) if given.format else as_text(report)
    if given.output:
        try:
            given.output.write_text(text, "utf-8")
        except OSError as fault:
            raise CommandError(f"{given.output} cannot be written: {fault.strerror}", 3) from None
    else:
        print(text, end="")
    if report.fault:
        print(f"curriculum: {escape(report.fault)}", file=sys.stderr)
        return NO_FILE
    return NOT_PASSED if report.passed < len(report.results) else OK


def chosen(lessons: Sequence[Lesson], words: Sequence[str]) -> list[Lesson]:
    """The lessons named, each with the exercises named; all of them if nothing is."""
    if not words:
        return list(lessons)
    wanted: dict[str, list[str]] = {}
    for word in words:
        lesson, exercise = find(lessons, word)
        letters = [exercise.letter] if exercise else [ex.letter for ex in lesson.exercises]
        wanted.setdefault(lesson.folder, []).extend(letters)
    return [
        Lesson(
            lesson.folder,
            lesson.title,
            tuple(ex for ex in lesson.exercises if ex.letter in wanted[lesson.folder]),
        )
        for lesson in lessons
        if lesson.folder in wanted
    ]


def as_text(report: Report) -> str:
    """For a person."""
    lines = []
    for result in report.results:
        lines.append(f"{result.name}  {result.outcome:11}  {escape(result.title)}")
        if result.outcome in ("failed", "tampered"):
            lines += [f"    {line}" for line in escape(result.said).splitlines()]
    lines += [f"note: {escape(note)}" for note in report.notes]
    lines.append(f"{report.passed} of {len(report.results)} passed")
    return "\n".join(lines) + "\n"
