"""How httpx reaches a server for us: waits that can be cancelled, checked certificates, proxies."""

from __future__ import annotations

import ipaddress
import os
import ssl
import urllib.request
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

import httpcore
import httpx

from curriculum.core.errors import ModelError
from curriculum.core.seams import CancelToken
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.network import Backend
from curriculum.providers.opening import Opening


class Transport(httpx.BaseTransport):
    """What httpx sends requests through: its own connection pool, with our connections in it.

    httpx has no public way to hand a network backend to its transport; httpcore has one.
    """

    def __init__(self, endpoint: Endpoint, cancel: CancelToken) -> None:
        self._opening = Opening(endpoint.connect_seconds)
        backend = Backend(cancel, self._opening)
        context = _tls_context() if endpoint.base_url.startswith("https:") else None
        proxy = _proxy_for(endpoint)
        self._pool: httpcore.ConnectionPool
        if proxy:
            self._pool = httpcore.HTTPProxy(
                str(proxy.url),
                proxy.raw_auth,
                ssl_context=context,
                proxy_ssl_context=_tls_context() if proxy.url.scheme == "https" else None,
                network_backend=backend,
            )
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
                extensions={**request.extensions, "trace": self._opening.note},
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


def _proxy_for(endpoint: Endpoint) -> httpx.Proxy | None:
    """The proxy that the environment names for this address (HTTPS_PROXY, NO_PROXY, ...).

    What is on this computer is never asked for through one. Raises ModelError for a proxy that
    cannot be used; its address is not shown, since it may hold a password.
    """
    parts = urlsplit(endpoint.base_url)
    proxies = urllib.request.getproxies()
    named = proxies.get(parts.scheme) or proxies.get("all")
    if not named or _is_here(parts.hostname or "") or urllib.request.proxy_bypass(parts.netloc):
        return None
    try:
        proxy = httpx.Proxy(named if "://" in named else f"http://{named}")
    except (httpx.InvalidURL, ValueError):
        proxy = None
    if proxy is None or proxy.url.scheme not in ("http", "https"):
        raise ModelError(
            f"the proxy that the environment names for {parts.scheme} is no http:// or https:// "
            "address; correct it, or name the host in NO_PROXY"
        )
    return proxy


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
