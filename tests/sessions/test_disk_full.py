"""A disk that is really full: a file size limit, and a file system of 64 KiB."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden import ROOT
from tests.sessions.parts import NAME, file_of, marks, records_of, reopen

# One turn whose start record is too long for what is left: argv is home, marks, limit.
HARNESS = """
import resource, sys
from pathlib import Path
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import ToolBox
from curriculum.core.trace import to_json
from curriculum.sessions.store import SessionStore
from tests.sessions.parts import Marker
home, marks, limit = sys.argv[1:]
if int(limit):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
store = SessionStore.create(home, "s-1")
calls = (ToolCall("call-1", "mark", "x" * 40_000),)
tools = ToolBox([Marker(Path(marks))], ["mark"])
result = AgentRunner(ScriptedModel([ModelTurn("", calls)]), tools, journal=store).run("go")
print(len(result.messages), result.stop_reason, result.error.message, sep="|")
"""


def run(home: Path, marker: Path, limit: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", HARNESS, str(home), str(marker), str(limit)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout.strip().split("|")


def check(home: Path, marker: Path, said: list[str], error: str) -> None:
    """The command did not run, the reason is on screen, and nothing half-written is left."""
    count, reason, message = said
    assert (count, reason) == ("2", "failed"), "input and answer: memory has not moved"
    assert message.startswith(f"{file_of(home)}: {error}; the record was not kept")
    assert marks(marker) == []
    data = file_of(home).read_bytes()
    assert data.endswith(b"\n")
    kinds = [record["kind"] for record in records_of(data)]
    assert kinds == ["session", "user_input", "model_response"]


def test_f7_f8_a_file_that_may_not_grow_stops_the_turn_before_the_command(tmp_path: Path) -> None:
    home, marker = tmp_path / "home", tmp_path / "marks"
    said = run(home, marker, 65_536)
    check(home, marker, said, "File too large (errno 27)")
    with reopen(home) as store:
        assert store.recovery.not_executed == ("call-1",)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no file system may be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_f7_f8_a_full_file_system_stops_the_turn_before_the_command(
    small_disk: Path, tmp_path: Path
) -> None:
    marker = tmp_path / "marks"
    said = run(small_disk, marker, 0)
    check(small_disk, marker, said, "No space left on device (errno 28)")
    assert (small_disk / "sessions" / f"{NAME}.jsonl").exists()


def test_f16_a_session_that_finds_no_room_is_not_left_behind(small_disk: Path) -> None:
    filler = small_disk / "filler"
    with filler.open("wb") as file:
        try:
            while True:
                os.write(file.fileno(), b"x" * 4096)
        except OSError:
            pass
    program = "import sys; from curriculum.sessions.store import SessionStore as S\n"
    program += "try: S.create(sys.argv[1], 's-1')\nexcept Exception as e: print(repr(e))"
    done = subprocess.run(
        [sys.executable, "-c", program, str(small_disk)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stderr == ""
    assert done.stdout.startswith("SessionError(")
    assert "No space left on device (errno 28)" in done.stdout
    assert not file_of(small_disk).exists()
