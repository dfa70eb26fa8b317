"""Grades a whole class: each submission in a box of its own, several at a time.

What is graded is written down at once, under the submission's own name, with a digest of what it
was graded for. So a class that was interrupted goes on where it stopped, and a submission that was
handed in again is graded again. Whatever one submission does costs only itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curriculum.grading.cli.catalogue import ROOT, Lesson
from curriculum.grading.cli.faults import NO_FILE, CommandError
from curriculum.grading.submission.collect import MOST_ENTRIES
from curriculum.grading.submission.formats import FORMATS, class_csv
from curriculum.grading.submission.grading import Report, Result, grade_submission

MOST_HASHED = 1 << 26
Show = Callable[[int, int, Report], None]


@dataclass(frozen=True)
class Terms:
    """What holds for every submission of a class."""

    lessons: tuple[Lesson, ...]
    hidden: Path | None = None
    isolated: bool = True
    seconds: float | None = None


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
    folder: Path, output: Path, terms: Terms, jobs: int, show: Show, form: str = "json"
) -> list[Report]:
    """Grade all that is in `folder`, and write reports and `class.csv` to `output`."""
    submissions = submissions_in(folder)
    _make(output)
    reports: dict[Path, Report] = {}
    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(_grade_one, p, output, terms, form): p for p in submissions}
        try:
            for done, future in enumerate(as_completed(futures), 1):
                reports[futures[future]] = future.result()
                show(done, len(submissions), future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    ordered = [reports[path] for path in submissions]
    write(output / "class.csv", class_csv(ordered))
    return ordered


def _grade_one(path: Path, output: Path, terms: Terms, form: str) -> Report:
    """From its file if that is still true, else anew. Never raises for one submission."""
    kept = output / f"{path.name}.json"
    try:
        digest = digest_of(path, terms)
        report = _read(kept, digest)
        if report is None:
            report = grade_submission(
                path, terms.lessons, terms.hidden, terms.isolated, terms.seconds
            )
            write(kept, json.dumps({**report.as_data(), "digest": digest}, indent=2) + "\n")
        if form != "json":
            write(output / f"{path.name}.{form}", FORMATS[form](report))
        return report
    except Exception as fault:  # one bad submission never stops the rest
        return Report(path.name, fault=f"{type(fault).__name__}: {fault}")


def digest_of(path: Path, terms: Terms) -> str:
    """Of all that the report may depend on: submission, graders, hidden tests, what is asked."""
    digest = hashlib.sha256(repr((terms.lessons, terms.isolated, terms.seconds)).encode())
    for folder in (path, ROOT / "curriculum", *([terms.hidden] if terms.hidden else [])):
        for name, data in _contents(folder):
            digest.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape"))
            digest.update(data)
    return digest.hexdigest()


def _contents(path: Path) -> Iterator[tuple[str, bytes]]:
    """Names and digests of the files there; of a link only its name. Bounded, as collecting is."""
    if not path.is_dir() or path.is_symlink():
        yield path.name, _digest(path)
        return
    count = 0
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        count += len(files) + len(folders)
        if count > MOST_ENTRIES:
            return  # it will be refused
        for name in sorted(files):
            file = Path(folder, name)
            yield str(file.relative_to(path)), _digest(file)


def _digest(path: Path) -> bytes:
    """Of the bytes; of a large file of its size and time."""
    about = path.lstat()
    if not stat.S_ISREG(about.st_mode):
        return b""
    if about.st_size > MOST_HASHED:
        return f"{about.st_size} {about.st_mtime_ns}".encode()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _read(path: Path, digest: str) -> Report | None:
    """The report that was written for that digest."""
    try:
        kept: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if kept["digest"] != digest:
            return None
        results = tuple(Result(**result) for result in kept["results"])
        notes = tuple(kept["notes"])
        return Report(kept["submission"], results, kept["fault"], notes, kept["isolated"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(path: Path, text: str) -> None:
    """Replace the file whole."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text, "utf-8")
    fresh.replace(path)


def _make(output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
        write(output / "class.csv", "")
    except OSError as fault:
        raise CommandError(f"{output} cannot be written: {fault.strerror}", NO_FILE) from None


def progress_shown(stream: Any = None) -> Show:
    """How far it is: a bar on a terminal that has rich, else a line for each submission."""
    stream = stream or sys.stderr
    if stream.isatty():
        try:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
        except ImportError:
            pass
        else:
            bar = Progress(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            task = bar.add_task("grading")
            bar.start()

            def draw(done: int, count: int, report: Report) -> None:
                bar.update(task, completed=done, total=count, refresh=True)
                if done == count:
                    bar.stop()

            return draw
    began = time.monotonic()

    def tell(done: int, count: int, report: Report) -> None:
        told = report.fault or f"{report.passed} of {len(report.results)} passed"
        line = f"{done}/{count}  {time.monotonic() - began:.0f} s  {report.submission}: {told}"
        print(_one_line(line), file=stream, flush=True)

    return tell


def _one_line(text: str) -> str:
    from curriculum.core.visible import escape

    return escape(text).replace("\n", " ").replace("\t", " ")


def check_output(folder: Path, output: Path) -> None:
    """Reports must not end up among the submissions."""
    inside = output.resolve().is_relative_to(folder.resolve())
    if inside:
        raise CommandError(f"{output} is inside {folder}; name another --output")


def as_words(reports: Sequence[Report]) -> str:
    """The last line for the instructor."""
    faults = sum(bool(report.fault) for report in reports)
    tampered = sum(any(r.outcome == "tampered" for r in report.results) for report in reports)
    noted = sum(bool(report.notes) for report in reports)
    count = f"{len(reports)} submissions"
    return f"{count}: {faults} not graded, {tampered} changed the grader, {noted} with notes"
