"""read_file and edit_file: confined to their folder, bounded, exact, whole or not at all."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from curriculum.core.errors import InvalidArgumentsError
from curriculum.core.seams import CancelToken
from curriculum.core.tools import ToolResult
from curriculum.tools import edit_file as edit_module
from curriculum.tools import folder as folder_module
from curriculum.tools.edit_file import MAX_TEXT_BYTES, EditFile, diff_of
from curriculum.tools.folder import check_path
from curriculum.tools.read_file import ReadFile
from tests.golden import ROOT
from tests.tools.running import running_call

CRLF = "\\r\\n"
SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(root: Path, path: str, limit: int = 64 * 1024) -> ToolResult:
    tool = ReadFile(str(root), limit)
    return tool.execute(tool.prepare(json.dumps({"path": path})), running_call())


def edit(root: Path, path: str, old: str, new: str, limit: int = 1024 * 1024) -> ToolResult:
    tool = EditFile(str(root), limit)
    arguments = json.dumps({"path": path, "old": old, "new": new})
    return tool.execute(tool.prepare(arguments), running_call())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a note in it, and a secret beside it."""
    folder = tmp_path / "inside"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "note.txt").write_text("to be or not\n")
    (tmp_path / "secret.txt").write_text("the secret\n")
    return folder


def leftovers(root: Path) -> list[str]:
    return sorted(path.name for path in root.rglob("*") if path.name.startswith(".edit"))


# Reading


def test_a_file_is_read_as_it_is(root: Path) -> None:
    (root / "sub" / "note.txt").write_bytes("\ufeffé\r\nb\rc\n".encode())
    assert read(root, "./sub//note.txt") == ToolResult("completed", "\ufeffé\r\nb\rc\n")


def test_a_big_file_is_cut_between_two_characters(root: Path) -> None:
    (root / "big").write_text("x" + "世" * 1000)
    result = read(root, "big", 100)
    assert result.output == "x" + "世" * 33
    assert result.truncated
    assert result.notes == ("the file has 3001 bytes; this is its beginning",)
    (root / "big").write_text("世" * 30 + "x" * 10)
    assert read(root, "big", 100) == ToolResult("completed", "世" * 30 + "x" * 10)


def test_a_huge_file_takes_little_memory(root: Path) -> None:
    import tracemalloc

    with (root / "huge").open("wb") as file:
        file.write(b"a" * 1000)
        file.truncate(1 << 30)
    tracemalloc.start()
    result = read(root, "huge", 500)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.output == "a" * 500
    assert peak < 1_000_000


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"ab\xff", "it is not UTF-8 text: byte 0xff at offset 2"),
        (b"a\0b", "it is not text: a NUL byte at offset 1"),
        (b"caf\xc3", "it is not UTF-8 text: byte 0xc3 at offset 3"),
        (b"\xed\xa0\x80", "it is not UTF-8 text: byte 0xed at offset 0"),
    ],
)
def test_what_is_not_text_is_refused_with_the_place(root: Path, data: bytes, said: str) -> None:
    (root / "data").write_bytes(data)
    assert read(root, "data").output == f"nothing was read: {said}"
    assert edit(root, "data", "a", "b").output == f"nothing was changed: {said}"
    assert (root / "data").read_bytes() == data


def test_a_file_is_read_when_the_call_is_executed(root: Path) -> None:
    tool = ReadFile(str(root))
    prepared = tool.prepare('{"path": "sub/note.txt"}')
    (root / "sub" / "note.txt").write_text("later")
    assert tool.execute(prepared, running_call()).output == "later"


def test_reads_are_declared_parallel_safe_and_edits_are_not(root: Path) -> None:
    assert ReadFile(str(root)).definition.parallel_safe
    assert not EditFile(str(root)).definition.parallel_safe


# Confinement


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "/etc/passwd",
        "..",
        "../secret.txt",
        "sub/../../secret.txt",
        "sub/..",
        "a\x00b",
        "sub/",
        "sub/.",
        "a" * 5000,
    ],
)
def test_a_path_that_could_lead_out_is_refused_before_anything_is_opened(
    root: Path, path: str
) -> None:
    with pytest.raises(InvalidArgumentsError):
        ReadFile(str(root)).prepare(json.dumps({"path": path}))
    with pytest.raises(InvalidArgumentsError):
        EditFile(str(root)).prepare(json.dumps({"path": path, "old": "a", "new": "b"}))


@given(st.text(st.sampled_from("./a\0é"), max_size=12))
def test_names_of_a_checked_path_go_down_only(path: str) -> None:
    try:
        names = check_path(path)
    except InvalidArgumentsError:
        return
    assert names
    assert not {"", ".", ".."} & set(names)
    assert os.path.normpath(path) == "/".join(names)


def plant_file_link(root: Path) -> str:
    (root / "link").symlink_to(root.parent / "secret.txt")
    return "link"


def plant_folder_link(root: Path) -> str:
    (root / "up").symlink_to(root.parent)
    return "up/secret.txt"


def plant_link_inside(root: Path) -> str:
    (root / "near").symlink_to(root / "sub" / "note.txt")
    return "near"


def plant_dangling(root: Path) -> str:
    (root / "gone").symlink_to(root.parent / "new.txt")
    return "gone"


def plant_loop(root: Path) -> str:
    (root / "loop").symlink_to("loop")
    return "loop/x"


def plant_pipe(root: Path) -> str:
    os.mkfifo(root / "pipe")
    return "pipe"


def plant_folder(root: Path) -> str:
    return "sub"


def plant_nothing(root: Path) -> str:
    return "sub/missing"


def plant_file_as_folder(root: Path) -> str:
    return "sub/note.txt/x"


PLANTS = [
    plant_file_link,
    plant_folder_link,
    plant_link_inside,
    plant_dangling,
    plant_loop,
    plant_pipe,
    plant_folder,
    plant_nothing,
    plant_file_as_folder,
]


@pytest.mark.parametrize("plant", PLANTS)
def test_links_and_what_is_no_file_fail_with_nothing_touched(
    root: Path, plant: Callable[[Path], str]
) -> None:
    path = plant(root)
    result = read(root, path)
    assert result.status == "failed"
    assert result.output.startswith("nothing was read: ")
    assert "secret\n" not in result.output
    result = edit(root, path, "e", "x")
    assert result.status == "failed"
    assert result.output.startswith("nothing was changed: ")
    assert (root.parent / "secret.txt").read_text() == "the secret\n"
    assert (root / "sub" / "note.txt").read_text() == "to be or not\n"
    assert not (root.parent / "new.txt").exists()
    assert leftovers(root) == []


@pytest.mark.parametrize("swaps_folder", [False, True])
def test_a_tree_that_changes_all_the_time_never_leads_out(root: Path, swaps_folder: bool) -> None:
    """A race on purpose: another thread swaps the file (or its folder) for a link and back."""
    secret, over = root.parent / "secret.txt", threading.Event()
    (root.parent / "note.txt").write_text("to be secret\n")
    real, link = root / "real", root / "link"
    if swaps_folder:
        target = root / "sub"
        link.symlink_to(root.parent)
    else:
        target = root / "sub" / "note.txt"
        link.symlink_to(secret)

    def swap() -> None:
        while not over.is_set():
            target.rename(real)
            link.rename(target)
            target.rename(link)
            real.rename(target)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        outputs = {read(root, "sub/note.txt").output for _ in range(300)}
        for n in range(100):
            edit(root, "sub/note.txt", "be", f"be {n}")
            edit(root, "sub/note.txt", f"be {n}", "be")
    finally:
        over.set()
        thread.join()
    assert "secret" not in "".join(out for out in outputs if not out.startswith("nothing"))
    assert secret.read_text() == "the secret\n"
    assert (root.parent / "note.txt").read_text() == "to be secret\n"
    assert leftovers(root) == []


# Editing


def test_an_edit_replaces_the_one_place_and_nothing_else(root: Path) -> None:
    note = root / "sub" / "note.txt"
    note.write_bytes(b"a\r\nto be\r\nz\r\n")
    note.chmod(0o640)
    result = edit(root, "sub/note.txt", "to be\r\nz", "or not\r\nz")
    assert (result.status, result.output) == ("completed", "replaced at line 2")
    assert note.read_bytes() == b"a\r\nor not\r\nz\r\n"
    assert stat.S_IMODE(note.stat().st_mode) == 0o640
    assert [path.name for path in (root / "sub").iterdir()] == ["note.txt"]


def state_of(path: Path) -> tuple[int, ...]:
    """What a change of the file would change; reading it changes the time of access only."""
    status = path.stat()
    return status.st_ino, status.st_mode, status.st_mtime_ns, status.st_ctime_ns


@pytest.mark.parametrize(
    ("data", "old", "new", "said"),
    [
        ("abc", "x", "y", "old is not in the file"),
        ("ab ab", "ab", "y", "old stands in the file 2 times; name more around it"),
        ("aaa", "aa", "y", "old stands in the file 2 times; name more around it"),
        (
            "a\r\nb\r\n",
            "a\nb",
            "y",
            "old is not in the file; the lines of this file end with \\r\\n",
        ),
        ("a\r\nb\r\n", "a", "x\ny", "the lines of this file end with \\r\\n, those of new do not"),
        ("a" * 101, "a" * 101, "b", "the file is larger than 100 bytes"),
        ("abc", "b", "y" * 100, "the file would be larger than 100 bytes"),
    ],
)
def test_an_edit_that_cannot_be_exact_changes_nothing(
    root: Path, data: str, old: str, new: str, said: str
) -> None:
    (root / "f").write_bytes(data.encode())
    before = state_of(root / "f")
    result = edit(root, "f", old, new, limit=100)
    assert (result.status, result.output) == ("failed", f"nothing was changed: {said}")
    assert (root / "f").read_bytes() == data.encode()
    assert state_of(root / "f") == before


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "x", "old is empty"),
        ("a", "a", "the same"),
        ("a", "b\0", "NUL"),
        ("a", "é" * (MAX_TEXT_BYTES // 2), "bytes long"),
    ],
)
def test_an_edit_that_makes_no_sense_is_invalid(root: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(InvalidArgumentsError, match=said):
        EditFile(str(root)).prepare(json.dumps({"path": "f", "old": old, "new": new}))


def test_the_display_shows_the_path_and_a_diff(root: Path) -> None:
    arguments = json.dumps({"path": "sub/note.txt", "old": "a\nb\nc\n", "new": "a\nB\nc"})
    display = EditFile(str(root)).prepare(arguments).display
    assert display["path"] == "sub/note.txt"
    assert display["directory"] == str(root)
    assert display["diff"] == "  a\n- b\n- c\n+ B\n+ c\n\\ no line end\n"


def test_a_diff_shows_only_what_differs_between_equal_lines() -> None:
    assert diff_of("a\nb\nc\nd\n", "a\nx\nc\nd\n") == "  a\n- b\n+ x\n  c\n  d\n"
    assert diff_of("b\nc\nd\n", "c\nd\n") == "- b\n  c\n  d\n"
    assert diff_of("a\nb\n", "a\nb\nc\n") == "  a\n  b\n+ c\n"


LINES = st.text(st.sampled_from("ab\n\r\u2028"), max_size=12)


@given(LINES, LINES)
@example("a\n", "a")
@example("a\na\n", "a\n")
def test_a_diff_holds_both_texts_whole(old: str, new: str) -> None:
    """From the lines that stay and go the old text can be rebuilt, the new one likewise."""
    lines = [line for line in diff_of(old, new).split("\n")[:-1]]
    sides = {"-": "", "+": ""}
    marks = ""
    for line in lines:
        if line == "\\ no line end":
            for side in marks:
                sides[side] = sides[side][:-1]
            continue
        marks = "-+" if line.startswith("  ") else line[0]
        for side in marks:
            sides[side] += line[2:] + "\n"
    assert sides == {"-": old, "+": new}


@SHARED
@given(
    st.text(st.sampled_from("ab\r\né"), max_size=20),
    st.text(st.sampled_from("ab\r\né"), min_size=1, max_size=4),
    st.text(st.sampled_from("xy\r\né"), max_size=4),
)
def test_any_edit_is_whole_or_not_at_all(root: Path, data: str, old: str, new: str) -> None:
    if old == new:
        return
    file = root / "f"
    file.write_bytes(data.encode())
    result = edit(root, "f", old, new)
    places = [n for n in range(len(data)) if data.startswith(old, n)]
    if result.status == "completed":
        assert len(places) == 1
        assert file.read_bytes() == data.replace(old, new).encode()
    else:
        assert file.read_bytes() == data.encode()
        assert len(places) != 1 or "\\r\\n" in result.output
    assert leftovers(root) == []


def test_a_second_run_of_the_same_edit_does_nothing(root: Path) -> None:
    assert edit(root, "sub/note.txt", "to be", "or").status == "completed"
    assert edit(root, "sub/note.txt", "to be", "or").status == "failed"
    assert (root / "sub" / "note.txt").read_text() == "or or not\n"


def test_a_file_that_somebody_else_changes_meanwhile_is_left_alone(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = root / "sub" / "note.txt"
    write_all = edit_module._write_all

    def with_another_writer(file: int, data: bytes) -> None:
        write_all(file, data)
        note.write_text("to be or what\n")

    monkeypatch.setattr(edit_module, "_write_all", with_another_writer)
    result = edit(root, "sub/note.txt", "to be", "or")
    assert result.output == (
        "nothing was changed: somebody else has changed the file meanwhile; read it again"
    )
    assert note.read_text() == "to be or what\n"
    assert leftovers(root) == []


@pytest.mark.parametrize("step", ["write", "fchmod", "fsync", "replace"])
@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_step_that_fails_leaves_the_file_as_it_was(
    root: Path, monkeypatch: pytest.MonkeyPatch, step: str, fault: BaseException
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(edit_module.os, step, fail)
    if isinstance(fault, OSError):
        result = edit(root, "sub/note.txt", "to be", "or")
        assert result == ToolResult("failed", "nothing was changed: No space left on device")
    else:
        with pytest.raises(KeyboardInterrupt):
            edit(root, "sub/note.txt", "to be", "or")
    monkeypatch.undo()
    assert (root / "sub" / "note.txt").read_text() == "to be or not\n"
    assert leftovers(root) == []


CRASH = """
import os, sys
sys.path.insert(0, sys.argv[1])
from curriculum.core.seams import CancelToken
from curriculum.core.tools import RunningCall
from curriculum.tools.edit_file import EditFile

step, number = sys.argv[3], int(sys.argv[4])
real, calls = getattr(os, step), []

def crash(*args, **options):
    calls.append(args)
    if len(calls) == number:
        os._exit(9)
    return real(*args, **options)

setattr(os, step, crash)
tool = EditFile(sys.argv[2])
prepared = tool.prepare('{"path": "sub/note.txt", "old": "to be", "new": "or"}')
tool.execute(prepared, RunningCall("call-1", CancelToken(), print))
"""


@pytest.mark.parametrize(
    ("step", "number", "left"),
    [
        ("write", 1, "to be or not\n"),
        ("fchmod", 1, "to be or not\n"),
        ("fsync", 1, "to be or not\n"),
        ("replace", 1, "to be or not\n"),
        ("fsync", 2, "or or not\n"),
    ],
)
def test_a_process_that_dies_at_any_step_leaves_a_whole_file(
    root: Path, step: str, number: int, left: str
) -> None:
    died = subprocess.run(
        [sys.executable, "-c", CRASH, str(ROOT), str(root), step, str(number)], timeout=60
    )
    assert died.returncode == 9
    assert (root / "sub" / "note.txt").read_text() == left
    assert len(leftovers(root)) == (left == "to be or not\n")


def test_a_file_that_may_not_be_written_is_not_replaced_either(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system asks about the folder only, when a file is renamed over."""
    open_it = os.open

    def read_only(name: str, flags: int, *rest: int, **options: int) -> int:
        if name == "note.txt" and flags & (os.O_RDWR | os.O_WRONLY):
            raise PermissionError(13, "Permission denied")
        return open_it(name, flags, *rest, **options)

    monkeypatch.setattr(folder_module.os, "open", read_only)
    assert read(root, "sub/note.txt").status == "completed"
    result = edit(root, "sub/note.txt", "to be", "or")
    assert result.output == 'nothing was changed: "note.txt" cannot be opened: Permission denied'
    assert (root / "sub" / "note.txt").read_text() == "to be or not\n"


def test_an_edit_whose_folder_cannot_be_synced_says_so(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync, calls = os.fsync, []

    def second_fails(file: int) -> None:
        calls.append(file)
        if len(calls) == 2:
            raise OSError(5, "Input/output error")
        fsync(file)

    monkeypatch.setattr(edit_module.os, "fsync", second_fails)
    result = edit(root, "sub/note.txt", "to be", "or")
    assert result.status == "completed"
    assert result.notes == ("the change may not survive a power failure",)
    assert (root / "sub" / "note.txt").read_text() == "or or not\n"


def test_a_reader_never_sees_half_an_edit(root: Path) -> None:
    file = root / "f"
    versions = ["a" * 200_000, "b" * 200_000]
    file.write_text(versions[0])
    over, seen = threading.Event(), set()

    def look() -> None:
        while not over.is_set():
            seen.add(file.read_text())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for n in range(20):
            status = os.stat(file)
            folder = os.open(root, os.O_RDONLY)
            edit_module.replace_file(folder, "f", status, versions[(n + 1) % 2].encode())
            os.close(folder)
    finally:
        over.set()
        thread.join()
    assert seen
    assert seen <= set(versions)


def test_a_cancelled_call_does_nothing(root: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    reader, editor = ReadFile(str(root)), EditFile(str(root))
    prepared = reader.prepare('{"path": "sub/note.txt"}')
    assert reader.execute(prepared, running_call(cancel)).reason == "cancelled"
    arguments = '{"path": "sub/note.txt", "old": "to", "new": "x"}'
    assert editor.execute(editor.prepare(arguments), running_call(cancel)).reason == "cancelled"
    assert (root / "sub" / "note.txt").read_text() == "to be or not\n"


def test_no_descriptor_is_left_open(root: Path) -> None:
    for plant in PLANTS:
        plant(root)
    before = os.listdir("/proc/self/fd")
    for path in ["sub/note.txt", "link", "up/secret.txt", "loop/x", "pipe", "sub", "sub/missing"]:
        read(root, path)
        edit(root, path, "to be", "or")
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize(
    "arguments",
    [
        "{}",
        "[]",
        '{"path": 1}',
        '{"path": "a", "path": "b"}',
        '{"path": "a", "x": 1}',
        "no",
        '{"path": "\\ud800"}',
        '{"path": null}',
    ],
)
def test_arguments_are_strict(root: Path, arguments: str) -> None:
    with pytest.raises(InvalidArgumentsError):
        ReadFile(str(root)).prepare(arguments)


def test_a_folder_that_is_gone_is_a_failed_call(root: Path) -> None:
    tool = ReadFile(str(root))
    prepared = tool.prepare('{"path": "f"}')
    (root / "sub" / "note.txt").unlink()
    (root / "sub").rmdir()
    root.rmdir()
    result = tool.execute(prepared, running_call())
    assert result.status == "failed"
    assert "cannot be entered: No such file" in result.output


@pytest.mark.parametrize("directory", ["relative", "/a\0b"])
def test_a_directory_has_to_be_absolute(directory: str) -> None:
    with pytest.raises(ValueError, match="absolute"):
        ReadFile(directory)
    with pytest.raises(ValueError, match="absolute"):
        EditFile(directory)
