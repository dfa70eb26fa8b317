"""Ctrl+C and SIGTERM while mino waits for a provider that does not answer, take or agree.

Three real servers stall: one does not answer the connection, one not the TLS handshake, one reads
nothing of a long request. Left alone this mino waits ten minutes, longer than any test does.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.mino.desk import KEY, Desk, says, script
from tests.mino.person import PATIENCE_SECONDS, ROOT, Person
from tests.providers.stalled import full_server, stalled_server

# mino that would wait so long for a connection, and for a server to read.
PATIENT = """
import sys
from curriculum.mino import config
made = config.Endpoint
config.Endpoint = lambda url, key: made(url, key, 600.0, 600.0)
from curriculum.mino.__main__ import main
sys.exit(main())
"""
STEPS = ("connect", "tls", "send")
LONG = "x" * 900_000  # more than the server's socket and ours hold


def is_connecting(port: int) -> bool:
    """Whether somebody waits for that port of this computer to answer (SYN_SENT, proc(5))."""
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[2] == f"0100007F:{port:04X}" and row[3] == "02" for row in rows)


@contextmanager
def stalled_at(desk: Desk, step: str) -> Iterator[tuple[dict[str, str], Callable[[], bool]]]:
    """The environment to reach such a server, and whether mino has come to the step."""
    reached: list[bool] = []

    def note() -> None:
        reached.append(True)

    with full_server() if step == "connect" else stalled_server(then=note) as port:
        url = f"{'https' if step == 'tls' else 'http'}://127.0.0.1:{port}/v1"
        reach = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY, "OPENAI_MODEL": "m"}
        (desk.bin / "patient.py").write_text(PATIENT)
        path = {"PYTHONPATH": f"{ROOT}:{desk.bin}"}
        yield (
            {**desk.environment, **reach, **path},
            lambda: is_connecting(port) if step == "connect" else bool(reached),
        )


def say_much(desk: Desk) -> None:
    """A session that makes the next request long."""
    with script(says("Long indeed.")) as server:
        assert desk.run("run", "-", env=desk.at(server), stdin=None, input=LONG).returncode == 0


@pytest.mark.parametrize("step", STEPS)
def test_ctrl_c_is_back_at_the_prompt_at_once(desk: Desk, step: str) -> None:
    say_much(desk)
    with (
        stalled_at(desk, step) as (environment, is_there),
        Person(["--resume"], environment, desk.project, module="patient") as person,
    ):
        person.say("first")
        person.wait(is_there, "mino at the server")
        person.type("\x03")
        person.see("[Turn cancelled: ")
        person.see("\nYou>", last=True)
        person.say("/quit")
        assert person.leave() == 0
        assert "Traceback" not in person.text()
    assert desk.records()[-1]["data"] == {"status": "cancelled"}
    with script(says("Gone on.")) as server, desk.person(server, "--resume") as person:
        person.say("again")
        person.see("Assistant> Gone on.")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["int", "term"])
@pytest.mark.parametrize("step", STEPS)
def test_a_signal_ends_a_run_at_once(desk: Desk, step: str, number: signal.Signals) -> None:
    with stalled_at(desk, step) as (environment, is_there):
        process = subprocess.Popen(
            [sys.executable, "-m", "patient", "run", "-"],
            env=environment,
            cwd=desk.project,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            assert process.stdin
            process.stdin.write(LONG.encode())
            process.stdin.close()
            process.stdin = None
            end = time.monotonic() + PATIENCE_SECONDS
            while not is_there():
                assert process.poll() is None
                assert time.monotonic() < end
            process.send_signal(number)
            output, said = process.communicate(timeout=PATIENCE_SECONDS)
        finally:
            process.kill()
            process.wait()
    assert process.returncode == 128 + number
    assert (output, b"Traceback" in said) == (b"", False)
    assert desk.records()[-1]["data"] == {"status": "cancelled"}


@pytest.mark.parametrize("step", STEPS)
def test_the_deadline_of_a_turn_ends_the_wait(desk: Desk, step: str) -> None:
    with stalled_at(desk, step) as (environment, _):
        ran = desk.run(
            "run",
            "-",
            "--deadline",
            "1",
            env=environment,
            module="patient",
            stdin=None,
            input=LONG,
        )
    assert ran.returncode == 1
    assert "the turn took longer than 1 s" in ran.stderr
