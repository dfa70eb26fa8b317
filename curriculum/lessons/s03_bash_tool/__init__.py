"""s03: a tool call, its one result, and the next request."""
