"""A long run in little time: `python -m tests.soak` says what is left over after many turns."""
