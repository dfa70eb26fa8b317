"""A model's endpoint that plays a scenario: a real HTTP server on loopback, without any model.

An adapter, another client or a whole program talks to it as to the real thing, and every fault of
a network or a provider can be had on demand. Run it by itself with
`python -m curriculum.providers.scripted_endpoint SCENARIO [--port 0]`; it prints its URL.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import ssl
import sys
import threading
from collections.abc import Mapping
from http.server import ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from curriculum.providers.scenario import ScenarioError, difference, load_scenario
from curriculum.providers.scripted_handler import Handler, Request


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

        def handler(*args: Any) -> Handler:
            return Handler(self, *args)

        self._server = _Server(("127.0.0.1", port), handler)
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        scheme = "https" if tls else "http"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.005,), daemon=True
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
    except (ValueError, RecursionError) as fault:
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
