"""Settings of the suite: random inputs are the same in every run, and few enough to be quick."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile(
    "ci", derandomize=True, max_examples=100, deadline=None, database=None, print_blob=True
)
# For a longer hunt by hand: python -m pytest --hypothesis-profile=long
settings.register_profile("long", max_examples=10_000, deadline=None)
settings.load_profile("ci")
