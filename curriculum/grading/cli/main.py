"""The commands of `python -m curriculum`; `curriculum` is the same."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import NoReturn

from curriculum.grading.cli import catalogue, faults, sources
from curriculum.grading.cli.faults import CommandError, program, program_with_packages
from curriculum.grading.cli.graded import grade_all
from curriculum.grading.cli.hints import FILES, hint_language, read_hints
from curriculum.grading.cli.progress import Progress
from curriculum.grading.cli.screen import next_lesson, show_board, show_grade, show_total
from curriculum.grading.submission import commands as submissions
from curriculum.trace.standard_streams import silence, standard_streams, tell_fault

ROOT = catalogue.ROOT
MOST_SECONDS = 86_400  # a day for one exercise
TIMES = "for each exercise; else 20, of s05 60, of s06 120"
NEED_PACKAGES = "s07", "s12"  # lessons whose demos need what `make locked` installs
DESCRIPTION = """\
Lessons and their exercises. Names are short: s01 is a lesson, s01.b one of its exercises.
Exit codes: 0 all that was graded has passed, 1 something has not, 2 wrong usage, 3 a file cannot
be used."""


class _Parser(argparse.ArgumentParser):
    """Wrong usage is one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(faults.USAGE, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    with standard_streams(), _interrupted_by_signals():
        return _run(arguments)


def _run(arguments: list[str] | None) -> int:
    try:
        try:
            given = _parser().parse_args(arguments)
            code: int = given.run(given)
        finally:
            sys.stdout.flush()
    except CommandError as fault:
        print(f"curriculum: {fault}", file=sys.stderr)
        return fault.exit_code
    except KeyboardInterrupt:
        return faults.INTERRUPTED
    except BrokenPipeError:
        silence(sys.stdout)
        return faults.CLOSED_PIPE
    except OSError as fault:
        tell_fault("curriculum", fault)
        return faults.NO_FILE
    return code


@contextlib.contextmanager
def _interrupted_by_signals() -> Iterator[None]:
    """Whoever ends us by a signal gets the same as by Ctrl+C: nothing is left behind."""
    is_main = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGTERM, signal.SIGHUP) if is_main else ()
    heard = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in heard:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, signal.SIG_DFL)


def _parser() -> _Parser:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = _Parser(prog="curriculum", description=DESCRIPTION, formatter_class=formatter)
    parser.set_defaults(run=_lessons)
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)

    def add(name: str, run: object, help: str, what: str = "", **more: object) -> _Parser:
        command: _Parser = commands.add_parser(name, help=help, description=help)
        command.set_defaults(run=run)
        if what:
            command.add_argument("what", metavar=what, **more)  # type: ignore[arg-type]
        return command

    add("lessons", _lessons, "what is read, started and passed")
    add("demo", _demo, "run the demo of a lesson", "LESSON")
    add("start", _start, "where to read, what to edit", "LESSON", nargs="?")
    grade = add("grade", _grade, "grade exercises and explain", "NAME", nargs="*")
    grade.add_argument("--timeout", type=_seconds, metavar="SECONDS", help=TIMES)
    submissions.add_arguments(grade)
    add("watch", _watch, "grade a lesson whenever its file is saved", "LESSON", nargs="*")
    hint = add("hint", _hint, "the next of three hints for an exercise", "EXERCISE")
    hint.add_argument("--level", type=int, choices=(1, 2, 3), help="this one instead")
    hint.add_argument("--lang", choices=FILES, help="the language; else what LANG says")
    solution = add("solution", _solution, "the reference, after an attempt", "EXERCISE")
    solution.add_argument("--spoil", action="store_true", help="also before an attempt")
    add("reset", _reset, "put stubs back; what you wrote is kept", "NAME")
    of_class = add("grade-class", submissions.run_class, "grade a folder of submissions")
    submissions.add_class(of_class)
    of_class.add_argument("--timeout", type=_seconds, metavar="SECONDS", help=TIMES)
    return parser


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MOST_SECONDS:
        said = f"{text!r} is no number of seconds above 0, at most {MOST_SECONDS}"
        raise argparse.ArgumentTypeError(said)
    return seconds


def _lessons(given: argparse.Namespace) -> int:
    show_board(ROOT, catalogue.read_lessons(), Progress(ROOT))
    return faults.OK


def _demo(given: argparse.Namespace) -> int:
    lesson, _ = catalogue.find(catalogue.read_lessons(), given.what)
    module = f"curriculum.lessons.{lesson.folder}.demo"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    code = subprocess.run([sys.executable, "-m", module], env=env).returncode
    return code if code >= 0 else 128 - code


def _start(given: argparse.Namespace) -> int:
    lessons, progress = catalogue.read_lessons(), Progress(ROOT)
    if given.what:
        lesson, _ = catalogue.find(lessons, given.what)
    else:
        lesson = next_lesson(lessons, progress) or lessons[0]
    progress.mark_read(lesson)
    print(f"{lesson.short} · {lesson.title}\n")
    for page in (f"lessons/{language}/{lesson.folder}.md" for language in ("en", "zh")):
        if (ROOT / page).is_file():
            print(f"read     {page}")
    runs = program_with_packages() if lesson.short in NEED_PACKAGES else program()
    print(f"run      {runs} demo {lesson.short}")
    print(f"edit     {lesson.exercises[0].file}" if lesson.exercises else "")
    for exercise in lesson.exercises:
        print(f"         {exercise.letter}  {exercise.name}")
    print(f"grade    {program()} grade {lesson.short}")
    print(f"         at every save: {program_with_packages()} watch {lesson.short}")
    print("         (which needs `make locked`, once)")
    return faults.OK


def _grade(given: argparse.Namespace) -> int:
    if given.workflow:
        print(submissions.WORKFLOW, end="")
        return faults.OK
    if given.submission:
        return submissions.run_grade(given)
    lessons, progress = catalogue.read_lessons(), Progress(ROOT)
    wanted: list[catalogue.Exercise] = []
    for word in given.what:
        lesson, exercise = catalogue.find(lessons, word)
        wanted += [exercise] if exercise else lesson.exercises
    if not given.what:
        every = [exercise for lesson in lessons for exercise in lesson.exercises]
        wanted = [exercise for exercise in every if sources.is_started(ROOT, exercise)]
        if not wanted:
            print(f"no exercise is started; begin with: {program()} start {lessons[0].short}")
            return faults.OK
    grades = []
    for grade in grade_all(wanted, given.timeout):
        show_grade(grade)
        sys.stdout.flush()
        grades.append(grade)
        if grade.outcome in ("passed", "failed"):
            progress.add_attempt(grade.exercise, grade.outcome)
    show_total(grades)
    missed = any(g.outcome in ("failed", "not graded") for g in grades)
    return faults.NOT_PASSED if missed else faults.OK


def _watch(given: argparse.Namespace) -> int:
    from curriculum.grading.cli.watching import watch

    lessons = catalogue.read_lessons()
    wanted = [catalogue.find(lessons, word)[0] for word in given.what] or lessons
    watch(ROOT, wanted, Progress(ROOT))
    return faults.OK


def _hint(given: argparse.Namespace) -> int:
    _, exercise = catalogue.find_exercise(catalogue.read_lessons(), given.what)
    hints = read_hints(ROOT, exercise, given.lang or hint_language())
    progress = Progress(ROOT)
    level = given.level or min(progress.of(exercise).get("hints", 0) + 1, len(hints))
    print(f"{exercise.short} {exercise.name}, hint {level} of {len(hints)}\n\n{hints[level - 1]}")
    if level < len(hints):
        print(f"\nmore: {program()} hint {exercise.short}")
    progress.add_hint(exercise, level)
    return faults.OK


def _solution(given: argparse.Namespace) -> int:
    _, exercise = catalogue.find_exercise(catalogue.read_lessons(), given.what)
    if not given.spoil and not Progress(ROOT).of(exercise).get("attempts"):
        raise CommandError(
            f"try {exercise.short} first: edit {exercise.file}, then {program()} grade"
            f" {exercise.short}; or say --spoil"
        )
    print(sources.solution_of(ROOT, exercise), end="")
    return faults.OK


def _reset(given: argparse.Namespace) -> int:
    lesson, exercise = catalogue.find(catalogue.read_lessons(), given.what)
    progress = Progress(ROOT)
    if not lesson.exercises:
        raise CommandError(f"{lesson.short} has no exercises", faults.NO_FILE)
    file = lesson.exercises[0].file
    kept = sources.put_back(ROOT, file, exercise)
    for each in [exercise] if exercise else lesson.exercises:
        progress.forget(each)
    print(f"{given.what} is as it was handed out; its progress is forgotten")
    if kept:
        print(f"what you wrote is kept in {kept.relative_to(ROOT)}")
    return faults.OK
