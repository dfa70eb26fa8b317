"""`python -m lessons.book` builds the book in dist/book, both languages at once.

The same sources give the same bytes. Needs no network and no server: the book is read from disk.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from lessons.book.places import LANGUAGES
from tests.golden import ROOT

HERE = Path(__file__).resolve().parent
BOOK = ROOT / "dist" / "book"
# MkDocs makes these for a known address on the web, and a book on disk has none.
NOT_OURS = ("404.html", "sitemap.xml", "sitemap.xml.gz")


def build(book: Path = BOOK) -> list[str]:
    """Write the book into a folder that is replaced; returns what went wrong, a line each."""
    shutil.rmtree(book, ignore_errors=True)
    runs = [_start(language, book / language) for language in LANGUAGES]
    said = [run.communicate()[0] for run in runs]
    for language in LANGUAGES:
        for name in NOT_OURS:
            (book / language / name).unlink(missing_ok=True)
    book.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "index.html", book)
    return [
        f"{language}: {line}"
        for language, run, text in zip(LANGUAGES, runs, said, strict=True)
        for line in text.splitlines()
        if run.returncode and not line.startswith("INFO")
    ]


def _start(language: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]  # --quiet would disarm it
    command += ["--config-file", str(HERE / f"{language}.yml"), "--site-dir", str(folder)]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def main() -> int:
    """Exit code 0 when the book is built without a warning, else 1 with the warnings on stderr."""
    problems = build()
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        print("book: mend the above, then run `make book` again", file=sys.stderr)
        return 1
    print(f"wrote {BOOK.relative_to(ROOT)}; open {BOOK / 'index.html'} in a browser")
    return 0


if __name__ == "__main__":
    sys.exit(main())
