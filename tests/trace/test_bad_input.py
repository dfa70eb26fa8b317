"""What every command does with input that it cannot use: one line, and the right exit code."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from curriculum.trace.__main__ import COMMANDS, main
from tests.golden import GOLDEN, ROOT
from tests.trace.commands import COMMAND, run
from tests.trace.corpus import FOLDER

GOOD = GOLDEN / "s04_approvals.jsonl"
# The words with which each command reads the trace FILE.
READERS = {
    "stats": ["stats", "FILE"],
    "diff": ["diff", "FILE", str(GOOD)],
    "play": ["play", "FILE"],
    "redact": ["redact", "FILE"],
    "export": ["export", "--to", "otel", "FILE"],
    "export-perfetto": ["export", "--to", "perfetto", "--content", "FILE"],
    "export-atif": ["export", "--to", "atif", "FILE"],
    "redact-check": ["redact", "FILE", "--check"],
}
ALL = pytest.mark.parametrize("words", READERS.values(), ids=list(READERS))


def words_for(words: list[str], file: str | Path) -> list[str]:
    return [word.replace("FILE", str(file)) for word in words]


def test_every_command_is_here() -> None:
    elsewhere = {"validate", "import", "view"}
    assert set(COMMANDS) <= {words[0] for words in READERS.values()} | elsewhere


def refused(words: list[str], file: str | Path, data: bytes = b"") -> tuple[int, str]:
    done = run(*words_for(words, file), data=data)
    if words not in (READERS["redact"], READERS["play"]):  # these write as they read
        assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith(f"{words[0]}: ")
    return done.returncode, done.stderr


@ALL
def test_a_file_that_is_not_there_is_exit_code_66(words: list[str], tmp_path: Path) -> None:
    code, said = refused(words, tmp_path / "none.jsonl")
    assert code == 66
    assert said.endswith("none.jsonl: no such file or directory\n")


@ALL
def test_a_folder_is_exit_code_66(words: list[str], tmp_path: Path) -> None:
    code, said = refused(words, tmp_path)
    assert code == 66
    assert "is a directory" in said


@ALL
@pytest.mark.parametrize(
    ("name", "what"),
    [("F01-binary", "line 1: F0"), ("F03-nan", "F03"), ("E01-status", "E01 /payload/status")],
)
def test_a_line_that_is_no_event_is_exit_code_65(words: list[str], name: str, what: str) -> None:
    code, said = refused(words, FOLDER / f"{name}.jsonl")
    assert code == 65
    assert what in said
    assert said.isascii()
    assert said.isprintable() or said[:-1].isprintable()


@ALL
def test_wrong_usage_is_exit_code_64(words: list[str]) -> None:
    done = run(words[0], "--no-such-option")
    assert done.returncode == 64
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


@ALL
def test_every_trace_of_the_corpus_is_read_or_refused(words: list[str], tmp_path: Path) -> None:
    whole = b"".join(path.read_bytes() for path in sorted(GOLDEN.glob("*.jsonl")))
    for data in (b"", whole, GOOD.read_bytes()[:-5]):
        path = tmp_path / "trace"
        path.write_bytes(data)
        done = run(*words_for(words, path))
        assert done.returncode in (0, 1), done.stderr


@ALL
def test_no_broken_trace_makes_a_reader_fail(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    files = sorted(FOLDER.glob("*.jsonl"))
    assert len(files) > 100
    for file in files:
        code = main(words_for(words, file))
        shown = capsys.readouterr()
        assert code in (0, 1, 65), file.name
        assert (code == 65) == shown.err.startswith(f"{words[0]}: {file}: line "), file.name


@ALL
def test_a_reader_that_leaves_ends_it_quietly(words: list[str]) -> None:
    process = subprocess.Popen(
        [*COMMAND, *words_for(words, "-")],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    process.stdin.write(GOOD.read_bytes())
    process.stdin.close()
    assert process.wait(timeout=60) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


@ALL
def test_a_disk_that_is_full_is_one_line(words: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, *words_for(words, GOOD)], cwd=ROOT, stdout=full, stderr=subprocess.PIPE
        )
    assert done.returncode == 74
    assert done.stderr.decode().endswith("No space left on device\n")
    assert len(done.stderr.splitlines()) == 1


def test_validate_loads_no_library_for_the_terminal() -> None:
    probe = (
        "import sys; from curriculum.trace.__main__ import main; "
        "code = main(['validate', sys.argv[1]]); "
        "sys.exit(code or ('rich' in sys.modules) or "
        "('curriculum.trace.command_stats' in sys.modules))"
    )
    done = subprocess.run([COMMAND[0], "-c", probe, GOOD], cwd=ROOT, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


# A locale that has ASCII and nothing else, and a Python that takes its word for it.
POSIX = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def closed(
    redirections: str, *words: str | Path, env: dict[str, str] | None = None
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command under a shell's redirections."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirections}', "sh", *COMMAND, *words],
        cwd=ROOT,
        capture_output=True,
        timeout=120,
        env={**os.environ, **(env or {})},
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


EVERY = pytest.mark.parametrize(
    "words", [["validate", "FILE"], READERS["stats"], READERS["play"], READERS["export"]]
)


@EVERY
def test_a_closed_standard_error_changes_nothing(words: list[str]) -> None:
    code, out, _ = closed("2>&-", *words_for(words, GOOD))
    assert code == 0
    assert out == run(*words_for(words, GOOD)).stdout != ""
    assert closed("2>&-", words[0], "none.jsonl")[:2] in ((66, ""), (64, ""))


@EVERY
def test_a_closed_standard_output_is_one_line(words: list[str]) -> None:
    done = closed(">&-", *words_for(words, GOOD))
    assert done == (74, "", "curriculum.trace: standard output is closed\n")


@EVERY
def test_a_closed_standard_input_is_one_line(words: list[str]) -> None:
    done = closed("<&-", *words_for(words, "-"))
    assert done == (66, "", f"{words[0]}: standard input: is closed\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("words", [READERS[name] for name in ("stats", "diff", "play", "redact")])
def test_what_is_written_is_utf_8_in_any_locale(
    words: list[str], encoding: str, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_bytes(GOOD.read_bytes().replace(b"the network", "the nétwörk".encode()))
    usual = run(*words_for(words, trace))
    other = run(*words_for(words, trace), env={**POSIX, "PYTHONIOENCODING": encoding})
    assert "é" in usual.stdout or words[0] == "stats"
    assert (other.returncode, other.stdout) == (usual.returncode, usual.stdout)
    assert other.stderr == usual.stderr
    done = closed(">&-", *words_for(words, GOOD), env=POSIX)
    assert done == (74, "", "curriculum.trace: standard output is closed\n")


@EVERY
def test_with_nowhere_to_say_it_the_exit_code_is_right(words: list[str]) -> None:
    assert closed(">/dev/full 2>/dev/full", *words_for(words, GOOD))[0] == 74
    assert closed("<&- >&- 2>&-", *words_for(words, GOOD))[0] == 74
    assert closed("2>/dev/full", words[0], "--no-such-option")[0] == 64


@pytest.mark.parametrize("command", [["redact", str(GOOD)], ["validate", str(GOOD)]])
def test_a_secret_file_without_end_is_refused(command: list[str], tmp_path: Path) -> None:
    done = run(*command, "--secret-file", "/dev/zero")
    assert (done.returncode, done.stdout) == (66, "")
    assert done.stderr.endswith("/dev/zero: more than 1000000 bytes of secrets\n")
    assert len(done.stderr.splitlines()) == 1
    whole = tmp_path / "secrets"
    whole.write_bytes(b"planted\n" * 125_000)
    assert run(*command, "--secret-file", whole).returncode == 0
