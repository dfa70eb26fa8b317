"""The folder of an experiment: which runs are done is what `rows.jsonl` says, and nothing else.

One process writes, under a lock. A run's trace is put in place first, whole; then its row is
appended, and from then on the run is done. So a kill at any point leaves rows that are whole, or
one torn tail that is cut off at the next start, and no run is kept twice. (Nothing is synced: that
a machine goes down is worth doing some runs again, and not a wait for the disk in each of them.)
"""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from curriculum.experiments.metrics import METRICS
from curriculum.experiments.perform import Outcome
from curriculum.experiments.plan import Experiment, Task
from curriculum.experiments.settings import ExperimentError

Row = Mapping[str, Any]


class Results:
    """The folder while an experiment runs. Raises ExperimentError if it cannot be used."""

    def __init__(self, folder: Path, experiment: Experiment) -> None:
        self.folder, self._experiment = folder, experiment
        self.rows: dict[str, Row] = {}
        try:
            (folder / "traces").mkdir(parents=True, exist_ok=True)
            self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ExperimentError(
                    f"{folder}: another process runs this experiment; wait for it", 75
                ) from None
            self._check_plan()
            self._fd = os.open(folder / "rows.jsonl", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            self._load()
        except OSError as fault:
            raise ExperimentError(f"{folder}: {fault.strerror}; give another --out", 73) from None

    def _check_plan(self) -> None:
        plan = self.folder / "plan.json"
        told = {"name": self._experiment.name, "fingerprint": self._experiment.fingerprint()}
        if plan.exists():
            if plan.read_bytes() != (json.dumps(told) + "\n").encode():
                raise ExperimentError(
                    f"{self.folder}: holds results of another experiment, or of another version of "
                    "this one; give another --out or remove it",
                    73,
                )
        else:
            replace_file(plan, (json.dumps(told) + "\n").encode())

    def _load(self) -> None:
        """Read the rows, and cut off a last one that is not whole."""
        with open(self._fd, "rb", closefd=False) as file:
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        os.ftruncate(self._fd, len(whole))
        os.lseek(self._fd, 0, os.SEEK_END)
        for number, line in enumerate(whole.split(b"\n")[:-1], 1):
            try:
                row = json.loads(line)
                self.rows[row["run_id"]] = row
            except (ValueError, TypeError, KeyError):
                raise ExperimentError(
                    f"{self.folder / 'rows.jsonl'}: line {number} is no row; put the file right, "
                    "or give another --out",
                    73,
                ) from None

    # region: commit
    def commit(self, task: Task, outcome: Outcome) -> None:
        """A run is done. Raises ExperimentError if that could not be kept."""
        if outcome.run_id in self.rows:
            raise AssertionError(f"{outcome.run_id} was done before")
        row = {
            "run_id": outcome.run_id,
            **dict(zip(self._experiment.axes, task.cell, strict=True)),
            "repetition": task.repetition,
            "seed": task.seed,
            "stop": outcome.stop,
            "error": outcome.error,
            **outcome.metrics,
        }
        try:
            if outcome.cassette:
                (self.folder / "cassettes").mkdir(exist_ok=True)
                replace_file(
                    self.folder / "cassettes" / f"{outcome.run_id}.jsonl", outcome.cassette
                )
            replace_file(self.folder / "traces" / f"{outcome.run_id}.jsonl", outcome.trace)
            line = json.dumps(row, ensure_ascii=False).encode() + b"\n"
            while line:
                line = line[os.write(self._fd, line) :]
        except OSError as fault:
            raise ExperimentError(
                f"{self.folder}: {fault.strerror}; make room and run it again: it goes on", 74
            ) from None
        self.rows[outcome.run_id] = row

    # endregion

    def in_order(self) -> list[Row]:
        """The rows of the runs that are done, in the order of the experiment."""
        return [self.rows[t.run_id] for t in self._experiment.tasks() if t.run_id in self.rows]

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self._fd)
        os.close(self._lock)


def replace_file(path: Path, data: bytes) -> None:
    """Put a file in place, whole. Raises OSError."""
    half = path.with_name(f".{path.name}.part")
    with open(half, "wb") as file:
        file.write(data)
    os.replace(half, path)


# region: tables
def as_csv(rows: Sequence[Row], axes: Sequence[str]) -> bytes:
    """The rows as CSV: a header, LF at the ends of lines, empty where a run has no such metric."""
    file = io.StringIO()
    writer = csv.DictWriter(file, _columns(rows, axes), lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return file.getvalue().encode()


def _cell(value: object) -> object:
    """Text that a spreadsheet does not take for a formula."""
    if isinstance(value, str) and value[:1] in tuple("=+-@\t\r"):
        return f"'{value}"
    return str(value).lower() if isinstance(value, bool) else value


def as_parquet(rows: Sequence[Row], axes: Sequence[str]) -> bytes:
    """The same table as Parquet, with types; null for no error. Raises ImportError.

    A column is of bool, string, int64, or float64 if any of its numbers is no whole one by nature.
    """
    pyarrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    columns = {name: [row.get(name) for row in rows] for name in _columns(rows, axes)}
    columns["error"] = [error or None for error in columns["error"]]
    types = {bool: pyarrow.bool_(), str: pyarrow.string(), float: pyarrow.float64()}
    fields = []
    for name, values in columns.items():
        kinds = {type(value) for value in values if value is not None}
        kind = next((types[kind] for kind in types if kind in kinds), pyarrow.int64())
        is_text = name in ("run_id", "stop", "error")
        is_always = name in ("run_id", "repetition", "seed", "stop", *axes)
        fields.append(
            pyarrow.field(name, pyarrow.string() if is_text else kind, nullable=not is_always)
        )
    file = io.BytesIO()
    parquet.write_table(pyarrow.table(columns, pyarrow.schema(fields)), file)
    return file.getvalue()


def _columns(rows: Sequence[Row], axes: Sequence[str]) -> list[str]:
    used = [name for name in METRICS if any(name in row for row in rows)]
    return ["run_id", *axes, "repetition", "seed", "stop", "error", *used]


# endregion
