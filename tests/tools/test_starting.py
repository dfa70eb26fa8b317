"""What cannot be started is a result that says so, and no odd surroundings make a result lie."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from curriculum.core.tools import Prepared
from tests.golden import ROOT
from tests.tools.running import bash_in, execute, open_descriptors, running_call, said


@pytest.mark.parametrize(
    "number", [errno.EAGAIN, errno.ENOMEM, errno.E2BIG, errno.ENOENT, errno.EACCES]
)
def test_a_start_that_fails_is_a_result(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise OSError(number, os.strerror(number), "/bin/bash")

    monkeypatch.setattr(subprocess, "Popen", fail)
    before = open_descriptors()
    result = execute(bash_in(tmp_path), "true")
    assert (result.status, result.exit_code, result.output) == ("failed", None, "")
    assert said(result) == (
        f"bash could not be started: {os.strerror(number)} (/bin/bash); nothing ran"
    )
    assert open_descriptors() == before


def test_an_environment_too_long_for_the_system_is_a_result(tmp_path: Path) -> None:
    bash = bash_in(tmp_path, environment={"A": "x" * 200_000})
    assert "Argument list too long" in said(execute(bash, "true"))


def test_running_out_of_descriptors_is_a_result_at_every_step(tmp_path: Path) -> None:
    bash = bash_in(tmp_path)
    execute(bash, "true")
    before = open_descriptors()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    outcomes = []
    for room in range(12):
        free = os.dup(0)
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + room, hard))
        try:
            outcomes.append(execute(bash, "echo hi"))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert open_descriptors() == before
    assert "Too many open files" in said(outcomes[0])
    assert outcomes[-1].output == "hi\n"
    assert all(made.status == "completed" or "nothing ran" in said(made) for made in outcomes)


def test_descriptors_beyond_1024_are_no_problem(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(2048, hard), hard))
    taken = []
    try:
        taken = [os.dup(0) for _ in range(1100)]
        assert execute(bash_in(tmp_path), "echo hi").output == "hi\n"
    finally:
        for fd in taken:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


IGNORING = """
import signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
from tests.tools.running import bash_in, execute
for command in ("echo hi; exit 3", "kill -9 $$", "yes"):
    result = execute(bash_in("/"), command)
    print(result.status, result.exit_code, result.reason, result.notes[0], sep="|")
"""


def test_a_status_that_the_kernel_dropped_is_unknown_and_never_success() -> None:
    run = subprocess.run([sys.executable, "-c", IGNORING], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    lost = "unknown|None|None|the exit status was lost"
    lines = run.stdout.splitlines()
    assert [line[: len(lost)] for line in lines[:2]] == [lost, lost]
    assert lines[2].startswith("failed|None|output-limit|output limit")


def test_it_runs_in_a_thread_where_no_signal_can_be_handled(tmp_path: Path) -> None:
    outputs: list[str] = []
    bash = bash_in(tmp_path)
    threads = [
        threading.Thread(target=lambda: outputs.append(execute(bash, "echo $$").output))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(outputs)) == 8


def test_an_action_of_another_tool_is_a_bug(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="bash cannot run"):
        bash_in(tmp_path).execute(Prepared({}, "rm"), running_call())
