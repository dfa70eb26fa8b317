"""How an AI agent works inside: a harness, built one seam at a time."""

__version__ = "0.1.0"
