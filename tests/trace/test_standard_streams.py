"""Standard streams that the caller has closed or filled: each fails as it should, or is quiet."""

from __future__ import annotations

import errno
import os
import sys
from typing import TextIO

import pytest

from curriculum.trace.standard_streams import standard_streams


@pytest.mark.parametrize("name", ["stdin", "stdout", "stderr"])
def test_a_closed_stream_is_one_that_only_fails(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, name, None)
    with standard_streams():
        stream = getattr(sys, name)
        os.fstat(stream.fileno())  # its number is taken: no file that is opened gets it
        if name == "stdin":
            with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
                os.read(stream.fileno(), 1)
        if name == "stdout":
            print("é →")
            with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
                stream.flush()
        if name == "stderr":
            print("é →", file=stream, flush=True)
    assert getattr(sys, name) is None
    stream.close()


def full() -> TextIO:
    return open("/dev/full", "w", encoding="ascii")


def test_what_cannot_be_said_on_standard_error_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with full() as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        with standard_streams():
            assert sys.stderr.write("a" * 100_000) == 100_000
            print("é", file=sys.stderr, flush=True)
            assert sys.stderr.fileno() == stream.fileno()


def test_a_full_standard_output_is_told_once_and_then_takes_what_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with full() as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        before = len(os.listdir("/proc/self/fd"))
        with standard_streams():
            print("→")
            with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
                sys.stdout.flush()
        assert sys.stdout is stream
        assert len(os.listdir("/proc/self/fd")) == before
