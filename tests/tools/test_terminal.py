"""Sections A and E under a pty: a command reaches neither the user's screen nor their keyboard."""

from __future__ import annotations

import http.server
import json
import os
import pty
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden import ROOT


def at_terminal(directory: Path, command: str) -> dict[str, object]:
    """Run the command in a harness at a terminal; its report, with what the screen showed.

    The user types one line while the command runs. `stopped` says whether the harness was
    suspended (SIGTTIN, SIGTTOU), which no test could tell from a hang otherwise.
    """
    keyboard, terminal = pty.openpty()
    harness = subprocess.Popen(
        [sys.executable, "-m", "tests.tools.at_terminal", str(directory), command],
        cwd=ROOT,
        stdin=terminal,
        stdout=terminal,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    os.close(terminal)
    with harness:
        screen = b""
        while b"START" not in screen:
            screen += os.read(keyboard, 1024)
        os.write(keyboard, b"typed ahead\n")
        _, status = os.waitpid(harness.pid, os.WUNTRACED)
        stopped = os.WIFSTOPPED(status)
        if stopped:
            harness.kill()
        else:
            harness.returncode = os.waitstatus_to_exitcode(status)
        assert harness.stderr
        said = harness.stderr.read().decode()
    try:
        while piece := os.read(keyboard, 1024):
            screen += piece
    except OSError:
        pass  # Linux: nobody has the other end open any more
    finally:
        os.close(keyboard)
    assert not stopped, "the harness was suspended"
    assert harness.returncode == 0, said
    report: dict[str, object] = json.loads(said.splitlines()[-1])
    report["screen"] = screen.decode().replace("\r\n", "\n").replace("typed ahead\n", "")
    return report


def assert_terminal_untouched(report: dict[str, object]) -> None:
    assert report["screen"] == "START\nEND\n"
    assert report["foreground"]
    assert report["settings_kept"]
    assert report["line"] == "typed ahead\n"


def result_of(report: dict[str, object]) -> dict[str, object]:
    result = report["result"]
    assert isinstance(result, dict)
    return result


def test_a6_the_keyboard_is_still_the_users_after_a_command_read_its_input(tmp_path: Path) -> None:
    report = at_terminal(tmp_path, "cat /dev/stdin; seq 2 | cat < /proc/self/fd/0")
    assert result_of(report)["status"] == "completed"
    assert_terminal_untouched(report)


def test_a8_a_password_prompt_cannot_reach_the_terminal(tmp_path: Path) -> None:
    asking = f"{shlex.quote(sys.executable)} -c 'import getpass; getpass.getpass(\"Secret: \")'"
    report = at_terminal(tmp_path, asking)
    assert result_of(report)["status"] == "failed"
    assert "EOFError" in str(result_of(report)["output"])
    assert_terminal_untouched(report)


class WantsName(http.server.BaseHTTPRequestHandler):
    """A server that answers every request with: who are you?"""

    def do_GET(self) -> None:
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def wants_name() -> Iterator[str]:
    with http.server.HTTPServer(("127.0.0.1", 0), WantsName) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/x.git"
        server.shutdown()
        thread.join()


def test_a8_git_cannot_ask_for_a_user_name(tmp_path: Path, wants_name: str) -> None:
    report = at_terminal(tmp_path, f"HOME={tmp_path} git clone {wants_name}")
    assert result_of(report)["status"] == "failed"
    assert "could not read Username" in str(result_of(report)["output"])
    assert_terminal_untouched(report)


@pytest.mark.parametrize("command", ["bash -i -c true", "set -m; sleep 0.01", "stty raw -echo"])
def test_a10_the_harness_keeps_the_foreground_and_is_not_suspended(
    command: str, tmp_path: Path
) -> None:
    assert_terminal_untouched(at_terminal(tmp_path, command))


INJECT = """
import fcntl, os, termios
fd = os.open("/dev/tty", os.O_RDWR)
for byte in b"y\\n":
    fcntl.ioctl(fd, termios.TIOCSTI, bytes([byte]))
"""


def test_e2_a_command_cannot_type_on_the_users_terminal(tmp_path: Path) -> None:
    (tmp_path / "inject.py").write_text(INJECT)
    report = at_terminal(tmp_path, f"{shlex.quote(sys.executable)} inject.py")
    assert "No such device or address" in str(result_of(report)["output"])
    assert_terminal_untouched(report)


def test_the_screen_check_sees_what_is_written_to_the_terminal_by_its_path(tmp_path: Path) -> None:
    """A known limit: a session of its own is no isolation from a terminal opened by its path."""
    report = at_terminal(tmp_path, "echo drawn > $(readlink /proc/$PPID/fd/0)")
    assert report["screen"] == "START\ndrawn\nEND\n"
