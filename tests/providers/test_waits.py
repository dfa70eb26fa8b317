"""Every wait of an exchange ends when the token is raised: name, connection, TLS, sending, closing.

The servers are real sockets that stop answering at one point, and raise the token when they have
come to it. Where no server is reached, the token is raised by its own sixth look. So a wait that
never looks lasts until its time is up, and fails the test.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from curriculum.core.deadline import RequestDeadline
from curriculum.core.errors import CancelledError, TransientModelError
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message
from curriculum.core.seams import CancelToken
from curriculum.core.trace import SystemClock
from curriculum.providers.anthropic_messages import AnthropicModel
from curriculum.providers.chat_completions import ChatCompletionsModel
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.responses import ResponsesModel
from curriculum.providers.scripted_endpoint import ScriptedEndpoint
from tests.providers.stalled import PATIENCE_SECONDS, full_server, stalled_server
from tests.providers.test_http_cases import CERTIFICATES, tls
from tests.providers.wires import fault_of

LARGE = "x" * 4_000_000  # more than any socket holds
MODELS = {
    "responses": ResponsesModel,
    "chat": ChatCompletionsModel,
    "messages": AnthropicModel,
}


class Impatient(CancelToken):
    """A token that is raised at its sixth look: in the first half second of a wait."""

    def __init__(self) -> None:
        super().__init__()
        self._looks = 0

    def check(self) -> None:
        self._looks += 1
        if self._looks == 6:
            self.cancel()
        super().check()


def endpoint(port: int, scheme: str = "http", host: str = "127.0.0.1") -> Endpoint:
    patience = PATIENCE_SECONDS
    return Endpoint(f"{scheme}://{host}:{port}/v1", "test-key", patience, patience)


def assert_cancelled(
    where: Endpoint, token: CancelToken, text: str = "go", protocol: str = "responses"
) -> None:
    model = MODELS[protocol](where, "m", cancel=token)
    result = AgentRunner(model, cancel=token).run(text)
    assert (result.stop_reason, type(result.error)) == ("cancelled", CancelledError), result.error


@pytest.mark.parametrize("protocol", MODELS)
def test_a_cancel_ends_a_connection_that_is_not_answered(protocol: str) -> None:
    with full_server() as port:
        assert_cancelled(endpoint(port), Impatient(), protocol=protocol)


@pytest.mark.parametrize("greeting", [b"", b"\x16\x03", b"\x16\x03\x03\x40\x00"])
def test_a_cancel_ends_a_tls_handshake_that_is_not_answered_in_full(greeting: bytes) -> None:
    token = CancelToken()
    with stalled_server(greeting, then=token.cancel) as port:
        assert_cancelled(endpoint(port, "https"), token)


def test_a_cancel_ends_a_request_that_nobody_reads() -> None:
    token = CancelToken()
    with stalled_server(then=token.cancel) as port:
        assert_cancelled(endpoint(port), token, LARGE)


def test_a_cancel_ends_a_request_that_nobody_reads_through_tls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "server.pem"))
    token = CancelToken()
    hung_up = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def shake_hands() -> None:
            client, _ = listener.accept()
            with client, tls().wrap_socket(client, server_side=True):
                token.cancel()
                hung_up.wait(PATIENCE_SECONDS)

        thread = threading.Thread(target=shake_hands, daemon=True)
        thread.start()
        assert_cancelled(endpoint(listener.getsockname()[1], "https"), token, LARGE)
        hung_up.set()
        thread.join(PATIENCE_SECONDS)


def test_a_cancel_ends_the_search_for_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """No name server can be had here that is silent, so the call to the resolver stands still."""
    is_over = threading.Event()
    real = socket.getaddrinfo

    def stand_still(host: str, *given: object, **named: object) -> object:
        is_over.wait(PATIENCE_SECONDS)
        return real("127.0.0.1", *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", stand_still)
    assert_cancelled(endpoint(1, host="provider.invalid"), Impatient())
    is_over.set()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_cancel_ends_the_wait_for_a_proxy(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    """Plain requests are read and not answered; so is CONNECT."""
    token = CancelToken()
    with stalled_server(reads=True, then=token.cancel) as port:
        monkeypatch.setenv(f"{scheme}_proxy", f"http://127.0.0.1:{port}")
        assert_cancelled(endpoint(1, scheme, "provider.invalid"), token)
    with full_server() as port:
        monkeypatch.setenv(f"{scheme}_proxy", f"http://127.0.0.1:{port}")
        assert_cancelled(endpoint(1, scheme, "provider.invalid"), Impatient())


def test_a_cancel_ends_tls_behind_a_proxy_that_says_yes_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    token = CancelToken()
    greeting = b"HTTP/1.1 200 Connection established\r\n\r\n"
    with stalled_server(greeting, reads=True, then=token.cancel) as port:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        assert_cancelled(endpoint(1, "https", "provider.invalid"), token)


@pytest.mark.parametrize(
    "greeting",
    [
        b"HTTP/1.1 100",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-Long: ",
        b"HTTP/1.1 500 Oops\r\nContent-Length: 9999\r\n\r\nhalf",
    ],
)
def test_a_cancel_ends_the_wait_for_the_rest_of_an_answer(greeting: bytes) -> None:
    token = CancelToken()
    with stalled_server(greeting, reads=True, then=token.cancel) as port:
        assert_cancelled(endpoint(port), token)


@contextmanager
def stalled_at(step: str) -> Iterator[tuple[Endpoint, str]]:
    """An endpoint that stops answering there, and what to send it."""
    with full_server() if step == "connect" else stalled_server() as port:
        where = endpoint(port, "https" if step == "tls" else "http")
        yield where, LARGE if step == "send" else "go"


@pytest.mark.parametrize("step", ["connect", "tls", "send"])
def test_a_deadline_of_the_request_ends_the_wait(step: str) -> None:
    with stalled_at(step) as (where, text):
        model = RequestDeadline(
            lambda token: ResponsesModel(where, "m", cancel=token),
            SystemClock(),
            300_000,
            CancelToken(),
        )
        fault = fault_of(model, text)
    assert isinstance(fault, TransientModelError)
    assert "the request took longer than 0.3 s" in fault.message


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("connect", "no connection to 127.0.0.1"),
        ("tls", "no connection to 127.0.0.1"),
        ("send", "was silent for 0.2 s"),
    ],
)
def test_each_wait_ends_by_itself_when_its_time_is_up(step: str, said: str) -> None:
    with stalled_at(step) as (where, text):
        to_connect = PATIENCE_SECONDS if step == "send" else 0.2
        short = Endpoint(where.base_url, "test-key", to_connect, 0.2)
        fault = fault_of(ResponsesModel(short, "m"), text)
    assert isinstance(fault, TransientModelError)
    assert said in fault.message


def test_a_handshake_that_trickles_is_bounded_as_a_whole() -> None:
    """Each byte comes in time, and the handshake still has only the time to connect."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        hung_up = threading.Event()

        def trickle() -> None:
            client, _ = listener.accept()
            with client:
                client.sendall(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc")
                while not hung_up.wait(0.05):
                    try:
                        client.sendall(b"\x00")
                    except OSError:
                        return

        thread = threading.Thread(target=trickle, daemon=True)
        thread.start()
        where = f"https://127.0.0.1:{listener.getsockname()[1]}/v1"
        fault = fault_of(ResponsesModel(Endpoint(where, "test-key", 0.4), "m"))
        hung_up.set()
        thread.join(PATIENCE_SECONDS)
    assert isinstance(fault, TransientModelError)
    assert "within 0.4 s" in fault.message


def test_the_next_address_of_a_host_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo
    with ScriptedEndpoint("text") as server, socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # bound and not listening: refused

        def two(host: str, port: int, *given: object, **named: object) -> object:
            if host != "provider.invalid":
                return real(host, port, *given, **named)  # type: ignore[arg-type]
            ports = (nobody.getsockname()[1], port)
            return [entry for p in ports for entry in real("127.0.0.1", p, *given, **named)]  # type: ignore[arg-type]

        monkeypatch.setattr(socket, "getaddrinfo", two)
        url = server.url.replace("127.0.0.1", "provider.invalid")
        turn = ResponsesModel(Endpoint(url, "test-key"), "m").respond([Message("user", "go")], ())
    assert turn.content == "Hello from the scripted endpoint."


def serve_tls_proxy(listener: socket.socket, target: int, seen: list[bytes]) -> None:
    """One CONNECT through TLS; the bytes are passed on both ways, in two threads."""
    client, _ = listener.accept()
    with client, tls().wrap_socket(client, server_side=True) as safe:
        seen.append(safe.recv(65536))
        with socket.create_connection(("127.0.0.1", target), PATIENCE_SECONDS) as server:
            safe.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            safe.settimeout(0.02)

            def pass_on() -> None:
                try:
                    while data := server.recv(65536):
                        safe.sendall(data)
                except OSError:
                    return

            back = threading.Thread(target=pass_on, daemon=True)
            back.start()
            while True:
                try:
                    data = safe.recv(65536)
                except TimeoutError:
                    continue
                except OSError:
                    break
                if not data:
                    break
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)
            back.join(PATIENCE_SECONDS)


def test_tls_goes_through_a_proxy_that_is_reached_by_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both certificates are checked against the same authorities."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "server.pem"))
    seen: list[bytes] = []
    with (
        ScriptedEndpoint("text", tls=tls()) as server,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        port = int(server.url.split(":")[2].partition("/")[0])
        given = (listener, port, seen)
        thread = threading.Thread(target=serve_tls_proxy, args=given, daemon=True)
        thread.start()
        monkeypatch.setenv("https_proxy", f"https://127.0.0.1:{listener.getsockname()[1]}")
        url = server.url.replace("127.0.0.1", "provider.invalid")
        turn = ResponsesModel(Endpoint(url, "test-key"), "m").respond([Message("user", "go")], ())
        thread.join(PATIENCE_SECONDS)
    assert turn.content == "Hello from the scripted endpoint."
    assert seen[0].startswith(b"CONNECT provider.invalid:")
