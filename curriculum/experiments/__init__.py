"""Experiments: the same task under another harness, many times, each run with a validated trace."""
