"""s02: text arrives in pieces and still becomes one assistant message."""
