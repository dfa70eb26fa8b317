"""`grade --submission` and `grade-class`: what instructors type."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from curriculum.core.visible import escape
from curriculum.core.whole_file import read_whole
from curriculum.grading.cli.catalogue import Lesson, find, read_lessons
from curriculum.grading.cli.faults import NO_FILE, NOT_PASSED, OK, CommandError
from curriculum.grading.submission import classes
from curriculum.grading.submission.formats import FORMATS
from curriculum.grading.submission.grading import Report, Terms, grade, work_of
from curriculum.grading.submission.isolation import BUBBLEWRAP, UNSHARE, best_box, why_not
from curriculum.grading.submission.pools import Cluster, Here, Pool
from curriculum.grading.submission.repository import MOST_BYTES
from curriculum.grading.submission.shown import progress_shown

MOST_JOBS = 256
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
    group.add_argument(
        "--hidden",
        type=Path,
        metavar="DIR",
        help="your private tests, which no submission can read: unittest cases in test_*.py that"
        " get the work by `load` of curriculum.grading.exercise; one result a file",
    )
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
    command.add_argument("--dask", metavar="ADDRESS", help="a Dask scheduler, or `local`")
    command.add_argument("--output", type=Path, metavar="DIR", help="reports (DIR-reports)")
    command.add_argument("--format", choices=FORMATS, default="json", help="beside the JSON")
    add_common(command)


def run_class(given: argparse.Namespace) -> int:
    """Grade all submissions in a folder; goes on where it was interrupted."""
    if not 1 <= given.jobs <= MOST_JOBS:
        raise CommandError(f"--jobs must be at least 1 and at most {MOST_JOBS}")
    folder = given.folder.resolve()
    output = given.output or folder.with_name(f"{folder.name}-reports")
    classes.check_output(folder, output)
    classes.submissions_in(folder)
    terms = terms_of(given, given.lessons)
    pool: Pool
    if given.dask:
        pool = Cluster(given.dask, terms.isolated, given.jobs)
    else:
        check_box(terms)
        pool = Here(given.jobs)
    show = progress_shown()
    reports = classes.grade_class(folder, output, terms, pool, show, given.format)
    print(f"{classes.as_words(reports)}; see {output / 'class.csv'}")
    return OK


def terms_of(given: argparse.Namespace, words: Sequence[str]) -> Terms:
    """What was asked for. Raises CommandError for what would spoil every submission."""
    lessons = tuple(chosen(read_lessons(), words))
    hidden = read_hidden(given.hidden) if given.hidden else {}
    return Terms(lessons, hidden, not given.no_isolation, given.timeout)


def read_hidden(folder: Path) -> dict[str, str]:
    """The modules in that folder: {name: source}. Raises CommandError without a test."""
    try:
        paths = sorted(folder.glob("*.py"))
        found = {path.stem: read_whole(str(path), MOST_BYTES).decode() for path in paths}
    except (OSError, ValueError) as fault:
        raise CommandError(f"{folder} cannot be read: {fault}", NO_FILE) from None
    found.pop("__init__", None)
    for name, source in found.items():
        where = folder / f"{name}.py"
        if not name.isidentifier():
            raise CommandError(f"{where}: no module can have that name; rename it", NO_FILE)
        try:
            compile(source, where.name, "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as fault:
            raise CommandError(f"{where} is no Python: {fault}", NO_FILE) from None
    if not any(name.startswith("test") for name in found):
        raise CommandError(f"{folder} is no folder of tests: no test*.py in it", NO_FILE)
    return found


def check_box(terms: Terms) -> None:
    """Raises CommandError where there is to be a box, and none works."""
    if terms.isolated and not best_box():
        reasons = "; ".join(f"{kind}: {why_not(kind)}" for kind in (BUBBLEWRAP, UNSHARE))
        raise CommandError(
            f"submissions cannot be isolated here ({reasons}); install bubblewrap or util-linux,"
            " run as root, or say --no-isolation",
            NO_FILE,
        )


def run_grade(given: argparse.Namespace) -> int:
    """Grade one submission."""
    terms = terms_of(given, given.what)
    check_box(terms)
    try:
        report = grade(work_of(given.submission, terms))
    except CommandError as fault:
        report = Report(given.submission.name, fault=str(fault))
    text = FORMATS[given.format](report) if given.format else as_text(report)
    if given.output:
        try:
            given.output.write_text(text, "utf-8", "backslashreplace")
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
        if result.outcome in ("failed", "tampered", "not graded"):
            lines += [f"    {line}" for line in escape(result.said).splitlines()]
    lines += [f"note: {escape(note)}" for note in report.notes]
    if report.box:
        why = why_not(BUBBLEWRAP)
        lines.append(f"box: {report.box}" + (f" (bubblewrap: {why})" if why else ""))
    lines.append(f"{report.passed} of {len(report.results)} passed")
    return "\n".join(lines) + "\n"
