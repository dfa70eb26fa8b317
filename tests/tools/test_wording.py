"""Every word that a model or a person is told: refusals, failures, notes, to the letter."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from curriculum.core.errors import InvalidArgumentsError, PreparationError
from curriculum.core.seams import CancelToken
from curriculum.tools.arguments import MAX_COMMAND_BYTES
from curriculum.tools.bash import Bash
from curriculum.tools.bounds import Ending, Launch
from curriculum.tools.capture import Capture
from curriculum.tools.edit_file import MAX_TEXT_BYTES, EditFile
from curriculum.tools.environment import check_environment
from curriculum.tools.folder import MAX_PATH_BYTES
from curriculum.tools.read_file import ReadFile
from curriculum.tools.report import report
from tests.tools.running import arguments, bash_in, execute, running_call

BYTES = "a command is at most 16384 bytes (16 KiB) of UTF-8"


def refusal(tool: Bash | ReadFile | EditFile, text: str) -> str:
    with pytest.raises(InvalidArgumentsError) as refused:
        tool.prepare(text)
    return str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "arguments are not valid JSON: Expecting value: line 1 column 1 (char 0)"),
        ("[NaN]", "arguments are not valid JSON: NaN is no JSON number"),
        ("[" * 90_000, "arguments are nested too deeply"),
        ("[]", "arguments must be an object, not an array"),
        ('"ls"', "arguments must be an object, not a string"),
        ("5", "arguments must be an object, not a number"),
        ("false", "arguments must be an object, not a boolean"),
        ("null", "arguments must be an object, not null"),
        ("{}", "the field command is missing"),
        ('{"cmd": "ls"}', "unknown field 'cmd'; the one field is command"),
        ('{"a": 1, "a": 2}', "duplicate field 'a'"),
        ('{"command": {}}', "command must be a string, not an object"),
        ('{"command": " "}', "command is empty or blank"),
        (
            '{"command": "a\\u0000"}',
            "command holds a NUL character, which no program can be given",
        ),
        ('{"command": "a\\ud83d"}', "command holds a lone surrogate at character 1"),
        (arguments("x" * (MAX_COMMAND_BYTES + 1)), f"command is 16385 bytes long; {BYTES}"),
        (" " * 99_329, f"arguments are 99329 characters long; {BYTES}"),
    ],
)
def test_bash_says_why_it_refuses(text: str, said: str) -> None:
    assert refusal(bash_in("/"), text) == said


def test_the_name_of_a_field_is_told_whole_up_to_40_characters() -> None:
    for name, told in (("n" * 40, "n" * 40), ("n" * 41, "n" * 40 + "...")):
        said = refusal(bash_in("/"), json.dumps({name: 1}))
        assert said == f"unknown field '{told}'; the one field is command"


def test_arguments_may_be_as_long_as_the_longest_spelling() -> None:
    """6 characters for each byte of a command, or of a path, and 1024 for what is around it."""
    bash = bash_in("/").prepare(arguments("ls").ljust(6 * MAX_COMMAND_BYTES + 1024))
    assert bash.display["command"] == "ls"
    most = 6 * MAX_PATH_BYTES + 1024
    assert ReadFile("/").prepare('{"path": "f"}'.ljust(most)).display["path"] == "f"
    said = refusal(ReadFile("/"), '{"path": "f"}'.ljust(most + 1))
    assert said == "arguments are 25601 characters long; path: at most 4096 bytes of UTF-8"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"path": "f", "old": "a", "x": "b"}, "unknown field 'x'; the fields are path, old, new"),
        ({"path": "f", "new": "b"}, "the field old is missing"),
        ({"path": 5, "old": "a", "new": "b"}, "path must be a string, not a number"),
        ({"path": "f", "old": "\ud800", "new": ""}, "old holds a lone surrogate at character 0"),
        ({"path": "f", "old": "", "new": "b"}, "old is empty; name the text to replace"),
        (
            {"path": "f", "old": "a", "new": "a"},
            "old and new are the same; there is nothing to do",
        ),
        (
            {"path": "f", "old": "a\0", "new": "b"},
            "old or new holds a NUL character, which no text holds",
        ),
        (
            {"path": "f", "old": "a", "new": "b\0"},
            "old or new holds a NUL character, which no text holds",
        ),
        (
            {"path": "f", "old": "a" * 30_000, "new": "b" * 35_536},
            "they are 65537 bytes long; path and old and new: at most 65536 bytes of UTF-8",
        ),
        ({"path": "", "old": "a", "new": "b"}, "path must be 1 to 4096 bytes long, without NUL"),
        (
            {"path": "a\0", "old": "a", "new": "b"},
            "path must be 1 to 4096 bytes long, without NUL",
        ),
        (
            {"path": "p" * 4097, "old": "a", "new": "b"},
            "path must be 1 to 4096 bytes long, without NUL",
        ),
        ({"path": "/f", "old": "a", "new": "b"}, "path must be relative to the working directory"),
        ({"path": "a/../f", "old": "a", "new": "b"}, "path must not contain '..'"),
        ({"path": "a/", "old": "a", "new": "b"}, "path must name a file"),
        ({"path": "a/.", "old": "a", "new": "b"}, "path must name a file"),
        ({"path": "./.", "old": "a", "new": "b"}, "path must name a file"),
    ],
)
def test_edit_file_says_why_it_refuses(fields: dict[str, object], said: str) -> None:
    assert refusal(EditFile("/"), json.dumps(fields)) == said


def test_texts_and_paths_may_be_as_long_as_their_limits_say() -> None:
    texts = {"path": "f", "old": "a" * 30_000, "new": "b" * 35_535}
    assert sum(map(len, texts.values())) == MAX_TEXT_BYTES
    EditFile("/").prepare(json.dumps(texts))
    long = "/".join(["p" * 255] * 16)
    assert ReadFile("/").prepare(json.dumps({"path": long + "p"})).display["path"] == long + "p"
    said = refusal(ReadFile("/"), json.dumps({"path": long + "pp"}))
    assert said == "they are 4097 bytes long; path: at most 4096 bytes of UTF-8"


def test_what_is_shown_before_a_file_is_read_or_edited() -> None:
    read = ReadFile("/", 100, shown_as="~").prepare('{"path": "a/f"}')
    assert read.display == {"path": "a/f", "directory": "~", "limit_bytes": 100}
    edit = EditFile("/", shown_as="~").prepare('{"path": "a/f", "old": "x", "new": "y"}')
    assert edit.display == {
        "path": "a/f",
        "directory": "~",
        "diff": "- x\n\\ no line end\n+ y\n\\ no line end\n",
        "notice": "replaces the file; there is no undo",
    }


def test_a_limit_below_the_least_that_makes_sense_is_refused() -> None:
    ReadFile("/", 4)
    with pytest.raises(ValueError, match=r"^the directory must be .*, the limit at least 4 bytes$"):
        ReadFile("/", 3)
    EditFile("/", 1)
    with pytest.raises(ValueError, match=r"^the directory must be .*, the limit above 0$"):
        EditFile("/", 0)
    bash_in("/", timeout_seconds=0.1, output_limit=1)
    for bounds in ({"output_limit": 0}, {"timeout_seconds": 0}, {"timeout_seconds": float("inf")}):
        with pytest.raises(ValueError, match=r"^timeout_seconds and output_limit must be above 0"):
            bash_in("/", **bounds)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^the directory must be an absolute path, not 'x'$"):
        bash_in("x")


def test_unless_told_otherwise_the_bounds_are_these(tmp_path: Path) -> None:
    shown = ReadFile(str(tmp_path)).prepare('{"path": "f"}').display
    assert shown == {"path": "f", "directory": str(tmp_path), "limit_bytes": 65_536}
    editor = EditFile(str(tmp_path))
    assert f"below {tmp_path}. " in editor.definition.description
    assert "Files of at most 1048576 bytes" in editor.definition.description
    edit = editor.prepare('{"path": "f", "old": "x", "new": "y"}')
    assert edit.display["directory"] == str(tmp_path)
    display = Bash(str(tmp_path), {}).prepare(arguments("ls")).display
    assert (display["timeout_seconds"], display["output_limit_bytes"]) == (30, 65_536)


def test_a_text_that_stands_there_more_than_twice_is_counted(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("ab ab ab")
    editor = EditFile(str(tmp_path))
    prepared = editor.prepare('{"path": "f", "old": "ab", "new": "c"}')
    assert editor.execute(prepared, running_call()).output == (
        "nothing was changed: old stands in the file 3 times; name more around it"
    )


def test_of_several_nul_bytes_the_first_is_named(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a\0b\0")
    assert outputs(tmp_path, "f") == ["it is not text: a NUL byte at offset 1"] * 2


def outputs(root: Path, path: str) -> list[str]:
    """What both file tools say of a path that they cannot use, without their first words."""
    said = []
    for tool, fields in (
        (ReadFile(str(root)), {"path": path}),
        (EditFile(str(root)), {"path": path, "old": "a", "new": "b"}),
    ):
        result = tool.execute(tool.prepare(json.dumps(fields)), running_call())
        assert result.status == "failed"
        said.append(result.output.partition(": ")[2])
    return said


def test_a_file_that_cannot_be_used_is_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "folder").mkdir()
    (tmp_path / "up").symlink_to(tmp_path)
    not_entered = "cannot be entered: it is a symbolic link or not a folder; links are not followed"
    for path, said in {
        "link": '"link" is a symbolic link; links are not followed',
        "folder": '"folder" is not a regular file',
        "none": '"none" cannot be opened: No such file or directory',
        "up/file": f'"up" {not_entered}',
        "file/file": f'"file" {not_entered}',
        "none/file": '"none" cannot be entered: No such file or directory',
    }.items():
        assert outputs(tmp_path, path) == [said, said]


def test_a_cancelled_call_says_that_it_did_nothing() -> None:
    cancel = CancelToken()
    cancel.cancel()
    for tool, fields, did in (
        (ReadFile("/"), {"path": "f"}, "read"),
        (EditFile("/"), {"path": "f", "old": "a", "new": "b"}, "changed"),
    ):
        result = tool.execute(tool.prepare(json.dumps(fields)), running_call(cancel))
        assert (result.status, result.output) == ("failed", f"cancelled; nothing was {did}")


def ended(
    cause: str = "exit",
    code: int | None = 0,
    out: bytes = b"",
    err: bytes = b"",
    held: bool = False,
    stopped: bool = False,
    escaped: bool = False,
) -> tuple[object, ...]:
    """(status, reason, exit code, notes) of a run that ended so, within 1.5 s and 100 bytes."""
    capture = Capture(100)
    capture.add("stdout", out)
    capture.add("stderr", err)
    ending = Ending(cause, code, held, stopped, escaped)  # type: ignore[arg-type]
    result = report(Launch("x", "/", (), 1.5, 100), capture, ending)
    return result.status, result.reason, result.exit_code, result.notes


NOTHING = "there was no output"


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        ({}, ("completed", None, 0, (NOTHING,))),
        ({"out": b"x"}, ("completed", None, 0, ())),
        ({"err": b"xy"}, ("completed", None, 0, ("stdout: 0 bytes, stderr: 2 bytes",))),
        ({"code": 1}, ("failed", None, 1, (NOTHING,))),
        ({"code": -9}, ("failed", "signal", -9, ("killed by SIGKILL (signal 9)", NOTHING))),
        ({"code": -60}, ("failed", "signal", -60, ("killed by signal 60", NOTHING))),
        (
            {"code": None},
            (
                "unknown",
                None,
                None,
                ("the exit status was lost, as the harness runs with SIGCHLD ignored", NOTHING),
            ),
        ),
        (
            {"cause": "timeout", "code": None},
            (
                "failed",
                "timeout",
                None,
                ("timed out after 1.5 s; the command was killed", NOTHING),
            ),
        ),
        (
            {"cause": "output-limit", "code": None, "out": b"x" * 101},
            (
                "failed",
                "output-limit",
                None,
                (
                    "output limit: only the first 100 bytes were kept, "
                    "and what still ran was killed",
                ),
            ),
        ),
        (
            {"cause": "cancelled", "code": None},
            ("failed", "cancelled", None, ("cancelled; the command was killed", NOTHING)),
        ),
        (
            {"held": True, "stopped": True, "escaped": True, "out": b"x"},
            (
                "completed",
                None,
                0,
                (
                    "a leftover process kept the output open after the shell had exited",
                    "processes left running in the background were killed",
                    "still running: a process that left the shell's session or cannot be killed",
                ),
            ),
        ),
    ],
)
def test_the_notes_say_how_a_run_ended(ending: dict[str, object], told: tuple[object, ...]) -> None:
    assert ended(**ending) == told  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("out", "err", "output"),
    [
        ("a\n", "", "a\n"),
        ("", "b", "[stderr]\nb"),
        ("a", "b", "[stdout]\na\n[stderr]\nb"),
        ("a\n", "b\n", "[stdout]\na\n[stderr]\nb\n"),
    ],
)
def test_both_streams_are_told_apart_by_a_line_each(out: str, err: str, output: str) -> None:
    result = execute(bash_in("/"), f"printf '{out}'; printf '{err}' >&2")
    assert result.output == output


def test_a_signal_is_told_by_its_name() -> None:
    result = execute(bash_in("/"), "kill -TERM $$")
    assert result.exit_code == -signal.SIGTERM
    assert result.notes[0] == "killed by SIGTERM (signal 15)"


def test_a_directory_that_is_gone_is_a_refusal_that_says_so(tmp_path: Path) -> None:
    bash = bash_in(tmp_path / "gone")
    with pytest.raises(PreparationError) as refused:
        bash.prepare(arguments("ls"))
    assert str(refused.value) == (
        f"the directory {tmp_path}/gone is gone; nothing ran, and no command can run until it is "
        "back"
    )


def test_a_directory_that_goes_meanwhile_is_a_failure_that_names_it(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    bash = bash_in(folder)
    prepared = bash.prepare(arguments("ls"))
    folder.rmdir()
    assert bash.execute(prepared, running_call()).notes == (
        f"bash could not be started: No such file or directory ({folder}); nothing ran",
    )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("", "x", "the environment cannot hold ''"),
        ("A=B", "x", "the environment cannot hold 'A=B'"),
        ("A\0", "x", r"the environment cannot hold 'A\x00'"),
        ("A", "\0", "the environment cannot hold 'A'"),
        ("A", "\udc80", "the environment cannot hold 'A'"),
        ("BASH_ENV", "x", "BASH_ENV changes how bash starts and is never passed"),
        ("BASH_FUNC_a%%", "x", "BASH_FUNC_a%% changes how bash starts and is never passed"),
    ],
)
def test_an_environment_that_is_refused_is_told_by_the_name(
    name: str, text: str, said: str
) -> None:
    with pytest.raises(ValueError, match=r"environment|changes") as refused:
        check_environment({"OK": os.devnull, name: text})
    assert str(refused.value) == said
