"""s01: the minimal agent loop."""
