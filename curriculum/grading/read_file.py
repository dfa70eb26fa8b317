"""Grader of s03 D: a tool that reads files, in a folder that holds what folders can hold."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from curriculum.core.errors import InvalidArgumentsError
from curriculum.core.seams import CancelToken
from curriculum.core.tools import RunningCall, Tool, ToolResult
from curriculum.grading.mistakes import attempt, mistake, quote, raise_findings
from curriculum.grading.tool_conformance import check_tool

__unittest = True

INVARIANTS = 's03, "Invariants"'
BOUNDS = 's03, "Exercises", D'

MakeReader = Callable[[str, int], Tool]


class ReaderUnderTest:
    """The harness around a ReadFile: a folder with a few files and a secret beside it."""

    lacks: Mapping[str, str] = {}
    limit = 100

    def __init__(self, make: MakeReader, folder: Path) -> None:
        self.root = folder / "inside"
        self.secret = folder / "secret.txt"
        self._make = make

    def make(self, folder: str) -> Tool:
        """A reader for another folder."""
        return self._make(folder, self.limit)

    def build(self) -> Tool:
        (self.root / "sub").mkdir(parents=True, exist_ok=True)
        self.secret.write_text("the secret")
        (self.root / "sub" / "note.txt").write_text("to be or not\n", "utf-8")
        (self.root / "long.txt").write_text("xx" + "\u4e16" * 1000, "utf-8")
        (self.root / "raw.bin").write_bytes(b"ab\xff\xfecd")
        return self._make(str(self.root), self.limit)

    def world(self) -> object:
        return sorted((str(p), p.is_file() and p.read_bytes()) for p in self.root.rglob("*"))

    def good(self) -> str:
        return '{"path": "sub/note.txt"}'

    def failing(self) -> str:
        return '{"path": "sub/missing.txt"}'

    def bad(self) -> Mapping[str, str]:
        paths = {
            "an empty path": "",
            "an absolute path": str(self.secret),
            "a way out": "../secret.txt",
            "a way out and back": "sub/../../inside/sub/note.txt",
            "a NUL": "sub/note.txt\0",
        }
        return {wrong: json.dumps({"path": path}) for wrong, path in paths.items()}

    def flooding(self) -> tuple[str, str, int]:
        return '{"path": "long.txt"}', "xx" + "\u4e16" * 1000, self.limit


def grade_read_file(read_file: MakeReader) -> None:
    """D. Through the kit, then through what a folder can hold: links, pipes, files that change."""
    with tempfile.TemporaryDirectory() as folder:
        under_test = ReaderUnderTest(read_file, Path(os.path.realpath(folder)))
        raise_findings("ReadFile", check_tool(under_test))
        with attempt("ReadFile", BOUNDS):
            _check_contents(under_test)
            _check_names(under_test)
            _check_links(under_test)
            _check_special(under_test)
            _check_memory(under_test)


def read(tool: Tool, path: str, between: Callable[[], object] = lambda: None) -> ToolResult:
    """Prepare a call, let the world change, execute the call."""
    prepared = tool.prepare(json.dumps({"path": path}))
    between()
    return tool.execute(prepared, RunningCall("call-1", CancelToken(), lambda stream, text: None))


def _check_contents(under_test: ReaderUnderTest) -> None:
    tool, note, limit = under_test.build(), under_test.root / "sub" / "note.txt", under_test.limit
    cases: dict[str, tuple[bytes, str, bool]] = {
        "an empty file": (b"", "", False),
        "exactly the limit": (b"y" * limit, "y" * limit, False),
        "one byte more": (b"y" * (limit + 1), "y" * limit, True),
        "a character that just fits": (b"y" * (limit - 3) + b"\xe4\xb8\x96", "", False),
        "invalid UTF-8": (b"a\xff\xfeb\xe4", "a\ufffd\ufffdb\ufffd", False),
        "line ends of all kinds": (b"a\r\nb\rc\n", "a\r\nb\rc\n", False),
    }
    for what, (content, text, truncated) in cases.items():
        note.write_bytes(content)
        text = text or content.decode()
        result = read(tool, "sub/note.txt")
        if (result.status, result.output, result.truncated) != ("completed", text, truncated):
            expected = f"of {what}: completed, {quote(text, 60)}, truncated={truncated}"
            raise mistake(expected, quote(result), BOUNDS)
    result = read(tool, "sub/note.txt", lambda: note.write_text("later"))
    if result.output != "later":
        expected = "the file to be read when the call is executed, not when it is prepared"
        raise mistake(expected, f"it gave {result.output!r}, which is no longer there", INVARIANTS)


def _check_names(under_test: ReaderUnderTest) -> None:
    """Two dots inside of a name lead nowhere; the directory itself may be reached by a link."""
    tool, root = under_test.build(), under_test.root
    (root / "a..b").write_text("dots")
    try:
        saw = quote(read(tool, "a..b").output)
    except InvalidArgumentsError as fault:
        saw = f"it was refused: {fault}"
    if saw != "'dots'":
        raise mistake("the file a..b to be read: no part of it is '..'", saw, BOUNDS)
    display = tool.prepare('{"path": "a..b"}').display
    words = [str(field) for field in display.values()]
    for what, word in (("path", "a..b"), ("directory", str(root)), ("limit", under_test.limit)):
        if str(word) not in words:
            raise mistake(f"a display that names the {what}", quote(dict(display)), BOUNDS)
    door = root.parent / "door"
    door.symlink_to(root)
    result = read(under_test.make(str(door)), "a..b")
    if result.output != "dots":
        raise mistake("a directory that is given as a link to be read", quote(result), BOUNDS)


def _check_links(under_test: ReaderUnderTest) -> None:
    tool, root = under_test.build(), under_test.root
    note = root / "sub" / "note.txt"
    (root / "link.txt").symlink_to(under_test.secret)
    (root / "up").symlink_to(root.parent)
    beside = root.parent / f"{root.name}-too"  # its name begins as the directory's does
    beside.mkdir()
    (beside / "secret.txt").write_text("the secret")
    (root / "beside").symlink_to(beside)

    def swap() -> None:
        note.unlink()
        note.symlink_to(under_test.secret)

    for path, between, what in (
        ("link.txt", lambda: None, "a link that leads out of the directory"),
        ("up/secret.txt", lambda: None, "a folder that is a link out of the directory"),
        ("beside/secret.txt", lambda: None, "a link to a folder beside the directory"),
        ("sub/note.txt", swap, "a file replaced by a link after it was prepared"),
    ):
        try:
            result = read(tool, path, between)
        except InvalidArgumentsError:
            continue
        if result.status != "failed" or "the secret" in result.output:
            saw = f"status {result.status!r}, output {result.output!r}"
            raise mistake(f"{what} to be refused or to fail", saw, BOUNDS)
    for link in (note, root / "link.txt", root / "up", root / "beside"):
        link.unlink()


def _check_special(under_test: ReaderUnderTest) -> None:
    tool = under_test.build()
    result = read(tool, "sub")
    if result.status != "failed":
        raise mistake("a folder to be a failed call", quote(result), BOUNDS)
    pipe = under_test.root / "pipe"
    os.mkfifo(pipe)
    with _writer(pipe) as came:
        try:
            result = read(tool, "pipe")
        except InvalidArgumentsError:
            result = ToolResult("failed")
    pipe.unlink()
    if result.status != "failed" or came.is_set():
        saw = f"{quote(result)}" + (", after waiting for a writer" if came.is_set() else "")
        raise mistake("a named pipe to fail at once: only regular files are read", saw, BOUNDS)


@contextmanager
def _writer(pipe: Path) -> Iterator[threading.Event]:
    """Ends the wait of a reader that has opened the pipe; the event says that one had to be."""
    came, over = threading.Event(), threading.Event()

    def serve() -> None:
        while not over.wait(0.01):
            try:
                os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:
                continue  # nobody reads, or nobody any more
            came.set()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield came
    finally:
        over.set()
        thread.join()


def _check_memory(under_test: ReaderUnderTest) -> None:
    tool, size = under_test.build(), 16 * 1024 * 1024
    with (under_test.root / "huge").open("wb") as file:
        file.truncate(size)
    tracemalloc.start()
    try:
        result = read(tool, "huge")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if peak > size // 4:
        expected = f"a file of {size} bytes to be read up to the limit of {under_test.limit} only"
        raise mistake(expected, f"it took {peak} bytes of memory", BOUNDS)
    if result.output != "\0" * under_test.limit:
        raise mistake("zeros up to the limit", quote(result), BOUNDS)
