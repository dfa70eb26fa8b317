"""Fuzzing: bytes in, an invariant held. `python -m tests.fuzz TARGET --inputs N`."""
