"""The command: verdicts and exit codes, bad input in one line, and quiet ends."""

from __future__ import annotations

import errno
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from curriculum.trace import inputs
from curriculum.trace.__main__ import main
from tests.golden import GOLDEN, ROOT
from tests.trace.corpus import FOLDER
from tests.trace.story import calls, event, numbered, to_bytes

RIGHT = to_bytes(numbered(calls()))
COMMAND = [sys.executable, "-m", "curriculum.trace", "validate"]


def run(
    *arguments: str | Path, data: bytes = b"", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=ROOT,
        input=data,
        capture_output=True,
        timeout=120,
        env={**os.environ, **(env or {})},
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    out, err = done.stdout.decode(), done.stderr.decode()
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def test_every_golden_is_complete() -> None:
    names = sorted(GOLDEN.glob("*.jsonl"))
    done = run("--strict", *names)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count(": complete (") == len(names) >= 2


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["open-no-stop"], 2),
        (["F04-cut"], 3),
        (["T01-result"], 1),
        (["open-no-stop", "F04-cut"], 3),
        (["F04-cut", "T01-result", "open-no-stop"], 1),
    ],
)
def test_the_exit_code_is_the_worst_verdict(names: list[str], code: int) -> None:
    done = run(*(FOLDER / f"{name}.jsonl" for name in names))
    assert done.returncode == code
    assert done.stderr == ""


def test_each_error_is_a_line_with_its_fix_below() -> None:
    done = run(FOLDER / "T01-result.jsonl")
    verdict, finding, fix = done.stdout.splitlines()
    assert verdict.endswith("T01-result.jsonl: invalid (16 events, 1 error)")
    assert finding == '  line 12: T01 /payload/call_id: no call is "call-7"'
    assert fix == "    fix: record the tool.call first"


def test_json_is_one_object_a_file() -> None:
    done = run("--format", "json", FOLDER / "T01-result.jsonl", "-", data=RIGHT)
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first["verdict"] == "invalid"
    assert first["exit_code"] == 1
    assert first["codes"] == {"T01": 1}
    assert first["errors"][0] == {
        "line": 12,
        "code": "T01",
        "pointer": "/payload/call_id",
        "message": 'no call is "call-7"',
        "fix": "record the tool.call first",
    }
    assert second["file"] == "-"
    assert second["verdict"] == "complete"
    assert second["bytes"] == len(RIGHT)


def test_what_cannot_be_read_is_one_line_each_and_the_rest_is_validated(tmp_path: Path) -> None:
    good = tmp_path / "good.jsonl"
    good.write_bytes(RIGHT)
    done = run(tmp_path / "none.jsonl", tmp_path, good)
    assert done.returncode == 66
    assert done.stdout == f"{good}: complete (15 events)\n"
    missing, folder = done.stderr.splitlines()
    assert missing == f"validate: {tmp_path / 'none.jsonl'}: no such file or directory"
    assert folder == f"validate: {tmp_path}: is a directory; name the .jsonl files in it"


def test_a_file_that_may_not_be_read_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(name: str, flags: int) -> NoReturn:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)

    # Root may read everything, so it is open that refuses.
    monkeypatch.setattr("os.open", refuse)
    assert main(["validate", "closed.jsonl"]) == 66
    assert capsys.readouterr() == ("", "validate: closed.jsonl: permission denied\n")


def test_a_terminal_is_told_how_far_a_long_file_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = iter([0.0, 0.5, 2.0, 2.0])
    monkeypatch.setattr("time.monotonic", lambda: next(times))
    progress = inputs.Progress("a.jsonl", 9_000_000)
    progress.show(1_000_000)
    progress.show(2_000_000)
    progress.clear()
    assert capsys.readouterr().err == "\ra.jsonl: 2 of 9 MB\r\x1b[K"


@pytest.mark.parametrize(
    "arguments",
    [[], ["--format", "xml", "-"], ["--max-errors", "-1", "-"], ["--canary", "abc", "-"]],
)
def test_wrong_usage_is_one_line(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 64
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


def test_no_command_is_wrong_usage() -> None:
    done = subprocess.run([*COMMAND[:-1]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 64
    assert len(done.stderr.splitlines()) == 1


def test_an_empty_file_is_open() -> None:
    done = run("-")
    assert done.returncode == 2
    assert done.stdout == "-: open: no session.stop yet (0 events)\n"


def test_a_binary_file_is_a_few_lines(tmp_path: Path) -> None:
    path = tmp_path / "binary"
    path.write_bytes(bytes(range(256)) * 400)
    done = run(path)
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) < 20
    assert done.stdout.isascii()
    assert "\x1b" not in done.stdout


def test_what_is_not_shown_is_counted() -> None:
    done = run("--max-errors", "2", "-", data=b"rubbish\n" * 5)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "-: invalid (0 events, 5 errors)"
    assert done.stdout.splitlines()[-1] == "  3 more errors are not shown; by code: F03 5"
    assert done.stdout.splitlines()[3] == "  to line 2: F03 on each of 2 lines"
    none = run("--max-errors", "0", "-", data=b"rubbish\n" * 5)
    assert none.returncode == 1
    assert len(none.stdout.splitlines()) == 2


def test_an_unknown_type_is_a_warning_or_strictly_an_error() -> None:
    path = FOLDER / "E02-unknown-warning.jsonl"
    loose, strict = run(path), run("--strict", path)
    assert loose.returncode == 0
    assert "warning E02 /type" in loose.stdout
    assert strict.returncode == 1
    assert "line 6: E02 /type" in strict.stdout


def test_planted_secrets_are_found_and_never_shown(tmp_path: Path) -> None:
    story = calls()
    story[1]["payload"]["content"] = 'a "quoted" sécret'
    story[3]["payload"]["text"] = "other-secret"
    secrets = tmp_path / "secrets"
    secrets.write_text('"quoted" sécret\n\nnowhere\n', "utf-8")
    for form in ("text", "json"):
        done = run(
            "--format",
            form,
            "--canary",
            "other-secret",
            "--secret-file",
            secrets,
            "-",
            data=to_bytes(numbered(story)),
        )
        assert done.returncode == 1
        assert done.stdout.count("R05") == (2 if form == "text" else 3)
        for part in ("quoted", "other-s", "nowhere"):
            assert part not in done.stdout + done.stderr
    assert run("--secret-file", tmp_path / "none", "-").returncode == 66


def test_a_hostile_file_name_and_hostile_values_stay_on_their_line(tmp_path: Path) -> None:
    path = tmp_path / "a\nb\x1b[31m.jsonl"
    story = calls()
    story.insert(1, event("x\x1b[2J\n\u202e", "harness"))
    path.write_bytes(to_bytes(numbered(story)))
    done = run(path)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 3
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout


def test_a_name_that_is_not_utf_8_is_shown(tmp_path: Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"\xff.jsonl")
    with open(path, "wb") as file:
        file.write(RIGHT)
    done = run(os.fsdecode(path), env={"PYTHONIOENCODING": "utf-8"})
    assert done.returncode == 0
    assert "\\udcff.jsonl: complete" in done.stdout


def test_a_reader_that_leaves_ends_it_quietly() -> None:
    process = subprocess.Popen(
        [*COMMAND, "-"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    process.stdin.write(b"rubbish\n" * 1000)
    process.stdin.close()
    assert process.wait(timeout=60) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


def test_ctrl_c_ends_it_quietly() -> None:
    process = subprocess.Popen(
        [*COMMAND, "--format", "json", FOLDER / "open-empty.jsonl", "-"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    assert process.stdout.readline()  # the first file is done: it now waits for its input
    process.send_signal(signal.SIGINT)
    _, shown = process.communicate(timeout=60)
    assert process.returncode == 130
    assert shown == b""


def test_a_disk_that_is_full_is_one_line() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "-"],
            cwd=ROOT,
            input=RIGHT,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 74
    assert done.stderr == b"curriculum.trace: No space left on device\n"


HIDE = """
import importlib.abc, sys
class Hide(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name in {hidden}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hide())
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name in {hidden} else found(name)
from curriculum.trace.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("hidden", "arguments", "code"),
    [
        (["jsonschema", "jsonschema_rs", "orjson"], [], 69),
        (["jsonschema_rs"], ["--engine", "fast"], 69),
        (["jsonschema"], ["--engine", "plain"], 69),
        (["jsonschema_rs", "orjson"], [], 0),
        (["jsonschema", "orjson"], [], 0),
        (["jsonschema_rs"], [], 0),
    ],
)
def test_it_works_with_what_is_installed_or_says_what_to_install(
    hidden: list[str], arguments: list[str], code: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", HIDE.format(hidden=hidden), "validate", *arguments, "-"],
        cwd=ROOT,
        input=RIGHT,
        capture_output=True,
    )
    assert done.returncode == code, done.stderr.decode()
    if code:
        assert len(done.stderr.splitlines()) == 1
        assert b"run `make locked` in a checkout" in done.stderr
        assert b"pip install '.[trace]'" in done.stderr
    else:
        assert done.stderr == b""


def test_a_terminal_sees_no_progress_of_a_short_file() -> None:
    screen, terminal = pty.openpty()
    done = subprocess.run(
        [*COMMAND, "-"], cwd=ROOT, input=RIGHT, stdout=subprocess.PIPE, stderr=terminal
    )
    os.close(terminal)
    assert done.returncode == 0
    os.set_blocking(screen, False)
    try:
        shown = os.read(screen, 1000)
    except (BlockingIOError, OSError):
        shown = b""
    os.close(screen)
    assert shown == b""


def test_many_files_at_a_time_give_the_same_in_the_same_order(tmp_path: Path) -> None:
    names = [FOLDER / f"{name}.jsonl" for name in ("T01-result", "open-no-stop", "F04-cut")]
    files = [*names, tmp_path / "none.jsonl", "-", *sorted(GOLDEN.glob("*.jsonl"))]
    one, many = (run("--format", "json", "--jobs", jobs, *files, data=RIGHT) for jobs in ("1", "3"))
    assert many.returncode == one.returncode == 66
    assert many.stdout == one.stdout
    assert many.stderr == one.stderr
    assert len(one.stdout.splitlines()) == len(files) - 1


def test_no_jobs_is_one_for_each_processor() -> None:
    done = run("--jobs", "0", *sorted(GOLDEN.glob("*.jsonl")))
    assert done.returncode == 0
    assert done.stderr == ""


def test_ctrl_c_ends_workers_that_wait_for_files_without_an_end(tmp_path: Path) -> None:
    files = [tmp_path / "one", tmp_path / "two"]
    for file in files:
        os.mkfifo(file)
    process = subprocess.Popen(
        [*COMMAND, "--jobs", "2", *files],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    # Each comes back when a worker has opened the file, which then never ends.
    ends = [os.open(file, os.O_WRONLY) for file in files]
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
    out, shown = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out + shown == b""
    for end in ends:
        with pytest.raises(BrokenPipeError):  # nobody reads it any more
            os.write(end, b"x")
        os.close(end)


def test_a_worker_that_is_killed_is_one_line_for_each_file(tmp_path: Path) -> None:
    files = [tmp_path / "one", tmp_path / "two"]
    for file in files:
        os.mkfifo(file)
    process = subprocess.Popen(
        [*COMMAND, "--jobs", "2", *files],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    ends = [os.open(file, os.O_WRONLY) for file in files]
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        process.kill()
        pytest.skip("this system does not list the children of a process")
    workers = [pid for pid in map(int, children.read_text().split()) if reads(pid, files[0])]
    os.kill(workers[0], signal.SIGKILL)
    out, shown = process.communicate(timeout=60)
    for end in ends:
        os.close(end)
    assert process.returncode == 74
    assert out == b""
    told = [f"validate: {file}: a process that validates was killed" for file in files]
    assert shown.decode().splitlines() == told


def reads(pid: int, file: Path) -> bool:
    """Whether a process has the file open."""
    return any(
        os.path.realpath(opened) == str(file) for opened in Path(f"/proc/{pid}/fd").iterdir()
    )
