"""s08: who may end a run, how long anything may take, and what is worth a second attempt."""
