"""Masks in texts that are compared: each stands for any text, and for nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.trace.now import may_be_same

MASK = "[REDACTED:key:1]"
PLAIN = st.text("ab", max_size=4)


@given(st.lists(PLAIN, min_size=2, max_size=5), st.lists(PLAIN, min_size=5, max_size=5))
def test_a_text_may_be_what_its_masks_were(parts: list[str], secrets: list[str]) -> None:
    plain = parts[0] + "".join(
        secret + part for secret, part in zip(secrets, parts[1:], strict=False)
    )
    masked = MASK.join(parts)
    assert may_be_same(masked, plain)
    assert may_be_same(plain, masked)
    assert may_be_same(masked, masked.replace(MASK, "[REDACTED:other:2]"))
    assert not may_be_same(masked, "c" + plain) or not parts[0]
    assert not may_be_same(masked, plain + "c") or not parts[-1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a", "b"),
        (f"rm {MASK}", "ls"),
        (f"a{MASK}a", "a"),
        (f"a{MASK}b{MASK}c", "axxc"),
        (f"a{MASK}", f"b{MASK}"),
        (f"{MASK}a", f"{MASK}b"),
        ("rm -rf / [REDACTED:", "ls"),
        ("[REDACTED: no mask] x", "anything"),
    ],
)
def test_what_stands_around_a_mask_has_to_agree(one: str, other: str) -> None:
    assert not may_be_same(one, other)
    assert not may_be_same(other, one)


def test_a_mask_that_is_cut_at_the_end_is_one() -> None:
    assert may_be_same("key [REDACTED:ke", "key 4711")
