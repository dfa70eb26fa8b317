"""What can be done with a Trace 0.1 file: see `python -m curriculum.trace --help`."""
