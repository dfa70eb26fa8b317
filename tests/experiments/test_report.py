"""What a reader is given: tables with types, plots, a page, and a summary on a terminal."""

from __future__ import annotations

import csv
import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pexpect
import pyarrow
import pytest
from pyarrow import parquet

from curriculum.experiments.plan import Task
from curriculum.experiments.plot import COLOURS, plot
from curriculum.experiments.results import Row, as_parquet
from curriculum.experiments.summary import summarise
from tests.experiments.parts import ROOT, SMALL, command, experiment

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def row_of(task: Task, **more: object) -> Row:
    cell = dict(zip(experiment().axes, task.cell, strict=True))
    return {"run_id": task.run_id, **cell, "repetition": 1, "seed": 2, "stop": "x", **more}


def test_parquet_holds_the_rows_of_the_csv_with_their_types(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert command("run", str(file), "--out", str(out), "--jobs", "1").returncode == 0
    table = parquet.read_table(out / "results.parquet")
    with open(out / "results.csv", newline="") as told:
        reader = csv.DictReader(told)
        rows = list(reader)
        assert table.column_names == reader.fieldnames
    text = [
        {name: "" if value is None else str(value) for name, value in row.items()}
        for row in table.to_pylist()
    ]
    assert text == rows
    kinds = {name: table.schema.field(name).type for name in table.column_names}
    assert kinds["run_id"] == kinds["stop"] == kinds["error"] == pyarrow.string()
    for name in ("fault.drop_percent", "repetition", "seed", "completed", "requests", "real_us"):
        assert kinds[name] == pyarrow.int64(), name
    for name in ("elapsed_ms", "retry_ms", "facts_kept", "real_journal_us"):
        assert kinds[name] == pyarrow.float64(), name
    errors = table.column("error").to_pylist()
    assert None in errors
    assert any(str(error).startswith("model: the stream was dropped") for error in errors)


def test_in_parquet_a_metric_that_a_run_lacks_is_null_and_a_flag_is_a_boolean() -> None:
    text = SMALL.replace("[matrix.fault]\ndrop_percent = [0, 50]", "[matrix.fault]\ncrash = [true]")
    found = experiment(text.replace('"fault.drop_percent"', '"fault.crash"'))
    one, other = found.tasks()[:2]
    base = {"fault.crash": True, "retry.attempts": 1, "repetition": 1, "seed": 2, "stop": "x"}
    rows = [
        {"run_id": one.run_id, **base, "error": "", "completed": 1, "elapsed_ms": 2},
        {
            "run_id": other.run_id,
            **base,
            "error": "no",
            "completed": 0,
            "elapsed_ms": 2.5,
            "syncs": 3,
        },
    ]
    table = parquet.read_table(pyarrow.BufferReader(as_parquet(rows, found.axes)))
    assert table.column("syncs").to_pylist() == [None, 3]
    assert table.column("elapsed_ms").to_pylist() == [2.0, 2.5]
    assert table.column("error").to_pylist() == [None, "no"]
    assert table.schema.field("fault.crash").type == pyarrow.bool_()
    nullable = {field.name for field in table.schema if field.nullable}
    assert nullable == {"error", "completed", "elapsed_ms", "syncs"}


def test_no_rows_are_an_empty_table_with_types() -> None:
    table = parquet.read_table(pyarrow.BufferReader(as_parquet([], experiment().axes)))
    assert table.num_rows == 0
    assert table.schema.field("retry.attempts").type == pyarrow.int64()
    assert table.schema.field("error").type == pyarrow.string()


@pytest.mark.parametrize(
    ("absent", "told", "files"),
    [
        (["pyarrow"], "results.parquet (pyarrow)", {"plots", "results.csv"}),
        (["matplotlib"], "plots (matplotlib)", {"results.csv", "results.parquet"}),
        (
            ["pyarrow", "matplotlib"],
            "results.parquet (pyarrow) and plots (matplotlib)",
            {"results.csv"},
        ),
    ],
)
def test_without_a_library_the_rest_is_written_and_one_line_says_what_is_not(
    absent: list[str], told: str, files: set[str], file: Path, tmp_path: Path
) -> None:
    for name in absent:
        (tmp_path / "stub" / name).mkdir(parents=True)
        (tmp_path / "stub" / name / "__init__.py").write_text("raise ImportError('not here')\n")
    out, path = tmp_path / "out", f"{tmp_path / 'stub'}:{ROOT}"
    ended = command("run", str(file), "--out", str(out), "--jobs", "1", PYTHONPATH=path)
    assert ended.returncode == 0
    assert ended.stderr == (
        f"experiments: without {told}; run `make locked` in a checkout, then `report` "
        "with .venv/bin/python\n"
    )
    left = {"plots", "results.csv", "results.parquet"} & {p.name for p in out.iterdir()}
    assert left - {"plots"} | ({"plots"} if any((out / "plots").iterdir()) else set()) == files
    assert ("<svg" in (out / "report.html").read_text()) == ("matplotlib" not in absent)


def test_a_plot_is_the_same_whatever_home_and_settings_of_other_plots_say(
    file: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / ".config" / "matplotlib").mkdir(parents=True)
    (home / ".config" / "matplotlib" / "matplotlibrc").write_text("font.size: 30\nno.such: 1\n")
    pages = []
    for number, where in enumerate((str(home), "/proc/nothing")):
        out = tmp_path / str(number)
        ended = command("run", str(file), "--out", str(out), "--jobs", "1", HOME=where)
        assert (ended.returncode, ended.stderr) == (0, "")
        pages.append((out / "report.html").read_bytes())
    assert pages[0] == pages[1]


def test_a_plot_names_its_series_and_has_a_whisker_where_there_is_an_interval() -> None:
    found = experiment()
    rows = [row_of(task, completed=int(task.repetition > 1), requests=7) for task in found.tasks()]
    lines = summarise(found, rows)
    certain, open_ = (ET.fromstring(plot(found, lines, m)) for m in ("requests", "completed"))
    texts = {element.text for element in certain.iter() if element.text}
    assert {"retry.attempts 1", "retry.attempts 3", "fault.drop_percent", "0", "50"} <= texts
    assert certain.findtext(f"{SVG}title") == "requests by fault.drop_percent"

    def whiskers(root: ET.Element) -> list[float]:
        paths = [path for path in root.iter(f"{SVG}path") if "stroke: #" in path.get("style", "")]
        ends = [path.get("d", "").split() for path in paths]
        ends = [end for end in ends if len(end) == 6 and end[1] == end[4]]  # M x y L x y
        return sorted(abs(float(end[2]) - float(end[5])) for end in ends)

    assert sum(height > 20 for height in whiskers(open_)) == 4
    assert sum(height > 20 for height in whiskers(certain)) == 0


@pytest.mark.parametrize(
    ("axis", "is_joined"), [("[matrix.fault]\ndrop_percent = [0, 50]", True), ("", False)]
)
def test_a_line_joins_points_of_a_scale_and_none_of_words(axis: str, is_joined: bool) -> None:
    words = '[matrix.model]\nname = ["one", "other"]'
    found = experiment(f'name = "a"\nquestion = "b?"\n{axis or words}\n')
    lines = summarise(
        found,
        [
            {
                "run_id": task.run_id,
                "repetition": 1,
                "seed": 2,
                "stop": "x",
                "completed": 1,
                **dict(zip(found.axes, task.cell, strict=True)),
            }
            for task in found.tasks()
        ],
    )
    paths = ET.fromstring(plot(found, lines, "completed")).iter(f"{SVG}path")
    drawn = [path.get("d", "").split() for path in paths if COLOURS[0] in path.get("style", "")]
    assert any(abs(float(d[1]) - float(d[4])) > 50 for d in drawn if len(d) == 6) is is_joined


def test_names_are_neither_mathematics_in_a_plot_nor_formulas_in_a_spreadsheet(
    tmp_path: Path,
) -> None:
    file, out = tmp_path / "a.toml", tmp_path / "out"
    file.write_text(
        'name = "a"\nquestion = "$\\\\bad{?"\n[matrix.model]\nname = ["$\\\\bad{$", "=1+1"]\n',
        "utf-8",
    )
    ended = command("run", str(file), "--out", str(out), "--jobs", "1")
    assert (ended.returncode, ended.stderr) == (0, "")
    with open(out / "results.csv", newline="") as told:
        assert [row["model.name"] for row in csv.DictReader(told)] == ["$\\bad{$", "'=1+1"]
    assert "$\\bad{$" in (out / "plots" / "completed.svg").read_text("utf-8")


def test_a_plot_of_nothing_but_zeros_has_no_numbers_below_zero() -> None:
    found = experiment()
    rows = [row_of(task, requests=0) for task in found.tasks()]
    root = ET.fromstring(plot(found, summarise(found, rows), "requests"))
    texts = [element.text or "" for element in root.iter(f"{SVG}text")]
    assert "1" in texts
    assert not any(text.startswith(("-", "\N{MINUS SIGN}")) for text in texts)


def test_a_metric_that_no_run_has_is_no_plot() -> None:
    found = experiment()
    assert plot(found, summarise(found, [row_of(task) for task in found.tasks()]), "effects") == ""


def on_a_terminal(file: Path, out: Path, columns: int) -> pexpect.spawn[str]:
    arguments = ["-m", "curriculum.experiments", "run", str(file), "--out", str(out)]
    return pexpect.spawn(
        sys.executable,
        [*arguments, "--jobs", "1"],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "TERM": "xterm-256color", "LANG": "C.UTF-8"},
        dimensions=(40, columns),
        encoding="utf-8",
        timeout=60,
    )


def test_on_a_terminal_there_is_a_bar_while_it_runs_and_then_a_table_with_intervals(
    file: Path, tmp_path: Path
) -> None:
    running = on_a_terminal(file, tmp_path / "out", 120)
    running.expect("runs [^\n]*100%")
    running.expect("┃.*fault.drop_percent")
    running.expect(r"│ 0 +│ 1 +│ 3 +│ 1 \(0\.\d+ to 1\)")
    running.expect("12 of 12 runs; page: ")
    running.expect(pexpect.EOF)
    running.close()
    assert running.exitstatus == 0
    assert len((tmp_path / "out" / "rows.jsonl").read_bytes().splitlines()) == 12
    assert json.loads((tmp_path / "out" / "plan.json").read_bytes())["name"] == "small"


def test_on_a_terminal_without_room_for_the_table_each_row_is_a_block(
    file: Path, tmp_path: Path
) -> None:
    running = on_a_terminal(file, tmp_path / "out", 70)
    running.expect("12 of 12 runs; page: ")
    text = str(running.before)
    running.expect(pexpect.EOF)
    assert "fault.drop_percent 50, retry.attempts 3\r\n  runs " in text
    assert re.search(r"\r\n  completed +1 \(0\.\d+ to 1\)\r\n", text)
    block = text.partition("fault.drop_percent 0")[2]
    assert not set("…│┃") & set(block)
    assert max(map(len, block.split("\r\n"))) <= 70
