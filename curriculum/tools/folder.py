"""A folder that nothing leads out of: every path is walked from its root, name by name.

Each name is opened relative to the folder before it, and none may be a symbolic link, so what is
checked is what is opened, whatever else happens to the tree meanwhile. `..` is refused before
anything is opened. What this does not see: a hard link to a file elsewhere, a mount inside.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager

from curriculum.core.errors import InvalidArgumentsError
from curriculum.core.values import TYPE_CHECKING
from curriculum.core.visible import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PATH_BYTES = 4096
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a named pipe must not wait for its other end.
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class FileFault(Exception):
    """The file cannot be used; the message is for the model, one line."""


# region: path
def check_path(path: str) -> tuple[str, ...]:
    """The names in `path`, which has to be relative and may not contain `..`.

    Raises InvalidArgumentsError; nothing is looked up.
    """
    if not path or "\0" in path or len(path.encode()) > MAX_PATH_BYTES:
        raise InvalidArgumentsError("path must be 1 to 4096 bytes long, without NUL")
    if path.startswith("/"):
        raise InvalidArgumentsError("path must be relative to the working directory")
    names = tuple(name for name in path.split("/") if name not in ("", "."))
    if ".." in names:
        raise InvalidArgumentsError("path must not contain '..'")
    if not names or path.endswith(("/", "/.")):
        raise InvalidArgumentsError("path must name a file")
    return names


# endregion


# region: walk
@contextmanager
def open_parent(directory: str, names: tuple[str, ...]) -> Iterator[int]:
    """A descriptor of the folder that holds the last of `names`. Raises FileFault."""
    folder = _enter(directory, None)
    try:
        for name in names[:-1]:
            deeper = _enter(name, folder)
            os.close(folder)
            folder = deeper
        yield folder
    finally:
        os.close(folder)


def _enter(name: str, inside: int | None) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=inside)
    except OSError as fault:
        raise FileFault(f"{quote(name)} cannot be entered: {explain(fault)}") from None


@contextmanager
def open_file(folder: int, name: str, to_change: bool = False) -> Iterator[int]:
    """A descriptor of a regular file, for reading. Raises FileFault for anything else.

    `to_change` asks for write permission as well: renaming over a file does not.
    """
    try:
        before = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(before.st_mode):
            raise FileFault(f"{quote(name)} is a symbolic link; links are not followed")
        if not stat.S_ISREG(before.st_mode):
            raise FileFault(f"{quote(name)} is not a regular file")
        file = os.open(name, _FILE | (os.O_RDWR if to_change else os.O_RDONLY), dir_fd=folder)
    except OSError as fault:
        raise FileFault(f"{quote(name)} cannot be opened: {explain(fault)}") from None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise FileFault(f"{quote(name)} is not a regular file")
        yield file
    finally:
        os.close(file)


# endregion


def read_up_to(file: int, most: int) -> bytes:
    """The beginning of the file, at most `most` bytes."""
    pieces: list[bytes] = []
    while most > 0 and (piece := os.read(file, min(most, 64 * 1024))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)


def decode(data: bytes, whole: bool) -> str:
    """The text of a file. Where it is not `whole`, a character cut at the end is left out.

    Raises FileFault for what is not UTF-8 and for NUL, which no text holds.
    """
    if (at := data.find(b"\0")) >= 0:
        raise FileFault(f"it is not text: a NUL byte at offset {at}")
    try:
        return data.decode()
    except UnicodeDecodeError as fault:
        if not whole and fault.reason == "unexpected end of data":
            return data[: fault.start].decode()
        said = f"byte 0x{data[fault.start]:02x} at offset {fault.start}"
        raise FileFault(f"it is not UTF-8 text: {said}") from None


def explain(fault: OSError) -> str:
    """Why, in words; ELOOP and ENOTDIR are what a link in the way looks like here."""
    if fault.errno in (errno.ELOOP, errno.ENOTDIR):
        return "it is a symbolic link or not a folder; links are not followed"
    return fault.strerror or str(fault)
