"""Digests of all that a report may depend on: if none has changed, the report is still true."""

from __future__ import annotations

import fnmatch
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from curriculum.grading.cli.catalogue import ROOT
from curriculum.grading.submission.box import LEFT_OUT
from curriculum.grading.submission.collect import NOT_LOOKED_INTO
from curriculum.grading.submission.grading import Terms
from curriculum.grading.submission.repository import MOST_ENTRIES

MOST_HASHED = 1 << 26  # bytes of a submission; of more, sizes and times have to do


def digest_of_graders() -> str:
    """Of this package, as far as a box gets it."""
    return digest_of(ROOT / "curriculum", left_out=LEFT_OUT)


def digest_of(path: Path, *others: object, left_out: Sequence[str] = NOT_LOOKED_INTO) -> str:
    """Of a file or a folder, and of how the other values are written."""
    digest = hashlib.sha256(repr(others).encode("utf-8", "surrogateescape"))
    for name, data in _contents(path, left_out):
        digest.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape"))
        digest.update(data)
    return digest.hexdigest()


def digest_of_terms(terms: Terms) -> str:
    """Of the graders and of what is asked of them."""
    return digest_of(ROOT / "curriculum", terms, left_out=LEFT_OUT)


def _contents(path: Path, left_out: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Names and digests of the files there; of a link only its name. Bounded, as collecting is."""
    if not path.is_dir() or path.is_symlink():
        yield path.name, _digest(path, MOST_HASHED)
        return
    count, left = 0, MOST_HASHED
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not _is_of(name, left_out))
        count += len(files) + len(folders)
        if count > MOST_ENTRIES:
            return  # it will be refused
        for name in sorted(name for name in files if not _is_of(name, left_out)):
            file = Path(folder, name)
            yield str(file.relative_to(path)), _digest(file, left)
            left -= file.lstat().st_size


def _is_of(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def _digest(path: Path, most: int) -> bytes:
    """Of the bytes; of a file that has more than `most` of its size and time."""
    about = path.lstat()
    if not stat.S_ISREG(about.st_mode):
        return b""
    if about.st_size > most:
        return f"{about.st_size} {about.st_mtime_ns}".encode()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
