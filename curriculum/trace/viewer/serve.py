"""The page of a growing file, served to this machine only.

The server listens on 127.0.0.1, at a port and under a path that nobody can guess, and answers only
requests that name it as their host, so that no other page and no other name can reach it. Events
come as server-sent events; each reader of the page has a reader of the file of its own.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from curriculum.core.visible import escape
from curriculum.trace.engines import Engine
from curriculum.trace.inputs import RefusedError, open_source
from curriculum.trace.report import shown_name
from curriculum.trace.viewer.blocks import Block
from curriculum.trace.viewer.build import about
from curriculum.trace.viewer.follow import follow
from curriculum.trace.viewer.page import Page

LOOPBACK = "127.0.0.1"
HEARTBEAT_SECONDS = 10.0  # how late it is noticed that a page was closed
TOKEN_BYTES = 16
EVENTS = "events"


class Followed:
    """One file, its page, and the path under which both are served."""

    def __init__(self, name: str, engine: Engine) -> None:
        self.name, self.engine = name, engine
        self.path = f"/{secrets.token_urlsafe(TOKEN_BYTES)}/"
        page = Page(is_live=True)
        self.policy = f"{page.policy}; frame-ancestors 'none'"
        self.page = f"{page.begin()}{page.end(about([name], [0], None, EVENTS))}".encode()
        self.has_stopped = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    """Answers GET for the page and for its events, and nothing else."""

    server: _Server
    protocol_version = "HTTP/1.0"  # the end of a stream is the end of its connection

    def do_GET(self) -> None:
        followed = self.server.followed
        host = self.headers.get("Host", "")
        if host != f"{LOOPBACK}:{self.server.server_port}":
            return self._refuse(HTTPStatus.MISDIRECTED_REQUEST)
        if hmac.compare_digest(self.path.encode(), followed.path.encode()):
            return self._send_page(followed)
        if hmac.compare_digest(self.path.encode(), f"{followed.path}{EVENTS}".encode()):
            return self._send_events(followed)
        return self._refuse(HTTPStatus.NOT_FOUND)

    def _refuse(self, status: HTTPStatus) -> None:
        self._begin(status, "text/plain; charset=utf-8")
        self.wfile.write(f"{status.phrase}\n".encode())

    def _begin(self, status: HTTPStatus, kind: str) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Security-Policy", self.server.followed.policy),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
        ):
            self.send_header(name, value)
        self.end_headers()

    def _send_page(self, followed: Followed) -> None:
        self._begin(HTTPStatus.OK, "text/html; charset=utf-8")
        self.wfile.write(followed.page)

    def _send_events(self, followed: Followed) -> None:
        self._begin(HTTPStatus.OK, "text/event-stream")
        known = self._known_events()  # by a page whose connection broke
        last = time.monotonic()

        def send(kind: str, data: str, number: int) -> None:
            nonlocal last
            last = time.monotonic()
            self.wfile.write(f"id: {number}\nevent: {kind}\ndata: {data}\n\n".encode())

        def tell(block: Block, count: int) -> None:
            lines = json.dumps(block.lines, ensure_ascii=False)
            send("block", f'{{"index":{block.index},"lines":{lines}}}', count)

        def idle() -> bool:
            nonlocal last
            if time.monotonic() - last > HEARTBEAT_SECONDS:
                last = time.monotonic()
                self.wfile.write(b": still here\n\n")
            return not followed.has_stopped.is_set()

        try:
            follow(followed.name, followed.engine, tell, idle, known)
        except RefusedError as refused:
            send("fault", json.dumps(escape(str(refused))), known)

    def _known_events(self) -> int:
        known = self.headers.get("Last-Event-ID", "0")
        return int(known) if known.isdecimal() and len(known) < 16 else 0

    def handle(self) -> None:
        try:
            super().handle()
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            self.close_connection = True  # the page was closed

    def version_string(self) -> str:
        return "trace"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the path is a secret."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, followed: Followed) -> None:
        self.followed = followed
        super().__init__((LOOPBACK, 0), _Handler)


def serve(name: str, engine: Engine, open_browser: Callable[[str], None] | None) -> int:
    """Serve until Ctrl+C; returns the exit code. Raises RefusedError."""
    with open_source(name):
        pass  # refuse now what could not be read later
    followed = Followed(name, engine)
    with _Server(followed) as server:
        address = f"http://{LOOPBACK}:{server.server_port}{followed.path}"
        print(f"following {shown_name(name)} at {address} (Ctrl+C stops)", flush=True)
        try:
            if open_browser:
                open_browser(address)
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            pass
        finally:
            followed.has_stopped.set()
    return 0
