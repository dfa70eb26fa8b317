"""Goldens are the bytes of the demos, wherever and whenever these run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import golden

# Hash seed and time zone vary together: three of each, every pair in both directories.
WORLDS = [("0", "UTC"), ("1", "Pacific/Kiritimati"), ("4294967295", "America/St_Johns")]


@pytest.mark.parametrize("lesson", golden.lessons_with_demo())
@pytest.mark.parametrize(("seed", "zone"), WORLDS)
@pytest.mark.parametrize("elsewhere", [False, True], ids=["checkout", "elsewhere"])
def test_demo_prints_its_golden_bytes(
    lesson: str, seed: str, zone: str, elsewhere: bool, tmp_path: Path
) -> None:
    cwd = tmp_path if elsewhere else golden.ROOT
    trace = golden.trace_of_demo(lesson, cwd, {"PYTHONHASHSEED": seed, "TZ": zone})
    golden.compare(lesson, trace)
    assert list(tmp_path.iterdir()) == []


def test_lessons_are_found() -> None:
    assert "s01_agent_loop" in golden.lessons_with_demo()


def test_every_golden_has_its_demo() -> None:
    assert golden.strays() == []


def test_goldens_end_each_line_with_a_bare_newline() -> None:
    for path in golden.GOLDEN.glob("*.jsonl"):
        data = path.read_bytes()
        assert data.endswith(b"}\n"), path.name
        assert b"\r" not in data, path.name


def test_a_changed_byte_is_named_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "s01.jsonl").write_bytes(b"{1}\n{2}\n")
    golden.compare("s01", b"{1}\n{2}\n", tmp_path)
    with pytest.raises(golden.GoldenError, match="line 2 differs"):
        golden.compare("s01", b"{1}\n{3}\n", tmp_path)
    with pytest.raises(golden.GoldenError, match="line 3 differs"):
        golden.compare("s01", b"{1}\n{2}\n{3}\n", tmp_path)
    with pytest.raises(golden.GoldenError, match="is missing"):
        golden.compare("s02", b"{1}\n", tmp_path)


def test_writing_anew_tells_which_traces_have_changed(tmp_path: Path) -> None:
    folder = tmp_path / "golden"
    assert golden.write("s01", b"{1}\n", folder)
    assert not golden.write("s01", b"{1}\n", folder)
    assert golden.write("s01", b"{2}\n", folder)
    assert (folder / "s01.jsonl").read_bytes() == b"{2}\n"
    assert golden.summary({"s01": False, "s02": True}) == "2 traces, 1 changed: s02"
    assert golden.summary({"s01": False}) == "1 trace, 0 changed"


def test_a_demo_that_fails_gives_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "curriculum" / "lessons" / "s01_x"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent, folder.parent.parent):
        (package / "__init__.py").touch()
    (folder / "demo.py").write_text("raise ValueError('broken on purpose')\n")
    assert golden.lessons_with_demo(tmp_path) == ["s01_x"]
    with pytest.raises(golden.GoldenError, match=r"exit code 1: ValueError: broken on purpose$"):
        golden.trace_of_demo("s01_x", tmp_path, root=tmp_path)
    (folder / "demo.py").write_text("print('text only')\n")
    with pytest.raises(golden.GoldenError, match="printed no trace"):
        golden.trace_of_demo("s01_x", tmp_path, root=tmp_path)
