"""s06: a killed session is opened again; what was open is closed, and nothing runs twice."""
