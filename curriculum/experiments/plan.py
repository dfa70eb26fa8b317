"""An experiment as it is written down, and the runs that it comes to.

    name = "flaky-stream"
    question = "Does a retry policy rescue a flaky stream?"
    repetitions = 30
    seed = 1
    [settings.model]            # the same in every run
    steps = 6
    [matrix.retry]              # every combination of these is one cell
    attempts = [1, 2, 4]
    [report]
    metrics = ["completed", "requests"]
    x = "retry.attempts"

The same file gives the same runs, with the same ids, in the same order. Repetition n of every cell
has the same seed: cells differ by their settings, not by their luck.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from math import prod
from pathlib import Path
from typing import Any

from curriculum.core.whole_file import read_whole
from curriculum.experiments.cassette import cassette_bytes
from curriculum.experiments.metrics import METRICS
from curriculum.experiments.settings import (
    ONE_LINE,
    ExperimentError,
    Value,
    check_setting,
    complete,
    longest_seconds,
    text,
)

READY = resources.files("curriculum.experiments") / "ready"
MOST_RUNS = 100_000
MOST_SECONDS = 365 * 24 * 3600  # of a run: a virtual clock has no end, the times of a trace have
MOST_BYTES = 1024 * 1024  # of a file
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_KEYS = {"name", "question", "about", "repetitions", "seed", "settings", "matrix", "skip", "report"}


@dataclass(frozen=True)
class Task:
    """One run: an id, the cell it belongs to, its repetition, its seed and all its settings."""

    run_id: str
    cell: tuple[Value, ...]
    repetition: int
    seed: int
    settings: Mapping[str, Value]


@dataclass(frozen=True)
class Experiment:
    """A checked experiment. `axes` are the names in the matrix, in the order of the file."""

    name: str
    question: str
    about: str
    repetitions: int
    seed: int
    fixed: Mapping[str, Value]
    axes: tuple[str, ...]
    levels: tuple[tuple[Value, ...], ...]
    skip: tuple[Mapping[str, Value], ...]
    metrics: tuple[str, ...]
    x: str
    folder: Path = Path()  # of its file: a cassette is looked for from there

    # region: tasks
    def cells(self) -> list[tuple[Value, ...]]:
        """Every combination that is not skipped."""
        return [cell for cell in itertools.product(*self.levels) if not self._is_skipped(cell)]

    def tasks(self) -> list[Task]:
        """Every run, in order."""
        found = []
        for number, cell in enumerate(self.cells(), 1):
            settings = self._placed(cell)
            for repetition in range(1, self.repetitions + 1):
                digest = hashlib.sha256(f"{self.seed}/{repetition}".encode()).digest()
                seed = int.from_bytes(digest[:6], "big")
                run_id = f"{self.name}-{number:03}-{repetition:03}"
                found.append(Task(run_id, cell, repetition, seed, settings))
        return found

    # endregion

    def settings(self, cell: tuple[Value, ...]) -> dict[str, Value]:
        """All settings of the runs of a cell, as they are written."""
        return complete({**self.fixed, **dict(zip(self.axes, cell, strict=True))})

    def _placed(self, cell: tuple[Value, ...]) -> dict[str, Value]:
        """The same, with the cassette where it is."""
        settings = self.settings(cell)
        if tape := text(settings, "model.cassette"):
            settings["model.cassette"] = str((self.folder / tape).resolve())
        return settings

    def _is_skipped(self, cell: tuple[Value, ...]) -> bool:
        named = dict(zip(self.axes, cell, strict=True))
        return any(all(named[name] == value for name, value in rule.items()) for rule in self.skip)

    def fingerprint(self) -> str:
        """A digest of everything that decides what the runs are, also of what cassettes hold.

        Raises ExperimentError for a cassette that cannot be read.
        """
        data = [self.name, self.seed, self.repetitions, dict(self.fixed), self.axes, self.levels]
        data.append([dict(rule) for rule in self.skip])
        for tape in self._tapes():
            data.append(hashlib.sha256(cassette_bytes(tape)).hexdigest())
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]

    def _tapes(self) -> list[str]:
        """The cassettes that are played, in the order of the cells."""
        settings = map(self._placed, self.cells())
        played = (each for each in settings if each["model.kind"] == "recorded")
        return list(dict.fromkeys(text(each, "model.cassette") for each in played))


def ready_names() -> list[str]:
    """The experiments that come with the package."""
    names = (entry.name for entry in READY.iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def load_experiment(source: str) -> Experiment:
    """An experiment from a file, or a ready one by its name. Raises ExperimentError."""
    packaged = READY / f"{source}.toml"
    if "/" not in source and packaged.is_file():
        return read_experiment(packaged.read_text("utf-8"), source, Path())
    try:
        content = read_whole(source, MOST_BYTES).decode()
    except (OSError, ValueError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "not UTF-8 text"
        names = ", ".join(ready_names())
        raise ExperimentError(f"{source}: {why}; give a TOML file or one of: {names}", 66) from None
    return read_experiment(content, source, Path(source).parent)


def read_experiment(content: str, where: str, folder: Path) -> Experiment:
    """The experiment that the text describes. Raises ExperimentError."""
    try:
        data = tomllib.loads(content)
    except (ValueError, RecursionError) as fault:  # also of numbers with too many digits
        raise ExperimentError(f"{where}: no TOML ({fault}); correct it") from None
    if unknown := sorted(data.keys() - _KEYS):
        raise ExperimentError(f"{where}: unknown {unknown[0]!r}; known are {sorted(_KEYS)}")
    name = _text(data, "name", where)
    if not _NAME.fullmatch(name):
        raise ExperimentError(f"{where}: name must be made of a-z, 0-9 and -, at most 64")
    fixed = {
        key: check_setting(key, value, where)
        for key, value in _flat(data.get("settings", {}), where, "settings").items()
    }
    matrix = _flat(data.get("matrix", {}), where, "matrix")
    levels = tuple(_levels(key, values, where) for key, values in matrix.items())
    if (count := prod(map(len, levels))) > MOST_RUNS:  # before anything goes through them all
        raise ExperimentError(
            f"{where}: the matrix has {count} cells; there may be at most {MOST_RUNS}"
        )
    if both := fixed.keys() & matrix.keys():
        raise ExperimentError(f"{where}: {sorted(both)[0]} is both fixed and in the matrix")
    report = data.get("report", {})
    metrics, x = _report(report, tuple(matrix), where)
    found = Experiment(
        name,
        _text(data, "question", where),
        _about(data, where),
        _count(data, "repetitions", 1, 10_000, where),
        _count(data, "seed", 1, 2**31, where),
        fixed,
        tuple(matrix),
        levels,
        tuple(_skips(data.get("skip", []), matrix, where)),
        metrics,
        x,
        folder,
    )
    if not 0 < len(found.cells()) * found.repetitions <= MOST_RUNS:
        runs = len(found.cells()) * found.repetitions
        raise ExperimentError(f"{where}: this is {runs} runs; there may be 1 to {MOST_RUNS}")
    longest = max(longest_seconds(found.settings(cell)) for cell in found.cells())
    if longest > MOST_SECONDS:
        raise ExperimentError(
            f"{where}: a run may take up to {longest} s, waiting and working; it may be at most "
            f"{MOST_SECONDS}: lower steps, turns or a time"
        )
    return found


def _flat(tables: object, where: str, what: str) -> dict[str, Any]:
    """`{"retry": {"attempts": 4}}` as `{"retry.attempts": 4}`."""
    if not isinstance(tables, dict) or not all(isinstance(t, dict) for t in tables.values()):
        raise ExperimentError(f"{where}: {what} must be tables such as [{what}.retry]")
    return {
        f"{section}.{field}": value
        for section, table in tables.items()
        for field, value in table.items()
    }


def _levels(name: str, values: object, where: str) -> tuple[Value, ...]:
    if not isinstance(values, list) or not values:
        raise ExperimentError(f"{where}: {name} in the matrix must be a list of values")
    levels = tuple(check_setting(name, value, where) for value in values)
    if len(set(levels)) != len(levels):
        raise ExperimentError(f"{where}: {name} in the matrix names a value twice")
    return levels


def _skips(rules: object, matrix: Mapping[str, Any], where: str) -> list[dict[str, Value]]:
    if not isinstance(rules, list):
        raise ExperimentError(f"{where}: skip must be tables such as [[skip]]")
    found = [_flat(rule, where, "skip") for rule in rules]
    for rule in found:
        for name, value in rule.items():
            if name not in matrix:
                raise ExperimentError(f"{where}: skip names {name!r}, which is not in the matrix")
            if check_setting(name, value, where) not in matrix[name]:
                raise ExperimentError(f"{where}: skip: {name} is never {value!r} in the matrix")
    return found


def _report(report: object, axes: tuple[str, ...], where: str) -> tuple[tuple[str, ...], str]:
    if not isinstance(report, dict) or report.keys() - {"metrics", "x"}:
        raise ExperimentError(f"{where}: [report] takes metrics and x")
    metrics = report.get("metrics", ["completed"])
    if not isinstance(metrics, list) or not metrics:
        raise ExperimentError(f"{where}: metrics must be a list of them, not {metrics!r}")
    for metric in metrics:
        if not isinstance(metric, str) or metric not in METRICS:
            raise ExperimentError(
                f"{where}: there is no metric {metric!r}; there are {', '.join(METRICS)}"
            )
        if metrics.count(metric) > 1:
            raise ExperimentError(f"{where}: metrics names {metric} twice")
    x = report.get("x", axes[0] if axes else "")
    if x not in (axes or ("",)):
        raise ExperimentError(f"{where}: x must be in the matrix: {', '.join(axes)}")
    return tuple(metrics), str(x)


def _text(data: Mapping[str, Any], name: str, where: str) -> str:
    value = data.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ExperimentError(f"{where}: {name} is missing; it must be text")
    if not value.strip().isprintable():
        raise ExperimentError(f"{where}: {name} must be {ONE_LINE}")
    return value.strip()


def _about(data: Mapping[str, Any], where: str) -> str:
    about = data.get("about", "")
    if not isinstance(about, str):
        raise ExperimentError(f"{where}: about must be text")
    if not about.replace("\n", "").isprintable():
        raise ExperimentError(f"{where}: about has a control character in it; take it out")
    return about.strip()


def _count(data: Mapping[str, Any], name: str, least: int, most: int, where: str) -> int:
    value = data.get(name, 1)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ExperimentError(f"{where}: {name} must be a whole number from {least} to {most}")
    return value
