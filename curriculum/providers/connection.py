"""One request to a provider, and the events of its answer as they arrive, over httpx.

Waiting for a byte is cut into short steps that look at the cancel token, so a silent server holds
nobody up; whoever stops reading closes the connection. Redirects are not followed. Whatever goes
wrong on the way comes out as a typed error. This module is imported at the first request.
"""

from __future__ import annotations

import json
import os
import ssl
import time
import urllib.request
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpcore
import httpx

from curriculum.core.errors import ModelError, ProtocolError, TransientModelError
from curriculum.core.seams import CancelToken
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.faults import Faults
from curriculum.providers.sse import ServerSentEvent, read_events

STEP_SECONDS = 0.1  # how long a cancelled read may still take
MOST_ERROR_BYTES = 64 * 1024


def post(
    endpoint: Endpoint,
    path: str,
    headers: Mapping[str, str],
    body: Mapping[str, object],
    cancel: CancelToken,
    faults: Faults,
) -> Generator[ServerSentEvent, None, None]:
    """Send `body` as JSON and yield the events of the answer. Closing the iterator hangs up.

    Raises CancelledError, a ModelError, or ProtocolError if the answer is no event stream.
    """
    cancel.check()
    timeout = httpx.Timeout(endpoint.silence_seconds, connect=endpoint.connect_seconds)
    sent = {"accept": "text/event-stream", "accept-encoding": "identity", **headers}
    with _explained(endpoint), closing(_Transport(endpoint, cancel)) as transport:
        client = httpx.Client(transport=transport, timeout=timeout, trust_env=False)
        sent["user-agent"] = "curriculum"
        request = client.build_request(
            "POST",
            endpoint.url(path),
            headers={**sent, "content-type": "application/json"},
            content=json.dumps(body, separators=(",", ":")).encode(),
        )
        with closing(client.send(request, stream=True, follow_redirects=False)) as response:
            if response.status_code != 200:
                error_body = _beginning(response)
                raise faults.of_status(response.status_code, response.headers, error_body)
            kind = response.headers.get("content-type", "text/event-stream")
            if kind.partition(";")[0].strip().lower() != "text/event-stream":
                raise _not_a_stream(kind, _beginning(response), faults)
            yield from read_events(response.iter_bytes())


def _beginning(response: httpx.Response) -> bytes:
    """What there is of an answer that is not a stream, up to MOST_ERROR_BYTES."""
    body = b""
    try:
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > MOST_ERROR_BYTES:
                break
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError):
        pass  # the status already says what happened
    except httpx.DecodingError:
        pass
    return body[:MOST_ERROR_BYTES]


def _not_a_stream(kind: str, body: bytes, faults: Faults) -> ModelError | ProtocolError:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if isinstance(answer, dict) and answer.get("error"):
        return faults.of_error(answer)
    text = faults.quote(body.decode("utf-8", "replace"))
    return ProtocolError(
        f"the endpoint answered with {faults.quote(kind)}, not with an event stream: {text}; "
        "check the base URL"
    )


@contextmanager
def _explained(endpoint: Endpoint) -> Iterator[None]:
    """Errors of the connection as ours, each saying what to do."""
    host = urlsplit(endpoint.base_url).netloc
    try:
        yield
    except httpcore.ConnectTimeout as fault:
        seconds = f"{endpoint.connect_seconds:g} s"
        raise TransientModelError(f"no connection to {host} within {seconds}; try again") from fault
    except httpcore.TimeoutException as fault:
        seconds = f"{endpoint.silence_seconds:g} s"
        raise TransientModelError(f"{host} was silent for {seconds}; try again") from fault
    except httpcore.ConnectError as fault:
        if _is_tls(fault):
            raise ModelError(
                f"no safe connection to {host}: {fault}; the key was not sent. If the server has "
                "its own certificate authority, name its file in SSL_CERT_FILE"
            ) from fault
        raise TransientModelError(
            f"no connection to {host}: {fault}; check the base URL and the network"
        ) from fault
    except httpcore.ProxyError as fault:
        raise ModelError(
            f"the proxy refused the connection to {host}: {fault}; check HTTPS_PROXY and NO_PROXY"
        ) from fault
    except (httpcore.NetworkError, httpcore.RemoteProtocolError) as fault:
        raise TransientModelError(
            f"{host} broke the connection before the answer was complete: {fault}; try again"
        ) from fault
    except (httpx.DecodingError, httpcore.LocalProtocolError, httpx.InvalidURL) as fault:
        raise ModelError(f"the exchange with {host} failed: {fault}; check the base URL") from fault


def _is_tls(fault: BaseException | None) -> bool:
    while fault is not None:
        if isinstance(fault, ssl.SSLError):
            return True
        fault = fault.__cause__ or fault.__context__
    return False


# region: step
class _Stream(httpcore.NetworkStream):
    """A connection whose reads look at the cancel token while they wait."""

    def __init__(self, stream: httpcore.NetworkStream, cancel: CancelToken) -> None:
        self._stream = stream
        self._cancel = cancel

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        end = time.monotonic() + (timeout if timeout is not None else float("inf"))
        while True:
            self._cancel.check()
            left = end - time.monotonic()
            try:
                return self._stream.read(max_bytes, max(0.001, min(STEP_SECONDS, left)))
            except httpcore.ReadTimeout:
                if left <= STEP_SECONDS:
                    raise

    # endregion

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(self, *args: Any, **given: Any) -> httpcore.NetworkStream:
        return _Stream(self._stream.start_tls(*args, **given), self._cancel)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    """Opens connections whose reads can be cancelled."""

    def __init__(self, cancel: CancelToken) -> None:
        self._backend = httpcore.SyncBackend()
        self._cancel = cancel

    def connect_tcp(self, *args: Any, **given: Any) -> httpcore.NetworkStream:
        return _Stream(self._backend.connect_tcp(*args, **given), self._cancel)


class _Transport(httpx.BaseTransport):
    """What httpx sends requests through: its own connection pool, with our reads in it.

    httpx has no public way to hand a network backend to its transport; httpcore has one.
    """

    def __init__(self, endpoint: Endpoint, cancel: CancelToken) -> None:
        backend = _Backend(cancel)
        context = _tls_context() if endpoint.base_url.startswith("https:") else None
        proxy = _proxy_for(endpoint)
        self._pool: httpcore.ConnectionPool
        if proxy:
            self._pool = httpcore.HTTPProxy(proxy, ssl_context=context, network_backend=backend)
        else:
            self._pool = httpcore.ConnectionPool(ssl_context=context, network_backend=backend)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        answer = self._pool.handle_request(
            httpcore.Request(
                method=request.method,
                url=httpcore.URL(
                    scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                ),
                headers=request.headers.raw,
                content=request.read(),
                extensions=request.extensions,
            )
        )
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer))

    def close(self) -> None:
        self._pool.close()


class _Body(httpx.SyncByteStream):
    """The bytes of an answer as they arrive."""

    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        stream = self._answer.stream
        assert isinstance(stream, Iterable)
        yield from stream

    def close(self) -> None:
        self._answer.close()


def _tls_context() -> ssl.SSLContext:
    """Certificates are checked against SSL_CERT_FILE or SSL_CERT_DIR, else against certifi's."""
    try:
        return httpx.create_ssl_context()
    except (OSError, ssl.SSLError) as fault:
        named = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR") or "the bundle"
        raise ModelError(
            f"the certificates in {named!r} cannot be read ({fault}); correct or unset "
            "SSL_CERT_FILE and SSL_CERT_DIR"
        ) from fault


def _proxy_for(endpoint: Endpoint) -> str | None:
    """The proxy that the environment names for this address (HTTPS_PROXY, NO_PROXY, ...)."""
    parts = urlsplit(endpoint.base_url)
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or urllib.request.proxy_bypass(parts.netloc):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
