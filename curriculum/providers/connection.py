"""One request to a provider, and the events of its answer as they arrive, over httpx.

Whoever stops reading closes the connection. Redirects are not followed. Whatever goes wrong on the
way comes out as a typed error that says what to do. This module is imported at the first request.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

import httpcore
import httpx

from curriculum.core.errors import ModelError, ProtocolError, TransientModelError
from curriculum.core.seams import CancelToken
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.faults import Faults
from curriculum.providers.opening import TooLongOpeningError
from curriculum.providers.sse import ServerSentEvent, read_events
from curriculum.providers.transport import Transport
from curriculum.providers.wire import parse

MOST_ERROR_BYTES = 64 * 1024
MALFORMED = (httpcore.LocalProtocolError, httpx.RemoteProtocolError, httpx.InvalidURL)


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
    with _explained(endpoint, faults), closing(Transport(endpoint, cancel)) as transport:
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
            if encoding := _encoding(response):
                raise ProtocolError(
                    f"the endpoint answered in the encoding '{faults.quote(encoding)}', though "
                    "only identity was asked for; check the base URL and what lies between"
                )
            kind = response.headers.get("content-type", "text/event-stream")
            if kind.partition(";")[0].strip().lower() != "text/event-stream":
                raise _not_a_stream(kind, _beginning(response), faults)
            yield from read_events(response.iter_raw())


def _beginning(response: httpx.Response) -> bytes:
    """What there is of an answer that is not a stream, up to MOST_ERROR_BYTES; b"" if packed."""
    if _encoding(response):
        return b""
    body = b""
    try:
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > MOST_ERROR_BYTES:
                break
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError):
        pass  # the status already says what happened
    return body[:MOST_ERROR_BYTES]


def _encoding(response: httpx.Response) -> str:
    """How the answer is packed, if it is: nothing is unpacked, for a little may become a lot."""
    given = response.headers.get("content-encoding", "")
    names = {name.strip().lower() for name in given.split(",")}
    return given if names - {"", "identity"} else ""


def _not_a_stream(kind: str, body: bytes, faults: Faults) -> ModelError | ProtocolError:
    try:
        answer = parse(body.decode())
    except ValueError:
        answer = None
    if isinstance(answer, dict) and answer.get("error"):
        return faults.of_error(answer)
    text = faults.quote(body.decode("utf-8", "replace"))
    return ProtocolError(
        f"the endpoint answered with {faults.quote(kind)}, not with an event stream: {text}; "
        "check the base URL"
    )


@contextmanager
def _explained(endpoint: Endpoint, faults: Faults) -> Iterator[None]:
    """Errors of the connection as ours, each saying what to do."""
    host = urlsplit(endpoint.base_url).netloc

    def said(fault: Exception) -> str:
        return faults.quote(str(fault)) or type(fault).__name__

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
                f"no safe connection to {host}: {said(fault)}; the key was not sent. If the server "
                "has its own certificate authority, name its file in SSL_CERT_FILE"
            ) from fault
        raise TransientModelError(
            f"no connection to {host}: {said(fault)}; check the base URL and the network"
        ) from fault
    except httpcore.ProxyError as fault:
        raise ModelError(
            f"the proxy refused the connection to {host}: {said(fault)}; check HTTPS_PROXY and "
            "NO_PROXY"
        ) from fault
    except (httpcore.NetworkError, httpcore.RemoteProtocolError) as fault:
        raise TransientModelError(
            f"{host} broke the connection before the answer was complete: {said(fault)}; try again"
        ) from fault
    except TooLongOpeningError as fault:
        raise ModelError(f"{host} sent {fault}; check the base URL") from fault
    except UnicodeError as fault:
        raise ModelError(
            f"{host} is no name of a host: {said(fault)}; check the base URL"
        ) from fault
    except MALFORMED as fault:
        raise ModelError(
            f"the exchange with {host} failed: {said(fault)}; check the base URL"
        ) from fault


def _is_tls(fault: BaseException | None) -> bool:
    while fault is not None:
        if isinstance(fault, ssl.SSLError):
            return True
        fault = fault.__cause__ or fault.__context__
    return False
