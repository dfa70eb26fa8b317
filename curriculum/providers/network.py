"""Connections for httpcore on which every wait can be cancelled: name, connect, TLS, read, write.

Waiting is cut into short steps that look at the cancel token, so that a silent server holds nobody
up, whatever thread or signal handler asks for the end. TLS waits for nothing itself: it is worked
out in memory, and its bytes go through the reads and writes of the stream below it.
"""

from __future__ import annotations

import errno
import os
import selectors
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from threading import Thread
from typing import Any, TypeVar

import httpcore

from curriculum.core.seams import CancelToken
from curriculum.providers.opening import Opening, OpeningStream

T = TypeVar("T")
Address = tuple[Any, ...]  # as getaddrinfo gives it

STEP_SECONDS = 0.1  # how long a cancelled wait may still take
UNDER_WAY = (0, errno.EINPROGRESS, errno.EWOULDBLOCK)
RECORD_BYTES = 16 * 1024  # the largest record of TLS


# region: step
def in_steps(wait: Callable[[float], T], cancel: CancelToken, timeout: float | None) -> T:
    """What `wait(seconds)` returns, which raises TimeoutError when those seconds are over.

    Raises CancelledError soon after the token was raised, TimeoutError after `timeout` seconds.
    """
    end = time.monotonic() + (timeout if timeout is not None else float("inf"))
    while True:
        cancel.check()
        left = end - time.monotonic()
        try:
            return wait(max(0.001, min(STEP_SECONDS, left)))
        except TimeoutError:
            if left <= STEP_SECONDS:
                raise


class Connection(httpcore.NetworkStream):
    """A connection over TCP."""

    def __init__(self, connected: socket.socket, cancel: CancelToken) -> None:
        self._socket, self._cancel = connected, cancel

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        def receive(seconds: float) -> bytes:
            self._socket.settimeout(seconds)
            return self._socket.recv(max_bytes)

        with _told_as(httpcore.ReadTimeout, httpcore.ReadError):
            return in_steps(receive, self._cancel, timeout)

    # endregion

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        rest = memoryview(buffer)

        def send(seconds: float) -> int:
            self._socket.settimeout(seconds)
            return self._socket.send(rest)

        with _told_as(httpcore.WriteTimeout, httpcore.WriteError):
            while rest:
                rest = rest[in_steps(send, self._cancel, timeout) :]

    def close(self) -> None:
        self._socket.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: Any = None
    ) -> httpcore.NetworkStream:
        return Tls.over(self, ssl_context, server_hostname, timeout)


class Tls(httpcore.NetworkStream):
    """TLS over another stream, which may itself be TLS (to a proxy)."""

    def __init__(
        self, stream: httpcore.NetworkStream, context: ssl.SSLContext, name: str | None
    ) -> None:
        self._stream = stream
        self._received, self._to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._received, self._to_send, server_hostname=name)

    @classmethod
    def over(
        cls,
        stream: httpcore.NetworkStream,
        context: ssl.SSLContext,
        name: str | None,
        timeout: float | None,
    ) -> Tls:
        """Shake hands. `timeout` is for all of it. Raises ConnectTimeout or ConnectError."""
        try:
            safe = cls(stream, context, name)
            with _told_as(httpcore.ConnectTimeout, httpcore.ConnectError):
                safe._run(safe._tls.do_handshake, timeout)
        except BaseException:
            stream.close()
            raise
        return safe

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _told_as(httpcore.ReadTimeout, httpcore.ReadError):
            try:
                return self._run(partial(self._tls.read, max_bytes), timeout)
            except ssl.SSLEOFError:  # hung up without a goodbye, as many servers do
                return b""

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        rest = memoryview(buffer)
        with _told_as(httpcore.WriteTimeout, httpcore.WriteError):
            while record := rest[:RECORD_BYTES]:
                rest = rest[self._run(partial(self._tls.write, record), timeout) :]

    # region: tls
    def _run(self, step: Callable[[], T], timeout: float | None) -> T:
        """What a step of the protocol returns, once the bytes that it needs have been exchanged."""
        end = time.monotonic() + (timeout if timeout is not None else float("inf"))
        while True:
            left = max(0.0, end - time.monotonic())
            try:
                return step()
            except ssl.SSLWantReadError:
                pass
            finally:
                self._stream.write(self._to_send.read(), left)
            if data := self._stream.read(RECORD_BYTES, left):
                self._received.write(data)
            else:
                self._received.write_eof()

    # endregion

    def close(self) -> None:
        self._stream.close()  # no goodbye: whoever hangs up does not wait for an answer to it

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: Any = None
    ) -> httpcore.NetworkStream:
        return Tls.over(self, ssl_context, server_hostname, timeout)

    def get_extra_info(self, info: str) -> Any:
        return self._tls if info == "ssl_object" else None


class Backend(httpcore.NetworkBackend):
    """Opens such connections, each within the bounds of `opening`."""

    def __init__(self, cancel: CancelToken, opening: Opening) -> None:
        self._cancel, self._opening = cancel, opening

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *_: Any, **given: Any
    ) -> httpcore.NetworkStream:
        """To the first address of the host that answers; `timeout` is for each."""
        with _told_as(httpcore.ConnectTimeout, httpcore.ConnectError):
            last: OSError | None = None
            for address in self._addresses(host, port, timeout):
                try:
                    connection = Connection(self._connect(address, timeout), self._cancel)
                    return OpeningStream(connection, self._opening)
                except OSError as fault:
                    last = fault
            raise last or OSError(f"{host} has no address")

    def _addresses(self, host: str, port: int, timeout: float | None) -> list[Address]:
        """Asked for in a thread that is left behind if need be: getaddrinfo(3) has no time limit
        and cannot be called off.
        """
        found: Future[list[Address]] = Future()

        def ask() -> None:
            try:
                found.set_result([*socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)])
            except BaseException as fault:
                found.set_exception(fault)

        Thread(target=ask, daemon=True).start()
        return in_steps(found.result, self._cancel, timeout)

    def _connect(self, address: Address, timeout: float | None) -> socket.socket:
        family, kind, protocol, _, where = address
        opened = socket.socket(family, kind, protocol)
        try:
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            opened.setblocking(False)
            number = opened.connect_ex(where)
            if number not in UNDER_WAY:
                raise OSError(number, os.strerror(number))
            with selectors.DefaultSelector() as selector:
                selector.register(opened, selectors.EVENT_WRITE)

                def wait(seconds: float) -> None:
                    if not selector.select(seconds):
                        raise TimeoutError("timed out")

                in_steps(wait, self._cancel, timeout)
            if number := opened.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(number, os.strerror(number))
        except BaseException:
            opened.close()
            raise
        return opened


@contextmanager
def _told_as(timeout: type[Exception], error: type[Exception]) -> Iterator[None]:
    """What the system or a stream below says, in the exceptions that httpcore expects here."""
    try:
        yield
    except (TimeoutError, httpcore.TimeoutException) as fault:
        raise timeout(fault) from fault
    except (OSError, httpcore.NetworkError) as fault:
        raise error(fault) from fault
