"""s09: what the model is shown when not everything fits."""
