"""What may come before an answer begins: so many bytes, and of a proxy's yes only for so long.

A server may send any number of answers before the answer (`100 Continue` and its like), and
httpcore passes over them for ever. A proxy that is asked for a tunnel belongs to connecting, where
httpcore would wait for it as for an answer. So the streams are told by httpcore where an exchange
is, and hold it to that.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Mapping
from typing import Any

import httpcore

MOST_HEAD_BYTES = 256 * 1024  # httpcore takes 100 KiB for a single head
NEVER = float("inf")


class TooLongOpeningError(Exception):
    """Whatever has come, it was no answer."""


class Opening:
    """How far an exchange is. `note` is the `trace` of its requests, see httpcore's extensions."""

    def __init__(self, connect_seconds: float) -> None:
        self._connect_seconds = connect_seconds
        self._left = NEVER  # bytes that the head of an answer may still have
        self._end = NEVER  # when the proxy must have answered

    def note(self, step: str, about: Mapping[str, Any]) -> None:
        """httpcore begins a step, or is done with it."""
        if step == "http11.receive_response_headers.started":
            self._left = MOST_HEAD_BYTES
            if about["request"].method == b"CONNECT":
                self._end = time.monotonic() + self._connect_seconds
        elif step == "http11.receive_response_headers.complete":
            self._left = self._end = NEVER

    def read(self, stream: httpcore.NetworkStream, size: int, timeout: float | None) -> bytes:
        """The next bytes. Raises TooLongOpeningError, or ConnectTimeout for a silent proxy."""
        if self._left <= 0:
            raise TooLongOpeningError(f"more than {MOST_HEAD_BYTES} bytes before its answer began")
        left = self._end - time.monotonic()
        if left == NEVER:
            data = stream.read(size, timeout)
        elif left <= 0:
            raise httpcore.ConnectTimeout("timed out")
        else:
            try:
                data = stream.read(size, left)
            except httpcore.ReadTimeout as fault:
                raise httpcore.ConnectTimeout(fault) from fault
        self._left -= len(data)
        return data


class OpeningStream(httpcore.NetworkStream):
    """Another stream, read within the bounds of the exchange."""

    def __init__(self, stream: httpcore.NetworkStream, opening: Opening) -> None:
        self._stream, self._opening = stream, opening

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._opening.read(self._stream, max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: Any = None
    ) -> httpcore.NetworkStream:
        safe = self._stream.start_tls(ssl_context, server_hostname, timeout)
        return OpeningStream(safe, self._opening)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
