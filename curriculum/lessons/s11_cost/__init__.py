"""s11: what a run may cost is set aside before a step, and settled after it."""
