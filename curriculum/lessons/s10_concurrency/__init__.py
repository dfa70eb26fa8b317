"""s10: reads of one answer overlap, writes run alone and in order."""
