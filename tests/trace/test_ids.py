"""Ids seen: the same answers as a set would give, in memory that is bounded."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.trace import ids as module
from curriculum.trace.ids import IdSet

IDS = st.one_of(
    st.integers(0, 30).map(lambda number: f"event-{number}"),
    st.integers(0, 12).map(lambda number: f"b{number:02}"),
    st.sampled_from(["", "0", "00", "7", "event-", "event-007", "x" * 60, "9" * 40, "é5", "5\n"]),
)


@pytest.mark.parametrize(("ranges", "memory"), [(4096, 50_000), (3, 2), (0, 1)])
@given(st.lists(IDS, max_size=60))
def test_it_answers_as_a_set_does(ranges: int, memory: int, added: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_RANGES", ranges)
        patch.setattr(module, "MOST_IN_MEMORY", memory)
        ids, model = IdSet(), set[str]()
        for text in added:
            assert (text in ids) == (text in model)
            assert ids.add(text) == (text not in model), text
            model.add(text)
            assert text in ids
            assert ids.expected not in model
        assert all(text in ids for text in model)
        ids.close()


RUNS = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.integers(0, 12), st.integers(1, 8), st.sampled_from([1, 2])
    ),
    max_size=12,
)


@pytest.mark.parametrize("ranges", [1, 2, 3, 4096])
@given(RUNS)
def test_counted_runs_are_told_apart_as_a_set_does(
    ranges: int, runs: list[tuple[str, int, int, int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_RANGES", ranges)
        ids, model = IdSet(), set[str]()
        for prefix, first, length, step in runs:
            for number in range(first, first + length * step, step):
                text = f"{prefix}-{number}"
                if text == ids.expected:  # as a caller in a hurry does
                    ids.extend()
                    assert text not in model
                else:
                    assert ids.add(text) == (text not in model), text
                model.add(text)
                assert ids.expected not in model
        ids.close()


def test_a_run_does_not_pass_over_an_id_that_was_put_aside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_RANGES", 1)
    ids = IdSet()
    added = [ids.add(f"e-{number}") for number in (1, 5, 2, 3, 4, 5)]
    assert added == [True, True, True, True, True, False]


def test_counted_ids_take_no_memory() -> None:
    ids = IdSet()
    ids.add("event-1")
    tracemalloc.start()
    try:
        for number in range(2, 100_000):
            assert ids.add(f"event-{number}")
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size < 10_000
    assert not ids.add("event-50000")


def test_other_ids_go_to_disk() -> None:
    ids = IdSet()
    made = [f"{number * 0x9E3779B97F4A7C15 % 2**64:016x}x" for number in range(120_000)]
    tracemalloc.start()
    try:
        for text in made:
            ids.add(text)
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size < 12_000_000
    assert not any(ids.add(text) for text in made[::1000])
    assert "never" not in ids
    ids.close()
