"""s12: all of it. An agent is an assembly: every seam filled, and nothing new."""
