"""s04: each call is decided on its own, by a rule or by a person, and the default is no."""
