"""Section A: no command can make the harness wait for input, for a pipe or for ever."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from curriculum.core.errors import PreparationError
from curriculum.core.messages import ToolCall
from curriculum.core.tools import ToolBox, ToolResult
from curriculum.tools.environment import minimal_environment
from tests.tools.running import (
    arguments,
    bash_in,
    execute,
    is_gone,
    open_descriptors,
    read_pids,
    running_call,
    said,
    time_is_up,
    timed,
    written,
    zombie_children,
)

HELD = "a leftover process kept the output open"
KILLED = "left running in the background were killed"
SURVIVED = "still running"
SOON = 20  # seconds, against a sleep of 60: these tests ask "did it wait for it?", not "how fast?"


@pytest.mark.parametrize(
    "redirections",
    ["", "</dev/null >/dev/null", "2>/dev/null", ">/dev/null 2>&1"],
    ids=["both", "stderr", "stdout", "none"],
)
def test_a1_a_background_child_does_not_hold_up_the_result(
    redirections: str, tmp_path: Path, pids: Path
) -> None:
    result, seconds = timed(
        bash_in(tmp_path), f"sleep 60 {redirections} & echo $! >{pids}; echo hi"
    )
    assert (result.status, result.exit_code, result.output) == ("completed", 0, "hi\n")
    assert seconds < SOON
    assert (HELD in said(result)) == (redirections != ">/dev/null 2>&1")
    assert KILLED in said(result)
    assert SURVIVED not in said(result)
    assert all(is_gone(pid) for pid in read_pids(pids))


def test_a2_what_left_the_session_is_stopped_and_told(tmp_path: Path, pids: Path) -> None:
    command = (
        f"setsid bash -c 'echo $$ >{pids}; exec sleep 60' & echo hi\n"
        f"until [ -s {pids} ]; do sleep 0.01; done"
    )
    result, seconds = timed(bash_in(tmp_path), command)
    assert (result.status, result.exit_code, result.output) == ("completed", 0, "hi\n")
    assert seconds < SOON
    assert HELD in said(result)
    assert KILLED in said(result)
    assert SURVIVED not in said(result)
    assert is_gone(read_pids(pids)[0])


def test_a3_a_process_substitution_does_not_hold_up_the_result(tmp_path: Path) -> None:
    result, seconds = timed(bash_in(tmp_path), "exec > >(cat; sleep 60) 2>&1; echo hi")
    assert (result.status, result.output) == ("completed", "hi\n")
    assert seconds < SOON
    assert HELD in said(result)


def test_a5_a_command_that_reads_finds_the_end_of_its_input(tmp_path: Path) -> None:
    bash = bash_in(tmp_path)
    assert execute(bash, "cat").notes == ("there was no output",)
    assert execute(bash, "read x; echo $?").output == "1\n"
    asking = execute(bash, f"{shlex.quote(sys.executable)} -c 'input()'")
    assert (asking.status, asking.exit_code) == ("failed", 1)
    assert "EOFError" in asking.output


def test_a6_reading_standard_input_by_its_path_finishes(tmp_path: Path) -> None:
    assert execute(bash_in(tmp_path), "cat /dev/stdin").status == "completed"
    result = execute(bash_in(tmp_path), "seq 2 | cat < /proc/self/fd/0")
    assert result.status == "completed"


def test_a7_a_read_that_never_ends_is_killed_at_the_time_limit(tmp_path: Path, pids: Path) -> None:
    bash = bash_in(tmp_path, now=time_is_up(written(pids)))
    result = execute(bash, f"mkfifo f; echo $$ >{pids}; cat f")
    assert (result.status, result.reason, result.exit_code) == ("failed", "timeout", None)
    assert "timed out after 30 s" in said(result)
    assert is_gone(read_pids(pids)[0])
    assert zombie_children() == []


def test_a11_neither_pager_nor_editor_blocks(tmp_path: Path) -> None:
    environment = minimal_environment({**os.environ, "HOME": str(tmp_path)})
    bash = bash_in(tmp_path, environment=environment)
    setup = (
        "git init -q . && git config user.name a && git config user.email a@example.org"
        " && git config core.pager less && git commit -q --allow-empty -m first"
    )
    assert execute(bash, setup).status == "completed"
    log = execute(bash, "git log")
    assert log.status == "completed"
    assert "first" in log.output
    commit, seconds = timed(bash, "git commit --allow-empty")
    assert commit.status == "failed"
    assert seconds < SOON


def test_a13_the_command_reaches_bash_byte_for_byte(tmp_path: Path) -> None:
    result = execute(bash_in(tmp_path), "cat <<'X'\nEOF\n\ttab \\ 'é' \"\nX\n")
    assert result.output == "EOF\n\ttab \\ 'é' \"\n"
    unfinished = execute(bash_in(tmp_path), "cat <<EOF\nbody")
    assert "[stdout]\nbody" in unfinished.output
    assert "here-document" in unfinished.output.partition("[stderr]")[2]


def test_a14_stderr_is_given_on_success(tmp_path: Path) -> None:
    result = execute(bash_in(tmp_path), "echo warn >&2; exit 0")
    assert (result.status, result.output) == ("completed", "[stderr]\nwarn\n")
    assert "stdout: 0 bytes, stderr: 5 bytes" in said(result)


def test_a15_both_streams_and_the_code_are_given(tmp_path: Path) -> None:
    result = execute(bash_in(tmp_path), "printf out; echo err >&2; exit 3")
    assert (result.status, result.exit_code, result.reason) == ("failed", 3, None)
    assert result.output == "[stdout]\nout\n[stderr]\nerr\n"
    assert "stdout: 3 bytes, stderr: 4 bytes" in said(result)


def test_a16_a_timeout_keeps_what_was_printed(tmp_path: Path, pids: Path) -> None:
    bash = bash_in(tmp_path, now=time_is_up(written(pids)))
    result = execute(bash, f"echo CRITICAL; echo $$ >{pids}; sleep 60")
    assert (result.reason, result.output) == ("timeout", "CRITICAL\n")
    assert "timed out" in said(result)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a17_death_by_signal_is_no_exit_code(number: signal.Signals, tmp_path: Path) -> None:
    killed = execute(bash_in(tmp_path), f"kill -{int(number)} $$")
    assert (killed.status, killed.exit_code, killed.reason) == ("failed", -number, "signal")
    assert f"killed by {number.name} (signal {int(number)})" in said(killed)
    exited = execute(bash_in(tmp_path), f"exit {128 + number}")
    assert (exited.status, exited.exit_code, exited.reason) == ("failed", 128 + number, None)
    assert "killed" not in said(exited)


def test_a17_a_signal_without_a_name_is_given_by_number(tmp_path: Path) -> None:
    assert "killed by signal 40" in said(execute(bash_in(tmp_path), "kill -40 $$"))


def test_a22_a_directory_that_is_gone_is_said_before_anything_runs(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    bash = bash_in(home)
    assert execute(bash, 'rm -rf "$PWD"').status == "completed"
    refusal = ToolBox([bash]).prepare(ToolCall("call-2", "bash", arguments("true")))
    assert isinstance(refusal, ToolResult)
    assert refusal.status == "not_executed"
    assert str(home) in refusal.output
    assert "gone" in refusal.output


def test_a22_a_directory_that_goes_after_approval_is_a_result(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    bash = bash_in(home)
    prepared = bash.prepare(arguments("true"))
    home.rmdir()
    before = open_descriptors()
    result = ToolBox([bash]).execute("bash", prepared, running_call())
    assert (result.status, result.exit_code, result.output) == ("failed", None, "")
    assert said(result) == (
        f"bash could not be started: No such file or directory ({home}); nothing ran"
    )
    assert open_descriptors() == before


def test_a22_a_file_in_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PreparationError, match="gone"):
        bash_in(tmp_path / "file").prepare(arguments("true"))


def test_a23_timed_out_means_that_every_process_is_gone(tmp_path: Path, pids: Path) -> None:
    bash = bash_in(tmp_path, now=time_is_up(written(pids)))
    result = execute(bash, f"sleep 600 & echo $$ $! >{pids}; sleep 600")
    assert "timed out" in said(result)
    assert len(read_pids(pids)) == 2
    assert all(is_gone(pid) for pid in read_pids(pids))
    assert SURVIVED not in said(result)


def test_a24_silence_is_said(tmp_path: Path) -> None:
    result = execute(bash_in(tmp_path), "true")
    assert result == ToolResult("completed", "", 0, notes=("there was no output",))
