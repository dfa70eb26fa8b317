"""Servers that stop answering at one point, or never do: real sockets on loopback, closed when a
test ends.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

PATIENCE_SECONDS = 60.0  # of whoever waits for a thread
SMALL = 4096  # bytes that a server takes before somebody reads them
SMALL_SEGMENT = 536  # bytes: loopback's own of 64 KiB let the sender keep megabytes in the kernel


@contextmanager
def full_server() -> Iterator[int]:
    """A port whose queue of connections is full: the next one is not answered."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        stack.enter_context(socket.create_connection(listener.getsockname(), PATIENCE_SECONDS))
        yield listener.getsockname()[1]


@contextmanager
def stalled_server(
    greeting: bytes = b"", reads: bool = False, then: Callable[[], object] = lambda: None
) -> Iterator[int]:
    """Accepts connections, says `greeting` (once something has come, if it `reads`), and stalls."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SMALL_SEGMENT)
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)

        def stall() -> None:
            while True:
                try:
                    client = stack.enter_context(listener.accept()[0])
                except OSError:  # the test is over
                    return
                if reads:
                    client.recv(65536)
                client.sendall(greeting)
                then()

        thread = threading.Thread(target=stall, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE_SECONDS)


@contextmanager
def endless_server(piece: bytes, pause: float = 0.0) -> Iterator[int]:
    """A port where a request is answered with `piece`, again and again."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        is_over = threading.Event()

        def answer() -> None:
            client, _ = listener.accept()
            with client:
                client.recv(65536)
                while not is_over.wait(pause):
                    try:
                        client.sendall(piece)
                    except OSError:
                        return

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        is_over.set()
        thread.join(PATIENCE_SECONDS)
