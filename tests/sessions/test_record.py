"""Reading a damaged line costs what its size does, and no more."""

from __future__ import annotations

import pytest

from curriculum.sessions.record import _STEP, RecordError, decode


def test_a_text_that_never_ends_is_looked_at_once() -> None:
    """A damaged line once took the square of its size: every quote in it was tried as a start."""
    line = "{" * 65 + '"' + '\\"' * 100_000
    assert len(_STEP.findall(line)) == 66
    with pytest.raises(RecordError, match="nesting is deeper"):
        decode(line.encode())


def test_brackets_in_a_text_do_not_nest() -> None:
    with pytest.raises(RecordError, match="not JSON"):
        decode(b'{"a":"' + b"[{" * 100 + b'\\"[", ')
