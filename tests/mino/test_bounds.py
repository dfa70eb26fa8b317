"""What an endless answer costs, and how mino starts."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from curriculum import __version__
from tests.mino.desk import Desk, says, script

ROOM_KIB = (
    20 * 1024
)  # an answer of 1 MiB in pieces of 40 characters as events would take twice that
# Runs what it is told to, and says what the most memory of it was.
MEASURE = (
    "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode; "
    "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)


class Endless(BaseHTTPRequestHandler):
    """Answers with words, until nobody listens any more."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        event = {
            "type": "response.output_text.delta",
            "delta": "forty characters that say nothing new.. ",
        }
        words = f"data: {json.dumps(event)}\n\n".encode() * 100
        try:
            while True:
                self.wfile.write(words)
        except OSError:
            pass

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def endless() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


def measured(desk: Desk, url: str) -> tuple[int, int, str]:
    """(exit code, most KiB of memory, standard error) of a turn at that endpoint."""
    mino = [sys.executable, "-m", "curriculum.mino", "run", "go"]
    ran = subprocess.run(
        [sys.executable, "-c", MEASURE, *mino],
        env={**desk.environment, "OPENAI_BASE_URL": url},
        cwd=desk.project,
        capture_output=True,
        text=True,
        timeout=120,
    )
    code, peak = ran.stdout.split()[-2:]
    return int(code), int(peak), ran.stderr


def test_an_endless_answer_is_ended_and_not_held_piece_by_piece(desk: Desk, endless: str) -> None:
    with script(says("Short.")) as server:
        code, short, _ = measured(desk, server.url)
        assert code == 0
    code, peak, said = measured(desk, endless)
    assert code == 1
    assert "the answer is longer than" in said
    assert peak < short + ROOM_KIB


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_told_without_loading_anything(desk: Desk, flag: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "curriculum.mino", flag],
        env=desk.environment,
        cwd=desk.project,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.stdout == f"mino {__version__}\n"
    loaded = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines()}
    ours = {name for name in loaded if name.startswith("curriculum")}
    assert ours == {"curriculum", "curriculum.mino"}
    assert not loaded & {"argparse", "re", "json", "rich", "httpx"}
