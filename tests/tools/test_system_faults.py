"""The system fails where it may: a read, the moment after a rename, a look at the processes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from curriculum.core.tools import ToolResult
from curriculum.tools import edit_file as edit_module
from curriculum.tools import folder as folder_module
from curriculum.tools import survivors
from curriculum.tools.edit_file import EditFile
from curriculum.tools.read_file import ReadFile
from tests.tools.running import running_call


def test_a_disk_that_cannot_be_read_is_a_failed_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_text("text")

    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    reader, editor = ReadFile(str(tmp_path)), EditFile(str(tmp_path))
    read = reader.prepare('{"path": "f"}')
    edit = editor.prepare('{"path": "f", "old": "t", "new": "T"}')
    monkeypatch.setattr(folder_module.os, "read", fail)
    results = [reader.execute(read, running_call()), editor.execute(edit, running_call())]
    monkeypatch.undo()
    assert results == [
        ToolResult("failed", "nothing was read: Input/output error"),
        ToolResult("failed", "nothing was changed: Input/output error"),
    ]


def test_an_interrupt_right_after_the_rename_is_an_interrupt_of_a_whole_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_text("before")
    replace = os.replace

    def replace_and_interrupt(*names: str, **folders: int) -> None:
        replace(*names, **folders)
        raise KeyboardInterrupt

    editor = EditFile(str(tmp_path))
    prepared = editor.prepare('{"path": "f", "old": "before", "new": "after"}')
    monkeypatch.setattr(edit_module.os, "replace", replace_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        editor.execute(prepared, running_call())
    monkeypatch.undo()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("f", "after")]


def test_linux_shows_its_processes() -> None:
    assert survivors.can_look()
    assert os.getpid() in [member.pid for member in survivors.snapshot(os.getsid(0))]
