"""Means and intervals, against published values and against random samples."""

from __future__ import annotations

from random import Random

import pytest

from curriculum.experiments.summary import T, estimate, short, t_quantile


@pytest.mark.parametrize(
    ("hits", "runs", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (5, 10, 0.2366, 0.7634),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_a_share_has_wilsons_interval(hits: int, runs: int, low: float, high: float) -> None:
    found = estimate([1.0] * hits + [0.0] * (runs - hits), is_share=True)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)


def test_a_mean_has_students_interval() -> None:
    found = estimate([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (found.mean, found.low, found.high) == pytest.approx((3.0, 1.0368, 4.9632), abs=1e-3)


def test_values_that_agree_have_no_interval() -> None:
    found = estimate([0.1] * 10)
    assert found.low == found.high == found.mean


def test_the_quantile_goes_on_smoothly_beyond_the_table() -> None:
    assert T[-1] > t_quantile(31) > t_quantile(60) > t_quantile(10_000) > 1.9599
    assert t_quantile(60) == pytest.approx(2.0003, abs=1e-3)
    assert t_quantile(120) == pytest.approx(1.9799, abs=1e-3)


def test_about_95_of_100_intervals_hold_the_true_mean() -> None:
    random = Random(1)
    samples = [[random.gauss(7, 3) for _ in range(8)] for _ in range(2000)]
    held = sum(found.low <= 7 <= found.high for found in map(estimate, samples))
    assert 0.93 < held / 2000 < 0.97


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (7.0, "7"), (0.17654, "0.177"), (12345.6, "12,346")]
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert short(value) == text
