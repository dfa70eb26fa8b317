"""s03: the model asks for a Bash command, and its result comes back."""
