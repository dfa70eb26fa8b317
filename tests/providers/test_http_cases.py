"""Section H of the cases, over a real socket: what HTTP, TLS and a configuration can do wrong.

Waiting and trying again belong to the retry policy; here each answer becomes an error that says
whether and when to. Exit codes belong to the terminal program; here a wrong key or address is a
ValueError before anything is sent.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from curriculum.core.errors import (
    AuthenticationError,
    CancelledError,
    ContextOverflowError,
    ModelError,
    ProtocolError,
    RateLimitError,
    RunError,
    TransientModelError,
)
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message
from curriculum.core.seams import CancelToken
from curriculum.providers.connection import MOST_ERROR_BYTES, _beginning
from curriculum.providers.endpoint import Endpoint, check_key, check_url
from curriculum.providers.faults import StaleReasoningError as Stale
from curriculum.providers.responses import ResponsesModel
from curriculum.providers.scripted_endpoint import ScriptedEndpoint
from tests.golden import ROOT
from tests.providers.conftest import Serve
from tests.providers.wires import fault_of

Event = dict[str, Any]
GO = [Message("user", "go")]
KEY = "sk-secret-7f3a"
# Self-signed, of use to nobody: for 127.0.0.1, localhost and provider.invalid, from 2020 to 2120.
CERTIFICATES = Path(__file__).parent / "certificates"
DATE = "Tue, 01 Dec 2026 04:00:00 GMT"


def endpoint_of(server: ScriptedEndpoint, **given: Any) -> Endpoint:
    return Endpoint(server.url, KEY, **{"silence_seconds": 60.0, **given})


def model_of(server: ScriptedEndpoint, **given: Any) -> ResponsesModel:
    return ResponsesModel(endpoint_of(server, **given), "scripted")


def answer(status: int, body: object = "", **headers: str) -> Event:
    text = body if isinstance(body, str) else json.dumps(body)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return {"status": status, "headers": named, "send": [{"raw": text}]}


def error(message: str, **fields: object) -> Event:
    return {"error": {"message": message, "type": None, "param": None, "code": None, **fields}}


def failure(model: ResponsesModel) -> RunError:
    fault = fault_of(model)
    assert KEY not in f"{fault!r}{fault.payload()}"
    assert fault.message.isprintable()
    return fault


def failure_of(serve: Serve, exchange: Event, **given: Any) -> RunError:
    server = serve(exchange)
    fault = failure(model_of(server, **given))
    assert len(server.requests) == 1
    return fault


@pytest.mark.parametrize(
    ("after", "wait"),
    [
        ("2", 2.0),
        ("0", 0.0),
        ("1.5", 1.5),
        ("Tue, 01 Dec 2026 04:00:07 GMT", 7.0),
        ("Tue, 01 Dec 2026 03:59:00 GMT", 0.0),
        ("-1", None),
        ("NaN", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        ("Tue, 99 Dec 2026 04:00:07 GMT", None),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_h1_a_wait_that_is_asked_for_is_passed_on(
    serve: Serve, after: str, wait: float | None, status: int
) -> None:
    fault = failure_of(serve, answer(status, error("slow down"), retry_after=after, date=DATE))
    assert isinstance(fault, RateLimitError if status == 429 else TransientModelError)
    assert (fault.retryable, fault.retry_after_seconds) == (True, wait)


def test_h1_milliseconds_are_more_exact(serve: Serve) -> None:
    exchange = answer(429, error("slow down"), retry_after="2", retry_after_ms="1250")
    fault = failure_of(serve, exchange)
    assert isinstance(fault, RateLimitError)
    assert fault.retry_after_seconds == 1.25


@pytest.mark.parametrize("after", ["86400", "61", "Wed, 02 Dec 2026 04:00:00 GMT", "1e300"])
@pytest.mark.parametrize("status", [429, 503])
def test_h1_a_wait_that_is_too_long_is_a_failure_that_says_so(
    serve: Serve, after: str, status: int
) -> None:
    fault = failure_of(serve, answer(status, error("slow down"), retry_after=after, date=DATE))
    assert isinstance(fault, ModelError)
    assert not fault.retryable
    assert re.search(r"wait of \d+ s, longer than 60 s", fault.message)


@pytest.mark.parametrize(
    ("text", "wait", "retryable"),
    [
        ("Please try again in 7m12s.", 432.0, False),
        ("Please try again in 1.5s.", 1.5, True),
        ("Please try again in 20ms.", 0.02, True),
        ("Please retry after 3s", 3.0, True),
        ("Please try again in 1h2m3s", 3723.0, False),
        ("Please try again in a while", None, True),
    ],
)
def test_h2_a_wait_in_the_text_is_understood_and_the_text_is_shown(
    serve: Serve, text: str, wait: float | None, retryable: bool
) -> None:
    fault = failure_of(serve, answer(429, error(text, code="rate_limit_exceeded")))
    assert isinstance(fault, RateLimitError)
    assert (fault.retry_after_seconds, fault.retryable) == (wait, retryable)
    assert text in fault.message


@pytest.mark.parametrize(
    "body",
    [
        error("You exceeded your current quota", code="insufficient_quota"),
        error("You exceeded your current quota", type="insufficient_quota"),
        error("The usage limit has been reached", type="usage_limit_reached"),
        error("no credit", type="billing_error"),
    ],
)
def test_h3_a_used_up_quota_is_not_tried_again(serve: Serve, body: Event) -> None:
    fault = failure_of(serve, answer(429, body, retry_after="1"))
    assert isinstance(fault, RateLimitError)
    assert not fault.retryable
    assert "check plan and billing" in fault.message


def test_h3_a_quota_that_ends_in_the_stream_is_not_tried_again(serve: Serve) -> None:
    fault = failure_of(serve, {"send": [{"event": error("no", code="insufficient_quota")}]})
    assert isinstance(fault, RateLimitError)
    assert not fault.retryable


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529, 408, 425])
def test_h4_a_gateway_page_is_quoted_short_and_escaped(serve: Serve, status: int) -> None:
    page = "<html><h1>Bad \x1b[31mGateway\x07</h1>\n\u202e" + "x" * 5000 + "</html>"
    fault = failure_of(serve, answer(status, page, content_type="text/html"))
    assert isinstance(fault, TransientModelError)
    assert str(status) in fault.message
    assert r"<html><h1>Bad \x1b[31mGateway\x07</h1>\n\u202e" in fault.message
    assert len(fault.message) < 500


def test_h4_an_empty_or_endless_error_page_is_an_error_too(serve: Serve) -> None:
    assert "it gave no reason" in failure_of(serve, answer(503)).message
    endless = {"status": 502, "send": [{"raw": "x" * 100_000}, {"hold": True}]}
    assert isinstance(failure_of(serve, endless), TransientModelError)
    cut = {"status": 502, "send": [{"raw": "half a pa"}, {"cut": True}]}
    assert "half a pa" in failure_of(serve, cut).message


def test_h4_no_more_of_an_error_page_is_read_than_is_of_use() -> None:
    read = 0

    def page() -> Iterator[bytes]:
        nonlocal read
        for _ in range(1000):
            read += 1
            yield b"x" * 1000

    assert len(_beginning(httpx.Response(502, content=page()))) == MOST_ERROR_BYTES
    assert read <= MOST_ERROR_BYTES // 1000 + 1


def test_h4_a_page_that_cannot_be_unpacked_is_an_error_by_its_status(serve: Serve) -> None:
    page = answer(502, "no gzip at all", content_encoding="gzip")
    assert isinstance(failure_of(serve, page), TransientModelError)


@pytest.mark.parametrize("kind", ["text/html", "application/json", "text/plain; charset=utf-8"])
def test_h4_a_page_in_place_of_a_stream_is_no_answer(serve: Serve, kind: str) -> None:
    fault = failure_of(serve, answer(200, "<b>Log in</b>", content_type=kind))
    assert isinstance(fault, ProtocolError)
    assert "<b>Log in</b>" in fault.message
    assert "check the base URL" in fault.message


def test_an_error_with_status_200_is_typed(serve: Serve) -> None:
    body = error("too fast", code="rate_limit_exceeded")
    fault = failure_of(serve, answer(200, body, content_type="application/json"))
    assert isinstance(fault, RateLimitError)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_h6_redirects_are_not_followed(serve: Serve, status: int) -> None:
    other = serve({"answer": {"text": "stolen"}})
    fault = failure_of(serve, answer(status, "moved", location=f"{other.url}/responses"))
    assert type(fault) is ModelError
    assert not fault.retryable
    assert other.url in fault.message
    assert other.requests == []


@pytest.mark.parametrize("key", ["sk-x\n", "sk-x\r\n", " sk-x ", "\tsk-x"])
def test_h8_white_space_around_a_key_is_dropped(serve: Serve, key: str) -> None:
    server = serve("text")
    ResponsesModel(Endpoint(server.url, key), "scripted").respond(GO, ())
    assert server.requests[0].headers["authorization"] == "Bearer sk-x"


@pytest.mark.parametrize(
    "key",
    [
        "sk-a\nsk-b",
        "sk-a sk-b",
        "sk-a\r\nX-Evil: 1",
        "sk-\u00e4",
        "sk-\x7f",
        "sk-\0x",
        "sk-\u2028x",
    ],
)
def test_h8_a_key_that_cannot_be_one_is_refused_before_it_is_used(key: str) -> None:
    with pytest.raises(ValueError, match="the API key has") as caught:
        Endpoint("https://localhost/v1", key)
    assert "sk-" not in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("key", ["", "  ", "\n"])
def test_h9_an_empty_key_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="the API key is empty"):
        Endpoint("https://localhost/v1", key)
    with pytest.raises(ValueError, match="the API key is empty"):
        check_key(key)


def test_a_server_without_keys_is_sent_none(serve: Serve) -> None:
    server = serve("text")
    ResponsesModel(Endpoint(server.url, None), "scripted").respond(GO, ())
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8080",
        "ftp://localhost/v1",
        "https://",
        "https:///v1",
        "https://host:99999/v1",
        "https://host:x/v1",
        "https://[::1/v1",
        "https://ho st/v1",
        "https://host/v1#x",
        "https://h\u00f6st/v1",
        "https://host/v1\x1b",
    ],
)
def test_a_base_url_that_leads_nowhere_is_refused_in_one_line(url: str) -> None:
    with pytest.raises(ValueError, match="the base URL") as caught:
        check_url(url)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("url", [f"https://user:{KEY}@host/v1", f"ftp://{KEY}@host", f"//{KEY}@/"])
def test_j4_a_key_in_the_url_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(ValueError, match="give the key apart") as caught:
        Endpoint(url, None)
    assert KEY not in str(caught.value)


def test_the_path_and_query_of_the_base_url_are_kept() -> None:
    assert (
        Endpoint("http://host/a/b/?v=1", None).url("responses") == "http://host/a/b/responses?v=1"
    )
    assert Endpoint(" http://[::1]:80 ", None).url("responses") == "http://[::1]:80/responses"


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_not_tried_again_and_not_shown(serve: Serve, status: int) -> None:
    body = error(f"Incorrect API key provided: {KEY}. \x1b", code="invalid_api_key")
    fault = failure_of(serve, answer(status, body))
    assert isinstance(fault, AuthenticationError)
    assert not fault.retryable
    assert "[REDACTED:api-key:1]" in fault.message
    assert "check the key" in fault.message


def test_j4_the_key_is_in_no_error_event_and_no_repr(serve: Serve) -> None:
    reason = {"incomplete_details": {"reason": KEY}}
    for step in (
        {"event": error(f"you sent {KEY}", code="server_error")},
        {"event": error("no", code=f"\x1b{KEY}", type=KEY)},
        {"raw": f"event: error\ndata: {KEY}\n\n"},
        {"raw": f"data: {KEY}\n\n"},
        {"event": {"type": "response.incomplete", "response": reason}},
    ):
        failure_of(serve, {"send": [step]})
    failure_of(serve, answer(302, "", location=f"https://host/?key={KEY}"))
    failure_of(serve, answer(200, KEY, content_type="text/plain"))
    failure_of(serve, answer(200, "x", content_type=f"text/{KEY}"))
    assert KEY not in repr(Endpoint("https://host", KEY))


@pytest.mark.parametrize(
    "call",
    [
        {"call_id": [KEY], "name": "x", "arguments": "{}"},
        {"call_id": KEY, "name": "", "arguments": "{}"},
        {"call_id": KEY, "name": "x", "arguments": 5},
    ],
)
def test_j4_the_key_is_in_no_message_about_a_call(serve: Serve, call: dict[str, object]) -> None:
    item = {"type": "function_call", **call}
    done = {"type": "response.completed", "response": {"output": [item]}}
    fault = failure_of(serve, {"send": [{"event": done}]})
    assert KEY not in str(fault)


def test_j4_a_body_that_is_cut_inside_the_key_shows_no_part_of_it(serve: Serve) -> None:
    for size in (len(KEY) - 1, len(KEY) // 2 + 1):
        fault = failure_of(serve, answer(401, " " * (64 * 1024 - size) + KEY))
        assert KEY[:size] not in str(fault)


@pytest.mark.parametrize("location", ["//evil\x80", "http://[::1", "//" + "x" * 70_000])
def test_h6_a_redirect_to_nowhere_is_a_typed_error(serve: Serve, location: str) -> None:
    fault = failure_of(serve, answer(302, "", location=location))
    assert isinstance(fault, ModelError)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, error("Request too large: reduce the length or wait"), RateLimitError),
        (404, error("The model `x` does not exist", code="model_not_found"), ModelError),
        (400, error("no", code="invalid_prompt"), ModelError),
        (402, error("pay"), RateLimitError),
        (413, error("too many bytes", type="request_too_large"), ContextOverflowError),
        (400, error("This model's maximum context length is 8192 tokens"), ContextOverflowError),
        (400, error("Your input exceeds the context window of this model"), ContextOverflowError),
        (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, ModelError),
        (400, {"error": "just text"}, ModelError),
        (400, {"message": "flat", "code": "context_length_exceeded"}, ContextOverflowError),
        (400, "[1, 2]", ModelError),
        (400, '{"error":' * 900 + "{}" + "}" * 900, ModelError),
        (400, '{"message":' + "[" * 900 + "]" * 900 + "}", ModelError),
        (400, "null", ModelError),
        (400, error("messages.1.content.0: Invalid `signature` in `thinking` block"), Stale),
        (418, "tea", ModelError),
        (204, "", ModelError),
    ],
)
def test_every_shape_of_error_is_typed(
    serve: Serve, status: int, body: object, kind: type[ModelError]
) -> None:
    fault = failure_of(serve, answer(status, body))
    assert type(fault) is kind
    assert fault.retryable == (status == 429)


def tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "server.pem", CERTIFICATES / "server.key")
    return context


@pytest.fixture
def safe_server() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint("text", tls=tls()) as server:
        yield server


def test_h11_a_certificate_that_nobody_knows_is_refused(safe_server: ScriptedEndpoint) -> None:
    fault = failure(model_of(safe_server))
    assert type(fault) is ModelError
    assert not fault.retryable
    assert "CERTIFICATE_VERIFY_FAILED" in fault.message
    assert "SSL_CERT_FILE" in fault.message
    assert safe_server.requests == []


def test_h11_a_certificate_that_the_user_names_is_accepted(
    safe_server: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "server.pem"))
    turn = model_of(safe_server).respond(GO, ())
    assert turn.content == "Hello from the scripted endpoint."


@pytest.mark.parametrize("name", ["missing.pem", "server.key", "."])
def test_h11_certificates_that_cannot_be_read_are_named(
    safe_server: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / name))
    fault = failure(model_of(safe_server))
    assert type(fault) is ModelError
    assert "SSL_CERT_FILE" in fault.message
    assert safe_server.requests == []


def test_h11_plain_text_where_tls_is_expected_is_no_safe_connection(serve: Serve) -> None:
    server = serve("text")
    url = server.url.replace("http:", "https:")
    fault = failure(ResponsesModel(Endpoint(url, KEY), "scripted"))
    assert type(fault) is ModelError
    assert "no safe connection" in fault.message


def test_h13_nothing_of_the_environment_is_read_but_proxies_and_certificates(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the key comes from is for the program to decide; the adapter uses what it was given."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    server = serve("text")
    model_of(server).respond(GO, ())
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_proxy_of_the_environment_is_used_and_no_proxy_is_heeded(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = serve("text")
    monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
    model = ResponsesModel(Endpoint("http://provider.invalid/v1", KEY), "scripted")
    assert model.respond(GO, ()).content == "Hello from the scripted endpoint."
    assert proxy.requests[0].path == "http://provider.invalid/v1/responses"
    monkeypatch.setenv("no_proxy", "provider.invalid")
    assert "no connection to provider.invalid" in failure(model).message


def test_no_server_is_a_failure_that_may_pass() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # bound and not listening: refused
        where = Endpoint(f"http://127.0.0.1:{nobody.getsockname()[1]}/v1", KEY)
        fault = failure(ResponsesModel(where, "scripted"))
    assert isinstance(fault, TransientModelError)
    assert "127.0.0.1" in fault.message


def test_a_silent_server_is_left_after_the_time_allowed(serve: Serve) -> None:
    for steps in ([{"hold": True}], [{"raw": ": ping\n\n"}, {"hold": True}]):
        server = serve({"send": steps})
        fault = failure(model_of(server, silence_seconds=0.2))
        assert isinstance(fault, TransientModelError)
        assert "silent for 0.2 s" in fault.message
        assert server.wait_hang_up()


def cancel_when_asked(server: ScriptedEndpoint, token: CancelToken) -> None:
    """Cancel as soon as the request has arrived."""
    looks = threading.Event()
    while not server.requests:
        looks.wait(0.005)
    token.cancel("user")


@pytest.mark.parametrize("steps", [[{"hold": True}], [{"raw": ": ping\n\n"}, {"hold": True}]])
def test_a_cancel_ends_a_read_that_is_blocked(serve: Serve, steps: list[Event]) -> None:
    server = serve({"send": steps})
    token = CancelToken()
    model = ResponsesModel(endpoint_of(server, silence_seconds=60.0), "scripted", cancel=token)
    thread = threading.Thread(target=cancel_when_asked, args=(server, token))
    thread.start()
    result = AgentRunner(model, cancel=token).run("go")
    thread.join()
    assert isinstance(result.error, CancelledError)
    assert result.stop_reason == "cancelled"
    assert server.wait_hang_up()


def test_a_cancel_ends_a_read_through_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "server.pem"))
    token = CancelToken()
    with ScriptedEndpoint({"exchanges": [{"send": [{"hold": True}]}]}, tls=tls()) as server:
        endpoint = endpoint_of(server, silence_seconds=60.0)
        model = ResponsesModel(endpoint, "scripted", cancel=token)
        thread = threading.Thread(target=cancel_when_asked, args=(server, token))
        thread.start()
        assert isinstance(failure(model), CancelledError)
        thread.join()


def test_a_cancel_between_two_pieces_shows_no_more(serve: Serve) -> None:
    server = serve({"answer": {"pieces": ["a", "b", "c"]}})
    token = CancelToken()
    model = ResponsesModel(endpoint_of(server), "scripted", cancel=token)
    stream = model.stream(GO, ())
    assert next(stream) == "a"
    token.cancel()
    with pytest.raises(CancelledError):
        next(stream)


def test_a_cancelled_token_sends_nothing(serve: Serve) -> None:
    server = serve("text")
    token = CancelToken()
    token.cancel()
    model = ResponsesModel(endpoint_of(server), "scripted", cancel=token)
    assert isinstance(failure(model), CancelledError)
    assert server.requests == []


INTERRUPTED = """
import sys
from curriculum.core.loop import AgentRunner
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.faults import StaleReasoningError as Stale
from curriculum.providers.responses import ResponsesModel
model = ResponsesModel(Endpoint(sys.argv[1], "k", silence_seconds=60.0), "scripted")
print(AgentRunner(model).run("go").stop_reason)
"""


def test_h1_ctrl_c_ends_a_wait_at_once(serve: Serve) -> None:
    server = serve({"send": [{"hold": True}]})
    run = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, server.url], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    looks = threading.Event()
    while not server.requests and run.poll() is None:
        looks.wait(0.005)
    os.kill(run.pid, signal.SIGINT)
    assert run.communicate(timeout=60)[0] == "cancelled\n"
    assert server.wait_hang_up()


def test_whoever_stops_reading_hangs_up(serve: Serve) -> None:
    delta = {"type": "response.output_text.delta", "delta": "a"}
    server = serve({"send": [{"event": delta}, {"hold": True}]})
    stream = model_of(server).stream(GO, ())
    assert next(stream) == "a"
    stream.close()
    assert server.wait_hang_up()


def test_without_httpx_one_line_says_what_to_install() -> None:
    code = """
import sys
sys.modules["httpx"] = None
from curriculum.core.messages import Message
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.faults import StaleReasoningError as Stale
from curriculum.providers.responses import ResponsesModel
try:
    ResponsesModel(Endpoint("http://127.0.0.1:9/v1", "k"), "m").respond([Message("user", "x")], ())
except Exception as fault:
    print(type(fault).__name__, fault)
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.stdout.startswith("ModelError a real model needs httpx")
    assert "run `make locked` in a checkout, then the same command with .venv" in run.stdout


def test_importing_an_adapter_does_not_import_httpx() -> None:
    code = "import sys, curriculum.providers.responses; print('httpx' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.stdout == "False\n", run.stderr


class Tunnel:
    """A proxy for one CONNECT request: passes the bytes on, and keeps the request."""

    def __init__(self) -> None:
        self.request = b""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Tunnel:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(10)
        self._listener.close()

    def _serve(self) -> None:
        client, _ = self._listener.accept()
        with client, contextlib.suppress(OSError):
            while b"\r\n\r\n" not in self.request:
                self.request += client.recv(4096)
            port = self.request.split()[1].decode().rpartition(":")[2]
            with socket.create_connection(("127.0.0.1", int(port)), 10) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                other = {client: server, server: client}
                while True:
                    for ready in select.select([client, server], [], [], 10)[0]:
                        data = ready.recv(65536)
                        if not data:
                            return
                        other[ready].sendall(data)


def test_tls_goes_through_a_proxy_end_to_end(
    safe_server: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "server.pem"))
    url = safe_server.url.replace("127.0.0.1", "provider.invalid")
    with Tunnel() as tunnel:
        monkeypatch.setenv("https_proxy", f"user:pass@{tunnel.address}")
        turn = ResponsesModel(Endpoint(url, KEY), "scripted").respond(GO, ())
    assert turn.content == "Hello from the scripted endpoint."
    assert tunnel.request.startswith(b"CONNECT provider.invalid:")
    assert b"Proxy-Authorization: Basic dXNlcjpwYXNz" in tunnel.request
    assert KEY.encode() not in tunnel.request


@pytest.mark.parametrize(
    "proxy", ["socks5://secret@host:1", "ftp://secret@host", "http://secret@[::1"]
)
def test_a_proxy_that_cannot_be_used_is_told_without_its_password(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    fault = failure(ResponsesModel(Endpoint("http://provider.invalid/v1", KEY), "scripted"))
    assert type(fault) is ModelError
    assert "NO_PROXY" in fault.message
    assert "secret" not in fault.message


def test_what_is_on_this_computer_needs_no_proxy(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert model_of(serve("text")).respond(GO, ()).content
    local = serve("text").url.replace("127.0.0.1", "localhost")
    assert ResponsesModel(Endpoint(local, KEY), "scripted").respond(GO, ()).content


@pytest.mark.parametrize(
    "host", ["a" * 70 + ".invalid", "a..invalid", "xn--a.invalid", "256.1.1.1"]
)
def test_a_host_that_cannot_be_one_is_a_typed_error(host: str) -> None:
    fault = failure(ResponsesModel(Endpoint(f"http://{host}/v1", KEY), "scripted"))
    assert isinstance(fault, ModelError)
    assert host[:10] in fault.message


def test_a_server_that_speaks_no_http_is_told_apart() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer_garbage() -> None:
            client, _ = listener.accept()
            with client:
                client.recv(65536)
                client.sendall(b"\x1b[31mSSH-2.0\r\n\r\n")

        thread = threading.Thread(target=answer_garbage, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        fault = failure(ResponsesModel(Endpoint(url, KEY), "scripted"))
        thread.join(10)
    assert isinstance(fault, TransientModelError)


@pytest.mark.parametrize("steps", [[{"cut": True}], [{"reset": True}]])
def test_a_server_that_hangs_up_without_an_answer_may_pass(
    serve: Serve, steps: list[Event]
) -> None:
    fault = failure_of(serve, {"send": steps})
    assert isinstance(fault, TransientModelError)
    assert "broke the connection" in fault.message
