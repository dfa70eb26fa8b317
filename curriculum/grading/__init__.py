"""How solutions are judged: by what they do and what the trace shows, never by how they look."""
