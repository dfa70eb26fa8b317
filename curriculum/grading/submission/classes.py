"""Grades a whole class: each submission in a box of its own, several at a time.

What is graded is written down at once, under the submission's own name, with a digest of what it
was graded for. So a class that was interrupted goes on where it stopped, and a submission that was
handed in again is graded again. Whatever one submission does costs only itself.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from curriculum.grading.cli.faults import NO_FILE, CommandError
from curriculum.grading.submission.digests import digest_of, digest_of_terms
from curriculum.grading.submission.formats import FORMATS, class_csv
from curriculum.grading.submission.grading import Report, Result, Terms, Work, work_of
from curriculum.grading.submission.pools import Pool
from curriculum.grading.submission.shown import Show

AGAIN = ""  # the digest of a report that holds for nothing
MOST_NAME = 200  # bytes of a name that a report can be called after


def submissions_in(folder: Path) -> list[Path]:
    """Every folder and file that may be a submission. Raises CommandError if there is none."""
    try:
        found = sorted(p for p in folder.iterdir() if not p.name.startswith("."))
    except OSError as fault:
        raise CommandError(f"{folder} cannot be read: {fault.strerror}", NO_FILE) from None
    if not found:
        raise CommandError(f"{folder} holds no submissions", NO_FILE)
    return found


def grade_class(
    folder: Path, output: Path, terms: Terms, pool: Pool, show: Show, form: str = "json"
) -> list[Report]:
    """Grade all that is in `folder`, and write reports and `class.csv` to `output`."""
    submissions = submissions_in(folder)
    reports: dict[str, Report] = {}
    with _locked(output):
        for report, digest in _graded(submissions, output, terms, pool):
            reports[report.submission] = report
            if digest is not None:
                _keep(output, report, digest)
            if form != "json":
                write(output / f"{file_name(report.submission)}.{form}", FORMATS[form](report))
            show(len(reports), len(submissions), report)
        ordered = [reports[path.name] for path in submissions]
        write(output / "class.csv", class_csv(ordered))
    return ordered


def file_name(submission: str) -> str:
    """What the reports of a submission are called: its name, unless no file of ours can be."""
    if submission != "class" and len(os.fsencode(submission)) <= MOST_NAME:
        return submission
    digest = hashlib.sha256(os.fsencode(submission)).hexdigest()[:16]
    return f"{submission[: MOST_NAME // 8]}-{digest}"


def _graded(
    submissions: Sequence[Path], output: Path, terms: Terms, pool: Pool
) -> Iterator[tuple[Report, str | None]]:
    """Each report once, with the digest to keep it under; None if it is kept already."""
    asked = digest_of_terms(terms)
    digests: dict[str, str] = {}
    known: list[tuple[Report, str | None]] = []

    def works() -> Iterator[Work]:
        for path in submissions:
            try:
                digests[path.name] = digest_of(path, asked)
                if kept := _read(output, path.name, digests[path.name]):
                    known.append((kept, None))
                else:
                    yield work_of(path, terms)
            except CommandError as fault:
                known.append((Report(path.name, fault=str(fault)), digests[path.name]))
            except Exception as fault:
                known.append((_not_graded(path.name, fault), AGAIN))

    with contextlib.closing(pool.run(works())) as ended:
        for work, report in ended:
            if isinstance(report, Exception):
                yield _not_graded(work.name, report), AGAIN
            else:
                yield report, digests[work.name]
    yield from known


def _not_graded(name: str, fault: Exception) -> Report:
    """For no reason of the submission's own: the next run tries again."""
    return Report(name, fault=f"{type(fault).__name__}: {fault}")


def _keep(output: Path, report: Report, digest: str) -> None:
    text = json.dumps({**report.as_data(), "digest": digest}, indent=2) + "\n"
    write(output / f"{file_name(report.submission)}.json", text)


def _read(output: Path, name: str, digest: str) -> Report | None:
    """The report that was written for that digest."""
    try:
        kept: dict[str, Any] = json.loads((output / f"{file_name(name)}.json").read_text("utf-8"))
        if kept["digest"] != digest or kept["submission"] != name:
            return None
        results = tuple(Result(**result) for result in kept["results"])
        notes = tuple(kept["notes"])
        return Report(kept["submission"], results, kept["fault"], notes, kept["box"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def write(path: Path, text: str) -> None:
    """Replace the file whole; what is no text is escaped. Raises CommandError."""
    fresh = path.with_name(f".{path.name}.new")
    try:
        fresh.write_text(text, "utf-8", "backslashreplace")
        fresh.replace(path)
    except OSError as fault:
        raise CommandError(f"{path} cannot be written: {fault.strerror}", NO_FILE) from None


@contextlib.contextmanager
def _locked(output: Path) -> Iterator[None]:
    """The folder, for us alone. Raises CommandError."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        lock = os.open(output / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as fault:
        raise CommandError(f"{output} cannot be written: {fault.strerror}", NO_FILE) from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"another grader writes to {output}; wait for it, or name another --output"
            raise CommandError(message, NO_FILE) from None
        yield
    finally:
        os.close(lock)


def check_output(folder: Path, output: Path) -> None:
    """Reports must not end up among the submissions."""
    if output.resolve().is_relative_to(folder.resolve()):
        raise CommandError(f"{output} is inside {folder}; name another --output")


def as_words(reports: Sequence[Report]) -> str:
    """The last line for the instructor."""
    faults = sum(bool(report.fault) for report in reports)
    tampered = sum(any(r.outcome == "tampered" for r in report.results) for report in reports)
    noted = sum(bool(report.notes) for report in reports)
    boxes = " and ".join(sorted({report.box for report in reports if report.box})) or "none"
    count = f"{len(reports)} submissions"
    return (
        f"{count}: {faults} not graded, {tampered} changed the grader, {noted} with notes;"
        f" box: {boxes}"
    )
