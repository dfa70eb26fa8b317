"""Section C: what a command prints is kept whole up to the cap, and costs no more than the cap."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import ToolBox
from curriculum.core.trace import to_json
from curriculum.tools import survivors
from curriculum.tools.bounds import READ_BYTES
from curriculum.tools.capture import Capture
from tests.golden import ROOT
from tests.tools.running import (
    arguments,
    bash_in,
    execute,
    open_descriptors,
    running_call,
    said,
    zombie_children,
)

LIMIT = 64 * 1024
OVERFLOW = "output limit: only the first 65536 bytes were kept"


def test_c1_bytes_that_are_no_text_become_replacement_characters(tmp_path: Path) -> None:
    assert execute(bash_in(tmp_path), r"printf 'a\xc0\xffb'").output == "a\ufffd\ufffdb"
    noise = execute(bash_in(tmp_path), "head -c 5000 /dev/urandom")
    assert noise.status == "completed"
    assert noise.output
    noise.content().encode()


def test_c1_a_character_that_never_ends_is_one_replacement(tmp_path: Path) -> None:
    assert execute(bash_in(tmp_path), r"printf 'a\xe2\x82'").output == "a\ufffd"


@pytest.mark.parametrize("command", ["yes", "cat /dev/zero", "yes >&2", "yes & yes >&2"])
def test_c3_endless_output_is_stopped_at_the_limit(command: str, tmp_path: Path) -> None:
    result = execute(bash_in(tmp_path), command)
    assert (result.status, result.reason, result.exit_code) == ("failed", "output-limit", None)
    assert result.truncated
    assert OVERFLOW in said(result)
    labels = sum(map(len, ("[stdout]\n", "[stderr]\n"))) + 1
    assert LIMIT <= len(result.output) <= LIMIT + labels


FLAT = """
import resource, sys
from tests.tools.running import bash_in, execute
bash = bash_in("/")
for command in ("true", "yes", "yes >&2"):  # what the first calls need is not growth
    execute(bash, command)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(5):
    for command in ("yes", "cat /dev/zero", "yes >&2"):
        assert execute(bash, command).truncated
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_c3_memory_stays_flat(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", FLAT], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 4096  # KiB; one second of `yes` unbounded would be gigabytes


def test_c4_a_line_longer_than_the_limit_is_cut_and_no_error(tmp_path: Path) -> None:
    result = execute(bash_in(tmp_path), "head -c 70000 /dev/zero | tr '\\0' a")
    assert result.output == "a" * LIMIT
    assert result.reason == "output-limit"


def test_output_of_exactly_the_limit_is_no_overflow(tmp_path: Path) -> None:
    result = execute(bash_in(tmp_path), f"head -c {LIMIT} /dev/zero | tr '\\0' a")
    assert (result.status, result.truncated, len(result.output)) == ("completed", False, LIMIT)
    assert result.notes == ()
    more = execute(bash_in(tmp_path), f"head -c {LIMIT + 1} /dev/zero | tr '\\0' a")
    assert (more.status, more.truncated, len(more.output)) == ("failed", True, LIMIT)


@pytest.fixture
def busy_machine() -> Iterator[None]:
    """Two processes that want all of the CPU for as long as the test runs."""
    spin = [sys.executable, "-c", "while True: pass"]
    with subprocess.Popen(spin) as one, subprocess.Popen(spin) as two:
        try:
            yield
        finally:
            one.kill()
            two.kill()


@pytest.mark.usefixtures("busy_machine")
def test_c5_a_full_pipe_is_read_to_the_last_byte_every_time(tmp_path: Path) -> None:
    bash = bash_in(tmp_path)
    for _ in range(200):
        result = execute(bash, "head -c 60000 /dev/zero | tr '\\0' a")
        assert (result.status, len(result.output)) == ("completed", 60_000)


def test_c5_what_is_in_the_pipes_is_not_lost_to_the_clock(tmp_path: Path) -> None:
    """The bound for inherited pipes has always passed on this clock, as on a stalled machine."""
    hours = iter(range(0, 10**9, 3600))
    bash = bash_in(tmp_path, timeout_seconds=10**8, now=lambda: float(next(hours)))
    command = "head -c 30000 /dev/zero | tr '\\0' a | tee /dev/stderr; sleep 60 &"
    for _ in range(20):
        result = execute(bash, command)
        assert said(result).startswith("a leftover process kept the output open")
        assert "stdout: 30000 bytes, stderr: 30000 bytes" in said(result)


def test_c5_what_has_ended_is_not_called_left_over_because_the_clock_jumped(tmp_path: Path) -> None:
    hours = iter(range(0, 10**9, 3600))
    bash = bash_in(tmp_path, timeout_seconds=10**8, now=lambda: float(next(hours)))
    result = execute(bash, "head -c 60000 /dev/zero | tr '\\0' a")
    assert (len(result.output), result.notes) == (60_000, ())


def test_what_a_leftover_adds_while_it_is_stopped_still_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = survivors.snapshot

    def look_late(session: int) -> list[survivors.Member]:
        (tmp_path / "go").touch()
        while not (tmp_path / "written").exists():
            os.sched_yield()
        return look(session)

    monkeypatch.setattr(survivors, "snapshot", look_late)
    waiting = "until [ -e go ]; do sleep 0.001; done; printf 12345; touch written; sleep 60"
    result = execute(bash_in(tmp_path, output_limit=3), f"({waiting}) &")
    assert (result.status, result.reason, result.output) == ("failed", "output-limit", "123")


def test_bytes_that_another_reader_took_are_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any process of this user can read our end of a pipe through /proc, and leave it empty."""
    read, missed = os.read, []

    def robbed(fd: int, size: int) -> bytes:
        if size == READ_BYTES and not missed:
            missed.append(read(fd, size))
            (tmp_path / "robbed").touch()
            raise BlockingIOError
        return read(fd, size)

    monkeypatch.setattr(os, "read", robbed)
    result = execute(
        bash_in(tmp_path), "echo gone; until [ -e robbed ]; do sleep 0.001; done; echo kept"
    )
    assert (missed, result.output) == ([b"gone\n"], "kept\n")


def test_a_listener_that_fails_is_called_once_and_nothing_is_left_behind(tmp_path: Path) -> None:
    heard: list[str] = []

    def fail(stream: str, text: str) -> None:
        heard.append(text)
        (tmp_path / "go").touch()
        while not (tmp_path / "written").exists():
            os.sched_yield()
        raise LookupError("broken on purpose")

    before = open_descriptors()
    more = "until [ -e go ]; do sleep 0.001; done; echo more; touch written; sleep 60"
    with pytest.raises(LookupError):
        execute(bash_in(tmp_path, live=True), f"echo first; {more}", running_call(show=fail))
    assert len(heard) == 1
    assert open_descriptors() == before
    assert zombie_children() == []


def test_c7_both_streams_share_the_limit_and_are_labelled(tmp_path: Path) -> None:
    command = (
        "head -c 40000 /dev/zero | tr '\\0' e >&2; head -c 40000 /dev/zero | tr '\\0' o; sleep 60"
    )
    result = execute(bash_in(tmp_path), command)
    label, _, rest = result.output.partition("\n")
    stdout, stderr = rest.split("\n[stderr]\n")
    assert label == "[stdout]"
    assert (set(stdout), set(stderr)) == ({"o"}, {"e"})
    # Which stream fills the limit depends on when the pipes were read; the sum does not.
    assert len(stdout) + len(stderr) == LIMIT
    assert f"stdout: {len(stdout)} bytes, stderr: {len(stderr)} bytes" in said(result)
    assert OVERFLOW in said(result)


def test_c8_c9_control_characters_are_raw_in_the_result_and_escaped_in_the_trace(
    tmp_path: Path,
) -> None:
    """Whoever shows a result escapes it; the tool keeps what the command wrote."""
    printed = "\rProgress 1%\x1b[?1049h\x1b[2J\x07\u2028"
    result = execute(bash_in(tmp_path), r"printf '\rProgress 1%%\e[?1049h\e[2J\a\u2028'")
    assert result.output == printed
    call = ToolCall("call-1", "bash", arguments(f"printf '%s' '{printed}'"))
    model = ScriptedModel([ModelTurn(tool_calls=(call,)), ModelTurn("done", stop=True)])
    run = AgentRunner(model, ToolBox([bash_in(tmp_path)], granted=["bash"])).run("go")
    outputs = [event for event in run.events if event.type == "tool.result"]
    assert outputs[0].payload["output"] == printed
    for event in run.events:
        assert event.to_line()[:-1].isprintable()


@pytest.mark.parametrize("limit", range(1, 12))
def test_the_cap_never_leaves_half_a_character(limit: int, tmp_path: Path) -> None:
    text = "aé€😀"
    result = execute(bash_in(tmp_path, output_limit=limit), f"printf '%s' '{text}'")
    kept = text.encode()[:limit].decode(errors="ignore")
    assert result.output == kept
    assert result.truncated == (limit < len(text.encode()))


def test_a_kill_never_leaves_half_a_character(tmp_path: Path) -> None:
    call = running_call()
    shown: list[str] = []

    def stop(stream: str, text: str) -> None:
        shown.append(text)
        call.cancel.cancel("user")

    bash = bash_in(tmp_path, live=True)
    call = running_call(show=stop)
    result = execute(bash, r"printf 'ab\xe2\x82'; sleep 60", call)
    assert (result.output, shown) == ("ab", ["ab"])


def test_a_character_may_arrive_in_pieces() -> None:
    heard: list[tuple[str, str]] = []
    capture = Capture(100, lambda stream, text: heard.append((stream, text)))
    for byte in "é€😀".encode():
        capture.add("stdout", bytes([byte]))
        capture.add("stderr", b"x")
    capture.close(whole=True)
    assert capture.text("stdout") == "é€😀"
    assert capture.text("stderr") == "x" * 9
    assert [text for stream, text in heard if stream == "stdout"] == ["é", "€", "😀"]


def test_live_output_is_the_output(tmp_path: Path) -> None:
    heard: list[tuple[str, str]] = []
    command = "for n in 1 2 3; do echo o$n; echo e$n >&2; sleep 0.01; done"
    call = running_call(show=lambda stream, text: heard.append((stream, text)))
    result = execute(bash_in(tmp_path, live=True), command, call)
    stdout = "".join(text for stream, text in heard if stream == "stdout")
    stderr = "".join(text for stream, text in heard if stream == "stderr")
    assert result.output == f"[stdout]\n{stdout}[stderr]\n{stderr}"
    assert (stdout, stderr) == ("o1\no2\no3\n", "e1\ne2\ne3\n")


def test_output_is_not_live_unless_asked_for(tmp_path: Path) -> None:
    heard: list[str] = []
    execute(
        bash_in(tmp_path), "echo hi", running_call(show=lambda stream, text: heard.append(text))
    )
    assert heard == []


def test_stdout_that_imitates_the_label_cannot_imitate_the_sizes(tmp_path: Path) -> None:
    forged = execute(bash_in(tmp_path), "printf '[stdout]\\na\\n[stderr]\\nb\\n'")
    honest = execute(bash_in(tmp_path), "echo a; echo b >&2")
    assert forged.output == honest.output
    assert forged.notes == ()
    assert honest.notes == ("stdout: 2 bytes, stderr: 2 bytes",)


def test_a_result_of_noise_fits_in_json(tmp_path: Path) -> None:
    result = execute(bash_in(tmp_path), "head -c 65536 /dev/urandom")
    to_json(result.payload()).encode()
    assert result.status == "completed"
