"""Things a model can ask for. Each is a Tool of `curriculum.core.tools`."""
