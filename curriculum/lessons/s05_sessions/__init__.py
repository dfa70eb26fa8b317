"""s05: every step is on disk before the next one is taken."""
