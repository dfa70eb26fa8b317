"""Reads a git repository that may be hostile: its objects, and nothing that it says of itself.

Git is given a folder of ours that leads to the repository's objects. So no setting, no hook, no
filter and no include of the repository counts; what its HEAD means is read here.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from curriculum.core.whole_file import read_whole
from curriculum.grading.cli.faults import NO_FILE, CommandError

MOST_BYTES = 1 << 20  # of one exercises.py
MOST_ENTRIES = 20_000
MOST_LISTED = MOST_ENTRIES * 256  # bytes of a list of them
GIT_SECONDS = 60
COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Repository]:
    """The repository whose git folder is at `path`. Raises CommandError, also inside."""
    _check_own(path)
    commit = _head(path)
    with tempfile.TemporaryDirectory(prefix="curriculum-") as name:
        folder = Path(name)
        (folder / "HEAD").write_text("ref: refs/heads/none\n")
        is_long = len(commit) == 64
        format = "[extensions]\nobjectformat = sha256\n" if is_long else ""
        version = f"[core]\nrepositoryformatversion = {int(is_long)}\nbare = true\n"
        (folder / "config").write_text(version + format)
        for part in ("refs", "objects"):
            (folder / part).mkdir()
        yield Repository(path, folder, commit)


class Repository:
    """The files of its newest commit."""

    def __init__(self, path: Path, folder: Path, commit: str) -> None:
        self._path, self._folder, self._commit = path, folder, commit

    def files(self) -> Iterator[tuple[str, str, str]]:
        """(name, mode, blob) of each."""
        listed = self._git("ls-tree", "-r", "-z", "--full-tree", self._commit)
        for line in listed.decode(errors="replace").split("\0")[:-1]:
            about, _, name = line.partition("\t")
            mode, _, blob = about.split(" ")
            yield name, mode, blob

    def read(self, blob: str, name: str) -> bytes:
        """The content of a blob, which is that of the file `name`."""
        if int(self._git("cat-file", "-s", blob)) > MOST_BYTES:
            raise CommandError(f"{name} is larger than {MOST_BYTES} bytes", NO_FILE)
        return self._git("cat-file", "blob", blob)

    def _git(self, *words: str) -> bytes:
        env = {
            "PATH": os.environ.get("PATH", ""),
            "GIT_OBJECT_DIRECTORY": str(self._path.resolve() / "objects"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "",
            "GIT_TERMINAL_PROMPT": "0",
        }
        with tempfile.TemporaryFile() as errors:
            git = subprocess.Popen(
                ["git", "-c", "safe.directory=*", f"--git-dir={self._folder}", *words],
                env=env,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
            late = threading.Event()

            def end() -> None:
                late.set()
                git.kill()

            timer = threading.Timer(GIT_SECONDS, end)
            timer.start()
            assert git.stdout
            try:
                told = git.stdout.read(MOST_LISTED + 1)  # trees in trees may list without end
                if len(told) > MOST_LISTED:
                    raise CommandError(
                        f"{self._path} holds more than {MOST_ENTRIES} files", NO_FILE
                    )
                code = git.wait()
            finally:
                timer.cancel()
                git.kill()
                git.wait()
                git.stdout.close()
            if late.is_set():
                raise CommandError(f"{self._path}: git took longer than {GIT_SECONDS} s", NO_FILE)
            if code:
                errors.seek(0)
                said = errors.read(65536).decode(errors="replace").strip().splitlines()
                raise CommandError(f"{self._path}: {said[-1] if said else 'git failed'}", NO_FILE)
            return told


def _too_many(path: Path) -> CommandError:
    return CommandError(f"{path} holds more than {MOST_ENTRIES} files", NO_FILE)


def _head(path: Path) -> str:
    """The commit that HEAD means, through loose and packed references."""
    head = _text(path / "HEAD").strip()
    for _ in range(5):
        if COMMIT.fullmatch(head):
            return head
        kind, _, name = head.partition(" ")
        hides = ".." in name or "__pycache__" in name  # of the latter there is no digest
        if kind != "ref:" or not name.startswith("refs/") or hides:
            break
        loose = path / name
        head = _text(loose).strip() if loose.is_file() else _packed(path, name)
    raise CommandError(f"{path} has no commit that HEAD leads to", NO_FILE)


def _packed(path: Path, name: str) -> str:
    packed = path / "packed-refs"
    for line in _text(packed).splitlines() if packed.is_file() else ():
        commit, _, of = line.partition(" ")
        if of == name:
            return commit
    return ""


def _text(path: Path) -> str:
    return read_whole(str(path), MOST_LISTED).decode(errors="replace")


def _check_own(path: Path) -> None:
    """Refuse a git folder that leads to another one, so perhaps to the work of somebody else."""
    borrowed = [path / "commondir", path / "objects" / "info" / "alternates"]
    links = [path] if path.is_symlink() else []
    for count, entry in enumerate(path.rglob("*")):
        if count > MOST_ENTRIES:
            raise _too_many(path)
        links += [entry] if entry.is_symlink() else []
        if stat.S_ISFIFO(entry.lstat().st_mode):
            raise CommandError(f"{entry} is a pipe; hand in a whole clone", NO_FILE)
    for name in (*links, *(name for name in borrowed if name.exists())):
        message = f"{name} leads to another repository; hand in a whole clone"
        raise CommandError(message, NO_FILE)
