"""Takes the exercises, and nothing else, out of what was handed in: a folder, a ZIP, a git folder.

All of it may be hostile. Links are never followed, sizes are bounded, nothing is unpacked or
checked out, no hook and no filter of a repository is run.
"""

from __future__ import annotations

import ast
import os
import stat
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from curriculum.grading.cli.faults import NO_FILE, CommandError

MOST_BYTES = 1 << 20  # of one exercises.py
MOST_ENTRIES = 20_000
GIT_SECONDS = 60
SUSPICIOUS = ("ctypes", "gc", "inspect", "_getframe", "f_back", "tb_frame", "_exit", "settrace")


def collect(path: Path, lessons: Sequence[str]) -> dict[str, bytes]:
    """The text of each lesson's exercises.py that was handed in.

    Raises CommandError with one line for what cannot be taken.
    """
    try:
        if path.is_dir() and not path.is_symlink():
            if (path / "HEAD").is_file() and (path / "objects").is_dir():
                found = _from_git(path, lessons)
            elif (path / ".git").is_dir():
                found = _from_git(path / ".git", lessons)
            else:
                found = _from_folder(path, lessons)
        elif zipfile.is_zipfile(path):
            found = _from_zip(path, lessons)
        else:
            raise CommandError(f"{path} is no folder, ZIP or git repository", NO_FILE)
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as fault:
        raise CommandError(f"{path} cannot be read: {fault}", NO_FILE) from None
    if not found:
        message = f"{path} holds no exercises: no file sNN_NAME/exercises.py"
        raise CommandError(message, NO_FILE)
    return found


def suspicious(text: bytes) -> list[str]:
    """Words in the code that a solution has no use for, with their lines; for the instructor."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = []
    for node in ast.walk(tree):
        names = [getattr(node, "id", ""), getattr(node, "attr", ""), getattr(node, "module", "")]
        if isinstance(node, ast.alias):
            names.append(node.name)
        found += [
            f"line {getattr(node, 'lineno', '?')}: {name}" for name in names if name in SUSPICIOUS
        ]
    return found


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
        folders[:] = sorted(name for name in folders if not name.startswith("."))
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


def _from_git(path: Path, lessons: Sequence[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    listed = _git(path, "ls-tree", "-r", "-z", "--full-tree", "HEAD").decode(errors="replace")
    for line in listed.split("\0")[:-1]:
        about, _, name = line.partition("\t")
        mode, _, blob = about.split(" ")
        lesson = _lesson_of(name, lessons)
        if lesson is None or lesson in found:
            continue
        if mode not in ("100644", "100755"):
            raise CommandError(f"{path}: {name!r} is a link; hand in the file itself", NO_FILE)
        if int(_git(path, "cat-file", "-s", blob)) > MOST_BYTES:
            raise CommandError(f"{name} is larger than {MOST_BYTES} bytes", NO_FILE)
        found[lesson] = _git(path, "cat-file", "blob", blob)
    return found


def _git(path: Path, *words: str) -> bytes:
    env = {
        "PATH": os.environ.get("PATH", ""),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_TERMINAL_PROMPT": "0",
    }
    settings = ["-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor="]
    try:
        done = subprocess.run(
            ["git", *settings, f"--git-dir={path.resolve()}", *words],
            env=env,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise CommandError(f"{path}: git cannot be run: {fault}", NO_FILE) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise CommandError(f"{path}: {said[-1] if said else 'git failed'}", NO_FILE)
    return done.stdout


def _bounded(data: bytes, name: str) -> bytes:
    if len(data) > MOST_BYTES:
        raise CommandError(f"{name} is larger than {MOST_BYTES} bytes", NO_FILE)
    return data
