"""`python -m curriculum.experiments list|run|report`: ask a question of the harness.

Exit codes: 0 done, 1 a run came to nothing (the others are kept; run it again to go on), 64 usage,
65 the experiment is wrong, 66 it cannot be read, 69 something it needs is missing, 73 the folder
cannot be used, 74 no room, or nothing takes the output, 75 another process runs it, 130 interrupted
(run it again to go on), 141 nobody reads the output.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from curriculum.core.seams import CancelToken
from curriculum.core.visible import escape
from curriculum.experiments.harness import make_other_model
from curriculum.experiments.plan import Experiment, load_experiment, ready_names
from curriculum.experiments.pool import Dask, Ended, Fault, Here, Pool, Processes
from curriculum.experiments.report import show_summary, write_report
from curriculum.experiments.results import Results
from curriculum.experiments.settings import SETTINGS, ExperimentError
from curriculum.experiments.summary import level
from curriculum.trace.engines import MissingLibraryError, make_engine
from curriculum.trace.standard_streams import silence, standard_streams, tell_fault


class Parser(argparse.ArgumentParser):
    """A parser whose usage errors end with 64."""

    def error(self, message: str) -> NoReturn:
        print(f"experiments: {escape(message)}; see --help", file=sys.stderr)
        sys.exit(64)


def make_parser() -> Parser:
    """The command line."""
    parser = Parser(prog="experiments", description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="the ready experiments and their questions")
    listing.add_argument("--settings", action="store_true", help="every setting instead")
    run = commands.add_parser("run", help="do the runs that are not done yet, then report")
    report = commands.add_parser("report", help="report on the runs that are done")
    for command in (run, report):
        command.add_argument("experiment", metavar="FILE", help="a TOML file or a ready name")
        command.add_argument(
            "--out", metavar="FOLDER", help="default: .curriculum/experiments/NAME"
        )
    run.add_argument(
        "--jobs",
        metavar="N",
        type=_jobs,
        default=os.cpu_count() or 1,
        help="processes (default: %(default)s)",
    )
    run.add_argument(
        "--dask", metavar="ADDRESS", help="a Dask scheduler, or `local` for a cluster here"
    )
    run.add_argument("--record", action="store_true", help="keep every answer in FOLDER/cassettes")
    return parser


def _jobs(given: str) -> int:
    if not (given.isdecimal() and given.isascii()) or not 0 < int(given) <= 256:
        raise argparse.ArgumentTypeError(f"{given!r} is not a number from 1 to 256")
    return int(given)


# region: run
def run(experiment: Experiment, folder: Path, pool: Pool, is_recorded: bool) -> int:
    """Do what is not done yet, and report; returns the exit code. Raises ExperimentError."""
    results = Results(folder, experiment)
    try:
        tasks = experiment.tasks()
        left = [task for task in tasks if task.run_id not in results.rows]
        if len(left) < len(tasks):
            done = len(tasks) - len(left)
            print(f"experiments: {done} of {len(tasks)} runs are done already", file=sys.stderr)
        faults = 0
        for task, outcome in _with_progress(
            pool.run(left, is_recorded) if left else iter(()), left
        ):
            if isinstance(outcome, Fault):
                faults += 1
                if faults <= 10:
                    why = escape(f"{outcome.run_id}: {outcome.why}")
                    print(f"experiments: {why}", file=sys.stderr)
            else:
                results.commit(task, outcome)
        show_summary(experiment, write_report(folder, experiment, results.in_order()))
        print(f"{len(results.rows)} of {len(tasks)} runs; page: {folder / 'report.html'}")
        if faults:
            print(f"experiments: {faults} runs came to nothing; run it again", file=sys.stderr)
        return 1 if faults else 0
    finally:
        results.close()


# endregion


def _with_progress(ended: Iterator[Ended], left: Sequence[object]) -> Iterator[Ended]:
    """The same, with a bar on a terminal."""
    if not sys.stderr.isatty():
        yield from ended
        return
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:
        yield from ended
        return
    yield from track(ended, "runs", len(left), console=Console(stderr=True), transient=True)


def report(experiment: Experiment, folder: Path) -> int:
    """Report on what is there; returns the exit code. Raises ExperimentError."""
    if not (folder / "rows.jsonl").is_file():
        raise ExperimentError(f"{folder}: no results yet; run it first", 66)
    results = Results(folder, experiment)
    try:
        rows = results.in_order()
        show_summary(experiment, write_report(folder, experiment, rows))
        print(f"{len(rows)} of {len(experiment.tasks())} runs; page: {folder / 'report.html'}")
        return 0
    finally:
        results.close()


def show_list(is_settings: bool) -> int:
    """The ready experiments, or every setting."""
    if is_settings:
        for name, setting in SETTINGS.items():
            default = level(setting.default) if setting.default != "" else '""'
            told = f" ({', '.join(setting.choices)})" if setting.choices else ""
            print(f"{name:24} {default:14} {setting.about}{told}")
        return 0
    for name in ready_names():
        experiment = load_experiment(name)
        print(f"{name:20} {len(experiment.tasks()):5} runs  {experiment.question}")
    return 0


def check_models(experiment: Experiment) -> None:
    """Refuse what could only fail in every run. Raises ExperimentError."""
    try:
        make_engine()
    except MissingLibraryError as missing:
        raise ExperimentError(str(missing), 69) from None
    for task in experiment.tasks():
        if task.repetition == 1 and task.settings["model.kind"] != "scripted":
            make_other_model(task.settings, CancelToken())


def run_command(arguments: list[str]) -> int:
    """Do what the command line says; returns the exit code."""
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    with standard_streams():
        try:
            try:
                return _run_command(arguments)
            finally:
                sys.stdout.flush()
        except ExperimentError as fault:
            print(f"experiments: {escape(str(fault))}", file=sys.stderr)
            return fault.exit_code
        except KeyboardInterrupt:
            print("experiments: interrupted; run it again to go on", file=sys.stderr)
            return 130
        except BrokenPipeError:
            silence(sys.stdout)
            return 141
        except OSError as fault:
            tell_fault("experiments", fault)
            return 74


def _run_command(arguments: list[str]) -> int:
    given = make_parser().parse_args(arguments)
    if given.command == "list":
        return show_list(given.settings)
    experiment = load_experiment(given.experiment)
    folder = Path(given.out or Path(".curriculum") / "experiments" / experiment.name)
    if given.command == "report":
        return report(experiment, folder)
    check_models(experiment)
    pool: Pool = Processes(given.jobs) if given.jobs > 1 else Here()
    if given.dask:
        pool = Dask(given.dask, given.jobs)
    return run(experiment, folder, pool, given.record)
