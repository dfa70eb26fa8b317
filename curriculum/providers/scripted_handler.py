"""The scripted endpoint's side of one connection: reads requests, does the steps of an answer.

What an exchange says is done to the byte, so that a fault is the fault that was asked for.
"""

from __future__ import annotations

import base64
import json
import re
import select
import socket
import ssl
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any, Protocol

from curriculum.providers.scripted_answers import answer_steps

LOOK_SECONDS = 0.005  # how often a silent answer looks whether it may go on
MOST_BODY = 64 * 1024 * 1024
_LENGTH = re.compile("[0-9]{1,18}")


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


class Stage(Protocol):
    """What a connection asks of the endpoint that it belongs to."""

    @property
    def closing(self) -> bool:
        """Whether the endpoint is about to close."""

    def next_exchange(self, request: Request) -> dict[str, Any]:
        """The exchange that answers this request."""

    def is_open(self, gate: str) -> bool:
        """Whether an answer may go on at this gate."""

    def hung_up(self) -> None:
        """The client has hung up in the middle of an answer."""


class Handler(BaseHTTPRequestHandler):
    """Answers requests on one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def __init__(self, stage: Stage, *args: Any) -> None:
        self._stage = stage
        self._at_once = MOST_BODY
        self._exchange: Mapping[str, Any] = {}
        self._has_begun = False
        super().__init__(*args)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: standard error belongs to whoever runs the endpoint."""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        length = self.headers.get("content-length", "0")
        size = min(int(length), MOST_BODY) if _LENGTH.fullmatch(length) else 0
        headers = {name.lower(): text for name, text in self.headers.items()}
        request = Request(self.command, self.path, headers, self.rfile.read(size))
        exchange = self._stage.next_exchange(request)
        self._at_once = exchange.get("bytes_at_once", MOST_BODY)
        self._exchange, self._has_begun = exchange, False
        if "answer" in exchange:
            steps = answer_steps(self.path, exchange["answer"])
        else:
            steps = exchange.get("send", [])
        end = exchange.get("line_end", "\n")
        try:
            if all(self._play(step, end) for step in steps):
                self._begin()
                self.wfile.write(b"0\r\n\r\n")
            else:
                self.close_connection = True
        except OSError:
            self._stage.hung_up()
            self.close_connection = True

    def _begin(self) -> None:
        """Send status and headers, before the first byte of the answer and not earlier."""
        if self._has_begun:
            return
        self._has_begun = True
        self.send_response_only(self._exchange.get("status", 200))
        given = {"content-type": "text/event-stream", "date": self.date_time_string()}
        more = self._exchange.get("headers", {})
        given.update({name.lower(): text for name, text in more.items()})
        for name, text in {**given, "transfer-encoding": "chunked"}.items():
            self.send_header(name, text)
        self.end_headers()

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
            return self._wait(lambda: self._stage.is_open(step["gate"]))
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
        self._begin()
        for at in range(0, len(data), self._at_once):
            part = data[at : at + self._at_once]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))

    def _wait(self, may_go_on: Callable[[], bool]) -> bool:
        """Be silent until it may go on; whether anybody still listens then."""
        while not may_go_on():
            if self._stage.closing:
                return False
            readable = select.select([self.connection], [], [], LOOK_SECONDS)[0]
            if readable and not isinstance(self.connection, ssl.SSLSocket):
                if not self.connection.recv(1, socket.MSG_PEEK):
                    self._stage.hung_up()
                    return False
                time.sleep(LOOK_SECONDS)
        return True


def format_event(data: Mapping[str, Any], name: str | None = None, end: str = "\n") -> bytes:
    """One event as it stands in a stream: its name (by default its `type`), its JSON."""
    name = name if name is not None else data.get("type")
    head = f"event: {name}{end}" if name else ""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"{head}data: {text}{end}{end}".encode("utf-8", "surrogatepass")
