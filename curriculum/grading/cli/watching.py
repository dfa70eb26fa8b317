"""Grades a lesson anew whenever one of its files is saved, and says at once what has become of it.

Only what a save has changed is graded again: an exercise together with all that it uses of its
file. A save in the middle of a grading ends that grading; what it had not yet said is said later.
"""

from __future__ import annotations

import ast
import contextlib
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from curriculum.grading.cli.catalogue import LESSONS, Exercise, Lesson, read_lessons
from curriculum.grading.cli.faults import NO_FILE, CommandError
from curriculum.grading.cli.graded import Grade, grade_all
from curriculum.grading.cli.progress import Progress
from curriculum.grading.cli.screen import show_grade, show_total
from curriculum.grading.cli.sources import text_needed

QUIET_MS = 50  # an editor may write a file in several steps; so long is waited for the next one
READY_MS = 200


class Watch:
    """What was graded so far, and the text that it was graded for."""

    def __init__(self, root: Path, progress: Progress) -> None:
        self._root, self._progress = root, progress
        self._graded: dict[Exercise, tuple[str, Grade]] = {}

    def grade(self, lesson: Lesson, saved: threading.Event | None = None) -> None:
        """Grade what has changed in that lesson, until `saved` is set."""
        texts = {exercise: self._text(exercise) for exercise in lesson.exercises}
        changed = [e for e in lesson.exercises if self._graded.get(e, ("",))[0] != texts[e]]
        print(f"\n{time.strftime('%H:%M:%S')}  {lesson.short} · {lesson.title}")
        with contextlib.closing(grade_all(changed)) as grades:
            for exercise in lesson.exercises:
                if exercise in changed:
                    grade = next(grades)
                    self._graded[exercise] = texts[exercise], grade
                    if grade.outcome in ("passed", "failed"):
                        self._progress.add_attempt(exercise, grade.outcome)
                show_grade(self._graded[exercise][1])
                sys.stdout.flush()
                if saved is not None and saved.is_set():
                    return
        show_total([self._graded[exercise][1] for exercise in lesson.exercises])
        sys.stdout.flush()

    def _text(self, exercise: Exercise) -> str:
        """All that the grade of this exercise may depend on."""
        path = self._root / exercise.file
        try:
            text = path.read_text("utf-8", "replace")
        except OSError:
            return "cannot be read"
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            return text
        # What runs at import may matter to every exercise: calls, loops, whatever defines nothing.
        runs = [ast.unparse(n) for n in tree.body if isinstance(n, ast.Expr | ast.For | ast.If)]
        others = [p for p in sorted(path.parent.glob("*.py")) if p.name not in OURS]
        texts = [p.read_text("utf-8", "replace") for p in others]
        return "\n".join([text_needed(text, exercise.name), *runs, *texts])


OURS = ("exercises.py", "solutions.py", "demo.py", "__init__.py")


def watch(root: Path, lessons: Sequence[Lesson], progress: Progress) -> None:
    """Grade at every save, until Ctrl+C, and at the start unless all lessons are watched.

    Raises CommandError without the package watchfiles.
    """
    try:
        from watchfiles import PythonFilter
        from watchfiles import watch as changes_in
    except ImportError:
        raise CommandError(
            "watch needs the package watchfiles; run `make locked`, then"
            " .venv/bin/python -m curriculum watch",
            NO_FILE,
        ) from None
    folder = root / LESSONS
    waiting: set[str] = set()
    saved, lock = threading.Event(), threading.Lock()

    def look() -> None:
        # It also yields, with nothing, when nothing has happened for a while: then it is watching.
        for changes in changes_in(
            folder,
            watch_filter=PythonFilter(),
            step=QUIET_MS,
            rust_timeout=READY_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
        ):
            with lock:
                waiting.update(Path(path).parent.name for _, path in changes)
                if changes:
                    saved.set()
            ready.set()

    ready = threading.Event()
    threading.Thread(target=look, daemon=True).start()
    ready.wait()
    print(f"watching {LESSONS}: save a file to see its grade; Ctrl+C ends", flush=True)
    watching = Watch(root, progress)
    by_folder = {lesson.folder: lesson for lesson in lessons}
    if len(by_folder) < len(read_lessons(root)):
        with lock:
            waiting.update(by_folder)
            saved.set()
    while True:
        saved.wait()
        with lock:
            names = sorted(waiting)
            waiting.clear()
            saved.clear()
        for name in names:
            if name in by_folder:
                watching.grade(by_folder[name], saved)
