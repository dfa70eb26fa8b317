"""Checks that keep prose true: commands are run, code is quoted by reference, links resolve."""
