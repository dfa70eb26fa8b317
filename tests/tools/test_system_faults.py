"""What the system is asked for, and where it fails: reads, new files, their owners, processes."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import SimpleNamespace

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


def test_nobody_else_can_read_new_content_before_it_has_the_mode_of_the_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_text("before")
    (tmp_path / "f").chmod(0o644)
    modes: list[int] = []
    write_all = edit_module._write_all

    def look(file: int, data: bytes) -> None:
        modes.append(stat.S_IMODE(os.fstat(file).st_mode))
        write_all(file, data)

    monkeypatch.setattr(edit_module, "_write_all", look)
    editor = EditFile(str(tmp_path))
    prepared = editor.prepare('{"path": "f", "old": "before", "new": "after"}')
    umask = os.umask(0)
    try:
        assert editor.execute(prepared, running_call()).status == "completed"
    finally:
        os.umask(umask)
    assert modes == [0o600]
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o644


@pytest.mark.parametrize("is_link", [True, False])
def test_what_stands_where_the_new_file_should_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_link: bool
) -> None:
    """Its name is random; whoever guesses it all the same is not written to."""
    (tmp_path / "f").write_text("before")
    (tmp_path / "secret").write_text("secret")
    beside = tmp_path / ".edit-guessed.tmp"
    if is_link:
        beside.symlink_to("secret")
    else:
        beside.write_text("secret")
    monkeypatch.setattr(edit_module.secrets, "token_hex", lambda size: "guessed")
    editor = EditFile(str(tmp_path))
    prepared = editor.prepare('{"path": "f", "old": "before", "new": "after"}')
    result = editor.execute(prepared, running_call())
    assert result == ToolResult("failed", "nothing was changed: File exists")
    assert (tmp_path / "f").read_text() == "before"
    assert beside.read_text() == (tmp_path / "secret").read_text() == "secret"


@pytest.mark.parametrize(("uid", "gid"), [(0, 0), (1, 0), (0, 2), (1, 2)])
def test_the_new_file_is_given_to_the_owner_of_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uid: int, gid: int
) -> None:
    """Only root may give files away, so the system is asked, and does nothing."""
    (tmp_path / "f").write_text("before")
    asked: list[tuple[str, int, int]] = []

    def fchown(file: int, uid: int, gid: int) -> None:
        asked.append((os.path.basename(os.readlink(f"/proc/self/fd/{file}"))[:6], uid, gid))

    monkeypatch.setattr(edit_module.os, "fchown", fchown)
    now = os.stat(tmp_path / "f")
    fields = {name: getattr(now, name) for name in dir(now) if name.startswith("st_")}
    seen = SimpleNamespace(**{**fields, "st_uid": now.st_uid + uid, "st_gid": now.st_gid + gid})
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        assert edit_module.replace_file(folder, "f", seen, b"after")  # type: ignore[arg-type]
    finally:
        os.close(folder)
    assert asked == ([(".edit-", seen.st_uid, seen.st_gid)] if uid or gid else [])
    assert (tmp_path / "f").read_text() == "after"


def test_linux_shows_its_processes() -> None:
    assert survivors.can_look()
    assert os.getpid() in [member.pid for member in survivors.snapshot(os.getsid(0))]
