"""The one fault of everything that a person has set: flags, variables, files. One line, no key."""

from __future__ import annotations


class ConfigError(Exception):
    """A setting cannot be used; one line that says which, and what to do."""
