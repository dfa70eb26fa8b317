"""A model's endpoint that plays a scenario: a real HTTP server on loopback, without any model.

An adapter, another client or a whole program talks to it as to the real thing, and every fault of
a network or a provider can be had on demand. Run it by itself with
`python -m curriculum.providers.scripted_endpoint SCENARIO [--port 0]`; it prints its URL.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import json
import select
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from curriculum.providers.scenario import ScenarioError, difference, load_scenario
from curriculum.providers.scripted_answers import answer_events

LOOK_SECONDS = 0.005  # how often a silent answer looks whether it may go on
MOST_BODY = 64 * 1024 * 1024


@dataclass(frozen=True)
class Request:
    """One request as it came; header names are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON. Raises ValueError if it is none."""
        return json.loads(self.body)


class ScriptedEndpoint:
    """Serves a scenario while the `with` block runs. `tls` makes it an https server.

    `url` is the base URL for an adapter, `requests` what came so far, `problems` how requests
    differed from what the scenario expects. Raises ScenarioError for a scenario that is wrong,
    OSError if the port is taken.
    """

    def __init__(
        self,
        scenario: Mapping[str, Any] | Path | str,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._exchanges = load_scenario(scenario)["exchanges"]
        self.requests: list[Request] = []
        self.problems: list[str] = []
        self._turn = threading.Lock()
        self._opened: set[str] = set()
        self._hung_up = threading.Event()
        self.closing = False

        def handler(*args: Any) -> _Handler:
            return _Handler(self, *args)

        self._server = _Server(("127.0.0.1", port), handler)
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        scheme = "https" if tls else "http"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    def __enter__(self) -> ScriptedEndpoint:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closing = True
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def serve(self) -> None:
        """Serve in this thread, until interrupted."""
        try:
            self._server.serve_forever()
        finally:
            self.closing = True
            self._server.server_close()

    def open(self, gate: str) -> None:
        """Let every answer go on that waits at this gate, now or later."""
        self._opened.add(gate)

    def is_open(self, gate: str) -> bool:
        """Whether that gate was opened."""
        return gate in self._opened

    def wait_hang_up(self, seconds: float = 10.0) -> bool:
        """Wait until a client has hung up in the middle of an answer; whether one has."""
        return self._hung_up.wait(seconds)

    def hung_up(self) -> None:
        """A client has hung up."""
        self._hung_up.set()

    # region: play
    def next_exchange(self, request: Request) -> dict[str, Any]:
        """Note the request; the exchange that answers it, or the error that says why none does."""
        if request.method == "GET":
            listed = {"object": "list", "data": [{"id": "scripted", "object": "model"}]}
            return _plain(200, listed)
        with self._turn:
            self.requests.append(request)
            number = len(self.requests)
            if number > len(self._exchanges):
                problem = f"the scenario has only {len(self._exchanges)} exchanges"
            else:
                exchange: dict[str, Any] = self._exchanges[number - 1]
                problem = _compare(exchange.get("expect", {}), request) or ""
                if not problem:
                    return exchange
            self.problems.append(f"request {number}: {problem}")
            error = {"type": "invalid_request_error", "code": "scenario", "message": problem}
            return _plain(400, {"error": error})

    # endregion


def _plain(status: int, data: object) -> dict[str, Any]:
    headers = {"content-type": "application/json"}
    return {"status": status, "headers": headers, "send": [{"raw": json.dumps(data)}]}


def _compare(expect: Mapping[str, Any], request: Request) -> str | None:
    try:
        body = request.json()
    except ValueError as fault:
        return f"the body is no JSON: {fault}"
    headers = {name.lower(): text for name, text in expect.get("headers", {}).items()}
    for name in expect.get("lacks", ()):
        if isinstance(body, Mapping) and name in body:
            return f"body.{name} should not be there"
    return (
        difference(expect.get("path", request.path), request.path, "path")
        or difference(headers, request.headers, "headers")
        or difference(expect.get("body", {}), body, "body")
    )


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that breaks off, or refuses our certificate, is no error of the server."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Answers requests on one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def __init__(self, endpoint: ScriptedEndpoint, *args: Any) -> None:
        self._endpoint = endpoint
        self._at_once = MOST_BODY
        super().__init__(*args)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: standard error belongs to whoever runs the endpoint."""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        length = self.headers.get("content-length", "0")
        size = min(int(length), MOST_BODY) if length.isdigit() else 0
        headers = {name.lower(): text for name, text in self.headers.items()}
        request = Request(self.command, self.path, headers, self.rfile.read(size))
        exchange = self._endpoint.next_exchange(request)
        self._at_once = exchange.get("bytes_at_once", MOST_BODY)
        self.send_response_only(exchange.get("status", 200))
        given = {"content-type": "text/event-stream", "date": self.date_time_string()}
        given.update({name.lower(): text for name, text in exchange.get("headers", {}).items()})
        for name, text in {**given, "transfer-encoding": "chunked"}.items():
            self.send_header(name, text)
        self.end_headers()
        if "answer" in exchange:
            steps = [{"event": event} for event in answer_events(self.path, exchange["answer"])]
        else:
            steps = exchange.get("send", [])
        end = exchange.get("line_end", "\n")
        try:
            if all(self._play(step, end) for step in steps):
                self.wfile.write(b"0\r\n\r\n")
            else:
                self.close_connection = True
        except OSError:
            self._endpoint.hung_up()
            self.close_connection = True

    # region: step
    def _play(self, step: Mapping[str, Any], end: str) -> bool:
        """Do one step; whether the answer goes on."""
        if "event" in step:
            self._write(format_event(step["event"], step.get("name"), end))
        elif "raw" in step:
            self._write(step["raw"].encode("utf-8", "surrogatepass"))
        elif "base64" in step:
            self._write(base64.b64decode(step["base64"]))
        elif "gate" in step:
            return self._wait(lambda: self._endpoint.is_open(step["gate"]))
        elif "stall" in step:
            until = time.monotonic() + step["stall"]
            return self._wait(lambda: time.monotonic() >= until)
        elif step.get("hold"):
            return self._wait(lambda: False)
        elif step.get("reset"):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            return False
        elif step.get("cut"):
            return False
        return True

    # endregion

    def _write(self, data: bytes) -> None:
        for at in range(0, len(data), self._at_once):
            part = data[at : at + self._at_once]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))

    def _wait(self, may_go_on: Callable[[], bool]) -> bool:
        """Be silent until it may go on; whether anybody still listens then."""
        while not may_go_on():
            if self._endpoint.closing:
                return False
            readable = select.select([self.connection], [], [], LOOK_SECONDS)[0]
            if readable and not isinstance(self.connection, ssl.SSLSocket):
                if not self.connection.recv(1, socket.MSG_PEEK):
                    self._endpoint.hung_up()
                    return False
                time.sleep(LOOK_SECONDS)
        return True


def format_event(data: Mapping[str, Any], name: str | None = None, end: str = "\n") -> bytes:
    """One event as it stands in a stream: its name (by default its `type`), its JSON."""
    name = name if name is not None else data.get("type")
    head = f"event: {name}{end}" if name else ""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"{head}data: {text}{end}{end}".encode("utf-8", "surrogatepass")


def main(arguments: list[str] | None = None) -> int:
    """Serve one scenario; returns the exit code."""
    parser = argparse.ArgumentParser(prog="scripted_endpoint", description=__doc__)
    parser.add_argument(
        "scenario", metavar="SCENARIO", help="a file, or the name of a packaged one"
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    given = parser.parse_args(arguments)
    try:
        endpoint = ScriptedEndpoint(given.scenario, given.port)
    except ScenarioError as fault:
        print(f"scripted_endpoint: {fault}", file=sys.stderr)
        return 2
    except (OSError, OverflowError) as fault:
        print(f"scripted_endpoint: port {given.port}: {fault}; take another", file=sys.stderr)
        return 2
    print(endpoint.url, flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        endpoint.serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
