"""A connection to a cluster: Ctrl+C is never lost in it, and is Python's own again after it.

One of our own says nothing where Dask's usual port is taken.
"""

from __future__ import annotations

import contextlib
import socket

from tests.experiments.parts import python

DROPPED = """
import signal, time
from curriculum.experiments.cluster import Connection

class Finalized:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)  # what a finalizer raises, Python drops

if __name__ == "__main__":
    cluster = Connection("local")
    Finalized()
    cluster.submit(time.sleep, 60)
    try:
        cluster.next_ended()
    except KeyboardInterrupt:
        print("interrupted")
    finally:
        cluster.close()
    print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


def test_ctrl_c_in_a_finalizer_still_interrupts_what_waits() -> None:
    with socket.socket() as another:
        with contextlib.suppress(OSError):  # taken by another cluster, which will do
            another.bind(("127.0.0.1", 8787))
            another.listen()
        done = python(DROPPED)
    assert (done.stdout, done.stderr) == ("interrupted\nTrue\n", "")


BORN = """
import subprocess, sys
from curriculum.experiments.cluster import Connection

CHILD = "import signal; print(signal.pthread_sigmask(0, []), signal.getsignal(2).__name__)"

if __name__ == "__main__":
    cluster = Connection("local")
    cluster.submit(subprocess.check_output, [sys.executable, "-c", CHILD])
    print(cluster.next_ended().result().decode(), end="")
    cluster.close()
"""


def test_what_a_worker_starts_hears_ctrl_c_as_ever() -> None:
    done = python(BORN)
    assert (done.stdout, done.stderr) == ("set() default_int_handler\n", "")
