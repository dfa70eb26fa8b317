"""Takes the exercises, and nothing else, out of what was handed in: a folder, a ZIP, a git folder.

All of it may be hostile. Links are never followed, sizes are bounded, nothing is unpacked or
checked out, no hook and no filter of a repository is run.
"""

from __future__ import annotations

import ast
import os
import stat
import subprocess
import tempfile
import threading
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from curriculum.grading.cli.faults import NO_FILE, CommandError

MOST_BYTES = 1 << 20  # of one exercises.py
MOST_ARCHIVE = 1 << 25
MOST_ENTRIES = 20_000
MOST_LISTED = MOST_ENTRIES * 256  # bytes of a list of them
GIT_SECONDS = 60
SUSPICIOUS = (
    *("ctypes", "gc", "inspect", "_getframe", "_current_frames", "f_back", "tb_frame", "mock"),
    *("settrace", "setprofile", "_exit", "modules", "setattr", "delattr", "getattr", "attrgetter"),
    *("vars", "globals", "builtins", "__builtins__", "__dict__", "__code__", "__globals__"),
    *("__subclasses__", "exec", "eval", "__import__", "import_module", "pickle", "marshal"),
    "unittest",
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
                found = _from_git(path, lessons)
            elif (path / ".git").is_dir():
                found = _from_git(path / ".git", lessons)
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


def _from_git(path: Path, lessons: Sequence[str]) -> dict[str, bytes]:
    _check_own(path)
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


def _check_own(path: Path) -> None:
    """Refuse a git folder that leads to another one, so perhaps to the work of somebody else."""
    borrowed = [path / "commondir", path / "objects" / "info" / "alternates"]
    links = [path] if path.is_symlink() else []
    for count, entry in enumerate(path.rglob("*")):
        if count > MOST_ENTRIES:
            raise CommandError(f"{path} holds more than {MOST_ENTRIES} files", NO_FILE)
        links += [entry] if entry.is_symlink() else []
    for name in (*links, *(name for name in borrowed if name.exists())):
        message = f"{name} leads to another repository; hand in a whole clone"
        raise CommandError(message, NO_FILE)


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
    with tempfile.TemporaryFile() as errors:
        git = subprocess.Popen(
            ["git", *settings, f"--git-dir={path.resolve()}", *words],
            env=env,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        timer = threading.Timer(GIT_SECONDS, git.kill)
        timer.start()
        assert git.stdout
        try:
            told = git.stdout.read(MOST_LISTED + 1)  # trees in trees may list without end
            if len(told) > MOST_LISTED:
                raise CommandError(f"{path} holds more than {MOST_ENTRIES} files", NO_FILE)
            code = git.wait()
        finally:
            timer.cancel()
            git.kill()
            git.wait()
            git.stdout.close()
        if code:
            errors.seek(0)
            said = errors.read(65536).decode(errors="replace").strip().splitlines()
            raise CommandError(f"{path}: {said[-1] if said else 'git failed'}", NO_FILE)
        return told


def _bounded(data: bytes, name: str) -> bytes:
    if len(data) > MOST_BYTES:
        raise CommandError(f"{name} is larger than {MOST_BYTES} bytes", NO_FILE)
    return data
