"""`view --serve`: one growing file, for this machine and for who knows the path."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.golden import GOLDEN, ROOT

LINES = (GOLDEN / "s04_approvals.jsonl").read_bytes().splitlines(keepends=True)


@dataclass
class Served:
    process: subprocess.Popen[str]
    said: str

    @property
    def address(self) -> str:
        return re.findall(r"http://\S+", self.said)[0]

    @property
    def port(self) -> int:
        return int(self.address.split(":")[2].split("/")[0])

    @property
    def path(self) -> str:
        return "/" + self.address.split("/", 3)[3]

    def get(self, path: str, host: str | None = None, method: str = "GET") -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, headers={"Host": host} if host else {})
        answer = connection.getresponse()
        told = answer.status, answer.read().decode()
        connection.close()
        return told

    def read_events(self, count: int, known: int = 0) -> list[tuple[str, Any]]:
        """The first so many server-sent events: (kind, data)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Last-Event-ID": str(known)} if known else {}
        connection.request("GET", f"{self.path}events", headers=headers)
        answer = connection.getresponse()
        found: list[tuple[str, Any]] = []
        kind = ""
        while len(found) < count:
            line = answer.readline().decode().rstrip("\n")
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((kind, json.loads(line.removeprefix("data: "))))
        connection.close()
        return found

    def stop(self) -> tuple[int, str]:
        """Ctrl+C; the exit code and what was said on stderr."""
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors


@contextmanager
def serving(path: Path) -> Iterator[Served]:
    process = subprocess.Popen(
        [sys.executable, "-m", "curriculum.trace", "view", str(path), "--serve", "--no-open"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        yield Served(process, process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def growing(tmp_path: Path) -> Path:
    path = tmp_path / "growing.jsonl"
    path.write_bytes(b"".join(LINES[:3]))
    return path


def write_more(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_the_page_grows_with_its_file(browser: Browser, growing: Path) -> None:
    with serving(growing) as served:
        page = browser.new_page()
        said: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(served.address)
        where = page.locator("#where")
        expect(where).to_contain_text("event 3 of 3")
        expect(page.locator("#live")).to_have_text("Following the file")
        write_more(growing, LINES[3] + LINES[4][:20])
        expect(where).to_contain_text("event 4 of 4")
        page.keyboard.press("Home")
        write_more(growing, LINES[4][20:] + b"".join(LINES[5:]))
        expect(where).to_contain_text(f"event 1 of {len(LINES)}")
        page.keyboard.press("End")
        expect(page.locator(".state.a")).to_have_attribute("data-state", "stopped")
        assert said == []
        assert asked == [served.address, f"{served.address}events"]
        assert served.stop() == (0, "")
        expect(page.locator("#live")).to_contain_text("The server has gone")
        page.close()


def test_an_empty_file_is_followed_from_its_first_event(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(b"")
    with serving(path) as served:
        page = browser.new_page()
        page.goto(served.address)
        expect(page.locator("#where")).to_have_text("no event yet")
        for key in ("ArrowRight", "End", "n", "e", "Space", "d"):
            page.keyboard.press(key)
        write_more(path, LINES[0])
        expect(page.locator("#where")).to_contain_text("event 1 of 1")
        page.close()


def test_a_line_that_is_no_event_is_said_on_the_page(browser: Browser, growing: Path) -> None:
    with serving(growing) as served:
        page = browser.new_page()
        page.goto(served.address)
        expect(page.locator("#where")).to_contain_text("event 3 of 3")
        write_more(growing, b"<img src=x>\n")
        expect(page.locator("#live")).to_contain_text("line 4: F03")
        page.close()


def test_a_file_that_was_replaced_is_not_read_on(browser: Browser, growing: Path) -> None:
    with serving(growing) as served:
        page = browser.new_page()
        page.goto(served.address)
        expect(page.locator("#where")).to_contain_text("event 3 of 3")
        other = growing.with_suffix(".new")
        other.write_bytes(b"".join(LINES))
        os.replace(other, growing)
        expect(page.locator("#live")).to_contain_text("is another file now")
        page.close()


def test_a_page_that_comes_back_gets_only_what_it_has_not(growing: Path) -> None:
    growing.write_bytes(b"".join(LINES))
    with serving(growing) as served:
        [(kind, whole)] = served.read_events(1)
        assert kind == "block"
        assert whole["lines"].count("\n") + 1 == len(LINES)
        [(_, rest)] = served.read_events(1, known=20)
        assert rest["lines"].split("\n") == whole["lines"].split("\n")[20:]
        assert rest["index"]["state"] == whole["index"]["state"][20:]
        assert rest["index"]["call"] == whole["index"]["call"][20:]


def test_only_who_knows_host_and_path_is_answered(growing: Path) -> None:
    with serving(growing) as served:
        assert served.address.startswith("http://127.0.0.1:")
        assert len(served.path) > 20
        right = f"127.0.0.1:{served.port}"
        status, page = served.get(served.path, right)
        assert status == 200
        assert 'id="about"' in page
        for path, host, method, expected in (
            ("/", right, "GET", 404),
            (served.path[:-1], right, "GET", 404),
            (served.path + "x", right, "GET", 404),
            ("/" + "A" * (len(served.path) - 2) + "/", right, "GET", 404),
            ("/../etc/passwd", right, "GET", 404),
            (served.path, "example.invalid", "GET", 421),
            (served.path, f"example.invalid:{served.port}", "GET", 421),
            (served.path, f"localhost:{served.port}", "GET", 421),
            (served.path + "events", "example.invalid", "GET", 421),
            (served.path, right, "POST", 501),
        ):
            status, body = served.get(path, host, method)
            assert status == expected, (path, host, method)
            assert 'id="about"' not in body
            assert growing.name not in body


def test_it_listens_on_this_machine_only(growing: Path) -> None:
    with serving(growing) as served:
        table = Path("/proc/net/tcp")
        if not table.exists():
            pytest.skip("no /proc/net/tcp on this system to read the address from")
        port = f":{served.port:04X}"
        listening = [line.split()[1] for line in table.read_text().splitlines() if " 0A " in line]
        assert [one for one in listening if one.endswith(port)] == [f"0100007F{port}"]


def test_two_servers_have_different_paths(growing: Path) -> None:
    with serving(growing) as one, serving(growing) as other:
        assert one.path != other.path


def test_ctrl_c_stops_it_quietly_also_while_a_page_reads(growing: Path) -> None:
    with serving(growing) as served:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
        connection.request("GET", f"{served.path}events")
        assert connection.getresponse().readline()
        assert served.stop() == (0, "")
        connection.close()


def test_the_policy_of_the_server_lets_nobody_frame_it(growing: Path) -> None:
    with serving(growing) as served:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
        connection.request("GET", served.path)
        headers = connection.getresponse().headers
        connection.close()
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["X-Content-Type-Options"] == "nosniff"
