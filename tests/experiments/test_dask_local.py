"""`--dask local`: a cluster of this machine's own processes, begun and ended by the command."""

from __future__ import annotations

from pathlib import Path

from tests.experiments.parts import SMALL, command
from tests.experiments.test_run import contents, rows_of


def test_a_cluster_of_its_own_gives_the_same_results_and_leaves_nothing_behind(
    tmp_path: Path,
) -> None:
    file, work = tmp_path / "small.toml", tmp_path / "work"
    file.write_text(SMALL)
    work.mkdir()
    here, there = tmp_path / "here", tmp_path / "there"
    assert command("run", str(file), "--out", str(here), "--jobs", "1").returncode == 0
    ended = command(
        *("run", str(file), "--out", str(there), "--dask", "local", "--jobs", "1"),
        cwd=work,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.endswith(f"12 of 12 runs; page: {there / 'report.html'}\n")
    assert (rows_of(there), contents(there)) == (rows_of(here), contents(here))
    assert list(work.iterdir()) == []
