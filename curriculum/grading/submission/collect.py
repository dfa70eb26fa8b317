"""Takes the exercises, and nothing else, out of what was handed in: a folder, a ZIP, a git folder.

All of it may be hostile. Links are never followed, sizes are bounded, nothing is unpacked or
checked out, no hook and no filter of a repository is run.
"""

from __future__ import annotations

import ast
import os
import stat
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from curriculum.grading.cli.faults import NO_FILE, CommandError
from curriculum.grading.submission.repository import MOST_BYTES, MOST_ENTRIES, opened

MOST_ARCHIVE = 1 << 25
NOT_LOOKED_INTO = ("__pycache__",)  # nor is it part of the digest of a submission
SUSPICIOUS = (
    *("ctypes", "gc", "inspect", "_getframe", "_current_frames", "f_back", "tb_frame", "mock"),
    *("settrace", "setprofile", "_exit", "modules", "setattr", "delattr", "getattr", "attrgetter"),
    *("vars", "globals", "builtins", "__builtins__", "__dict__", "__code__", "__globals__"),
    *("__subclasses__", "exec", "eval", "__import__", "import_module", "pickle", "marshal"),
    *("unittest", "signal", "_signal", "f_locals", "f_globals", "__closure__", "cell_contents"),
    *("ctypeslib", "hidden_tests"),
)


def collect(path: Path, lessons: Sequence[str]) -> dict[str, bytes]:
    """The text of each lesson's exercises.py that was handed in.

    Raises CommandError with one line for what cannot be taken.
    """
    try:
        if path.is_symlink():
            raise CommandError(f"{path} is a link; hand in the file itself", NO_FILE)
        if path.is_dir():
            if (path / "HEAD").is_file() and (path / "objects").is_dir():
                found = _from_repository(path, lessons)
            elif (path / ".git").is_dir():
                found = _from_repository(path / ".git", lessons)
            else:
                found = _from_folder(path, lessons)
        elif path.is_file() and zipfile.is_zipfile(path):
            found = _from_zip(path, lessons)
        else:
            raise CommandError(f"{path} is no folder, ZIP or git repository", NO_FILE)
    except CommandError:
        raise
    except Exception as fault:  # decoders of broken archives raise whatever they like
        raise CommandError(f"{path} cannot be read: {fault}", NO_FILE) from None
    if not found:
        message = f"{path} holds no exercises: no file sNN_NAME/exercises.py"
        raise CommandError(message, NO_FILE)
    return found


def suspicious(text: bytes) -> list[str]:
    """Words in the code that a solution has no use for, each with its first line and how many more
    there are; for the instructor."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    lines: dict[str, list[int]] = {}
    for node in ast.walk(tree):
        for name in _names_in(node):
            if name in SUSPICIOUS:
                lines.setdefault(name, []).append(getattr(node, "lineno", 0))
    return [
        f"line {min(found)}: {name}" + (f" (and {len(found) - 1} more)" if found[1:] else "")
        for name, found in sorted(lines.items(), key=lambda item: min(item[1]))
    ]


def _names_in(node: ast.AST) -> list[str]:
    """What a node names, also in a text."""
    names = [getattr(node, name, None) for name in ("id", "attr", "module", "name", "value")]
    return [part for name in names if isinstance(name, str) for part in name.split(".")]


def _lesson_of(name: str, lessons: Sequence[str]) -> str | None:
    """The lesson that a file with that name belongs to, if it is one of the exercises."""
    parts = PurePosixPath(name).parts
    if len(parts) < 2 or parts[-1] != "exercises.py" or ".." in parts:
        return None
    return parts[-2] if parts[-2] in lessons else None


def _from_folder(path: Path, lessons: Sequence[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    count = 0
    for folder, folders, files in os.walk(path):  # does not go through links
        folders[:] = sorted(
            n for n in folders if not n.startswith(".") and n not in NOT_LOOKED_INTO
        )
        count += len(folders) + len(files)
        if count > MOST_ENTRIES:
            raise CommandError(f"{path} holds more than {MOST_ENTRIES} files", NO_FILE)
        lesson = _lesson_of(f"{Path(folder).name}/exercises.py", lessons)
        if lesson and "exercises.py" in files and lesson not in found:
            found[lesson] = _read(Path(folder) / "exercises.py")
    return found


def _read(path: Path) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as fault:
        if path.is_symlink():
            raise CommandError(f"{path} is a link; hand in the file itself", NO_FILE) from None
        raise fault
    with open(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise CommandError(f"{path} is no regular file", NO_FILE)
        return _bounded(file.read(MOST_BYTES + 1), str(path))


def _from_zip(path: Path, lessons: Sequence[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    if path.stat().st_size > MOST_ARCHIVE:  # its list of files is read whole
        raise CommandError(f"{path} is larger than {MOST_ARCHIVE} bytes", NO_FILE)
    with zipfile.ZipFile(path) as archive:
        if len(archive.infolist()) > MOST_ENTRIES:
            raise CommandError(f"{path} holds more than {MOST_ENTRIES} files", NO_FILE)
        for entry in archive.infolist():
            lesson = _lesson_of(entry.filename, lessons)
            if lesson is None or lesson in found or entry.filename.startswith("__MACOSX/"):
                continue
            if stat.S_ISLNK(entry.external_attr >> 16):
                message = f"{path}: {entry.filename!r} is a link; hand in the file itself"
                raise CommandError(message, NO_FILE)
            with archive.open(entry) as file:
                found[lesson] = _bounded(file.read(MOST_BYTES + 1), entry.filename)
    return found


def _from_repository(path: Path, lessons: Sequence[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with opened(path) as repository:
        for name, mode, blob in repository.files():
            lesson = _lesson_of(name, lessons)
            if lesson is None or lesson in found:
                continue
            if mode not in ("100644", "100755"):
                message = f"{path}: {name!r} is a link; hand in the file itself"
                raise CommandError(message, NO_FILE)
            found[lesson] = repository.read(blob, name)
    return found


def _bounded(data: bytes, name: str) -> bytes:
    if len(data) > MOST_BYTES:
        raise CommandError(f"{name} is larger than {MOST_BYTES} bytes", NO_FILE)
    return data
