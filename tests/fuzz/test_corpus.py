"""The saved inputs of every target hold, and reach what they were saved for."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import MOST_BYTES, TARGETS, saved

WORDS = {
    "sse": {"bounded", "events", "nothing"},
    "session": {"refused", "loaded", "replayed"},
    "trace": {"invalid", "complete", "open", "torn"},
    "bash": {"taken", "refused"},
    "read_file": {"taken", "refused"},
    "edit_file": {"taken", "refused"},
}


@pytest.mark.parametrize("target", TARGETS)
def test_every_saved_input_holds_and_together_they_come_to_everything(target: str) -> None:
    counts = Counter(TARGETS[target](path.read_bytes()) for path in saved(target))
    assert set(counts) == WORDS[target]


def test_the_corpus_is_small() -> None:
    for target in TARGETS:
        assert all(path.stat().st_size <= MOST_BYTES for path in saved(target))
        assert sum(path.stat().st_size for path in saved(target)) < 100_000


@pytest.mark.parametrize("target", sorted(set(TARGETS) - {"session", "trace"}))
def test_inputs_of_today_hold_too(target: str) -> None:
    """Of `session` and `trace` the suites have properties of their own."""

    @given(st.binary(max_size=MOST_BYTES))
    @settings(max_examples=200)
    def hold(data: bytes) -> None:
        TARGETS[target](data)

    hold()
