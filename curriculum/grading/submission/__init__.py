"""The instructor's desk: grades work of others, whose code is not to be trusted."""
