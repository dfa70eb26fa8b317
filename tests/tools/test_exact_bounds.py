"""At the bound itself: the last byte, the first one, the one line end, the longest file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curriculum.core.tools import ToolResult
from curriculum.tools.edit_file import EditFile
from curriculum.tools.read_file import ReadFile
from tests.tools.running import running_call


def read(root: Path, limit: int = 64 * 1024) -> ToolResult:
    tool = ReadFile(str(root), limit)
    return tool.execute(tool.prepare('{"path": "f"}'), running_call())


def edit(root: Path, old: str, new: str, limit: int = 1024 * 1024) -> ToolResult:
    tool = EditFile(str(root), limit)
    arguments = json.dumps({"path": "f", "old": old, "new": new})
    return tool.execute(tool.prepare(arguments), running_call())


@pytest.mark.parametrize(("limit", "whole"), [(97, 32), (98, 32), (99, 32), (100, 33)])
def test_a_limit_within_a_character_leaves_that_character_out(
    tmp_path: Path, limit: int, whole: int
) -> None:
    (tmp_path / "f").write_text("x" + "世" * 1000)
    assert read(tmp_path, limit).output == "x" + "世" * whole


def test_a_file_that_ends_within_a_character_is_no_text_however_it_is_cut(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"ab\xffcd")
    said = "nothing was read: it is not UTF-8 text: byte 0xff at offset 2"
    assert read(tmp_path, 4).output == read(tmp_path).output == said


def test_one_byte_more_than_the_limit_is_enough_to_be_cut(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x" * 65_536)
    assert not read(tmp_path).truncated
    (tmp_path / "f").write_text("x" * 65_537)
    cut = read(tmp_path)
    assert (cut.truncated, len(cut.output)) == (True, 65_536)
    assert cut.notes == ("the file has 65537 bytes; this is its beginning",)


def test_a_nul_at_the_very_beginning_is_found(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\0abc")
    assert read(tmp_path).output == "nothing was read: it is not text: a NUL byte at offset 0"


def test_a_file_of_many_pieces_is_edited_as_one(tmp_path: Path) -> None:
    text = "a" * 100_000 + "b" + "c" * 100_000
    (tmp_path / "f").write_text(text)
    assert edit(tmp_path, "ab", "xy") == ToolResult("completed", "replaced at line 1")
    assert (tmp_path / "f").read_text() == text.replace("ab", "xy")


def test_a_file_of_just_the_limit_may_be_edited_to_just_the_limit(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("b" + "a" * 99)
    assert edit(tmp_path, "b", "c", limit=100).status == "completed"
    assert (tmp_path / "f").read_text() == "c" + "a" * 99


@pytest.mark.parametrize(
    ("data", "old", "new", "output"),
    [
        ("abc", "b", "x\ny", "replaced at line 1"),
        ("a\r\nb\nc", "c", "x\ny", "replaced at line 3"),
        ("a\r\nb\nc", "c", "x\r\ny", "replaced at line 3"),
        (
            "a\r\n",
            "a",
            "x\ny",
            "nothing was changed: the lines of this file end with \\r\\n, those of new do not",
        ),
        ("a\r\n", "a", "x\r\ny", "replaced at line 1"),
        ("a\nb", "x\ny", "z", "nothing was changed: old is not in the file"),
        ("a\r\nb\nc", "a\nb", "z", "nothing was changed: old is not in the file"),
        ("a\r\nb", "x", "z", "nothing was changed: old is not in the file"),
        (
            "a\r\nb",
            "a\nb",
            "z",
            "nothing was changed: old is not in the file; the lines of this file end with \\r\\n",
        ),
    ],
)
def test_line_ends_are_held_where_all_are_alike(
    tmp_path: Path, data: str, old: str, new: str, output: str
) -> None:
    (tmp_path / "f").write_bytes(data.encode())
    assert edit(tmp_path, old, new).output == output
