"""A file that is read whole is regular and bounded: nothing else is waited for or taken in part."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from curriculum.core.whole_file import read_whole


def test_a_file_up_to_the_bound_is_read_and_a_larger_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)
    assert read_whole(str(path), 100) == b"x" * 100
    with pytest.raises(OSError, match="Larger than 99 bytes"):
        read_whole(str(path), 99)


def test_a_link_to_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("file")
    assert read_whole(str(tmp_path / "link"), 1) == b"x"


def test_what_is_no_file_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (str(pipe), "/dev/zero", "/dev/null"):
        with pytest.raises(OSError, match="Not a regular file"):
            read_whole(path, 100)
    with pytest.raises(IsADirectoryError, match="Is a directory"):
        read_whole(str(tmp_path), 100)
    with pytest.raises(FileNotFoundError):
        read_whole(str(tmp_path / "none"), 100)
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # the path of a socket is short
        server.bind("s")
        with pytest.raises(OSError, match="No such device"):
            read_whole("s", 100)
